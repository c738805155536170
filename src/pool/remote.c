/* Find and load the module for pools on servers (remote.h). */
#include "pool/pool.h"

#include "os/compat.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char module_name[] = "usher-zk.so";

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static const struct remote_module *loaded;

bool usher__remote_is(const char *name)
{
    return strncmp(name, "zk://", 5) == 0;
}

/* The directory of the library or program that contains this code, without a slash at its end. */
static bool own_directory(char *path, size_t room)
{
    ssize_t length = -1;
    const char *library = compat_library_path((void *)(uintptr_t)usher__remote_is);
    if (library != NULL) {
        length = snprintf(path, room, "%s", library);
    } else {
        length = readlink("/proc/self/exe", path, room - 1);
    }
    if (length <= 0 || (size_t)length >= room) {
        return false;
    }
    path[length] = '\0';
    *strrchr(path, '/') = '\0';
    return true;
}

/* Load the module from $USHER_MODULES; otherwise from beside this code: where the build puts it, or
   where it is installed relative to the library or to a program. */
static void *load_module(void)
{
    static const char *const places[] = {"", "/usher", "/../" USHER_LIBDIR "/usher"};
    char directory[PATH_MAX];
    char path[PATH_MAX + 128];
    void *module = NULL;
    const char *chosen = secure_getenv("USHER_MODULES");
    if (chosen != NULL && chosen[0] == '/') {
        (void)snprintf(path, sizeof path, "%.*s/%s", PATH_MAX, chosen, module_name);
        return dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (!own_directory(directory, sizeof directory)) {
        return NULL;
    }
    for (size_t p = 0; p < sizeof places / sizeof places[0] && module == NULL; p++) {
        (void)snprintf(path, sizeof path, "%s%s/%s", directory, places[p], module_name);
        module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return module;
}

static int find_module(const struct remote_module **found)
{
    int error = 0;
    (void)pthread_mutex_lock(&loading);
    if (loaded == NULL) {
        void *object = load_module(); /* never unloaded: it has threads */
        const struct remote_module *module = object == NULL ? NULL : dlsym(object, REMOTE_SYMBOL);
        error = object == NULL                                        ? -USHER_ENOMODULE
                : module == NULL || module->version != REMOTE_VERSION ? -USHER_EMISMATCH
                                                                      : 0;
        loaded = error == 0 ? module : NULL;
    }
    *found = loaded;
    (void)pthread_mutex_unlock(&loading);
    return error;
}

int usher__remote_open(struct usher_pool *pool, const char *name,
                       const struct usher_options *options)
{
    pool->path = strdup(name);
    int error = pool->path == NULL ? -ENOMEM : find_module(&pool->module);
    struct usher_options there = *options;
    if (error == 0 && options->group != 0) {
        return -EOPNOTSUPP;
    }
    if ((options->flags & USHER_DEFINED) && options->seats == 0) { /* definitions are of names */
        there.flags |= USHER_EXISTING;
    }
    there.flags &= ~(USHER_DEFINED | USHER_INSPECT);
    return error != 0 ? error : pool->module->open(&pool->remote, name, &there, pool);
}

int usher__remote_remove(const char *name, bool force)
{
    const struct remote_module *module;
    int error = find_module(&module);
    return error != 0 ? error : module->remove(name, force);
}

int usher__remote_usable(const struct usher_pool *pool)
{
    return pool->generation != *usher__generation ? -USHER_EFORKED : 0;
}
