/*
 * Watch a remote pool for usher top. Inspecting it asks its servers, one or two requests for each
 * guest, and can take the whole session time if they are silent. So a thread asks, once a second or
 * less often if the answers take long. The screen shows the last answer, and says if the next one
 * is overdue.
 */
#include "cli/top.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { EVERY_MS = 1000, FIRST_ANSWER_MS = 1000, STOP_MS = 300 };
enum { REST = 10 }; /* the pause after an answer, in multiples of the time that it took */

struct top_watch {
    char *name;
    pthread_t thread;
    struct usher_pool *pool;    /* used by the thread alone, like the next two */
    struct usher_guest *guests; /* the answer in progress */
    size_t room;
    pthread_mutex_t mutex; /* protects the fields below */
    pthread_cond_t changed;
    bool stop;
    int found; /* the last answer: the number of guests, or -errno */
    struct usher_info info;
    struct usher_guest *seen;
    size_t seen_room;
    int64_t seen_ns; /* when it came; 0: no answer yet */
    int64_t due_ns;  /* when the next one is due */
};

static struct timespec in_ms(int ms)
{
    struct timespec at;
    (void)clock_gettime(CLOCK_REALTIME, &at);
    at.tv_nsec += (long)(ms % 1000) * 1000000;
    at.tv_sec += ms / 1000 + at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return at;
}

/* Ask the servers. Returns the number of guests, all in watch->guests; or -errno. */
static int ask_servers(struct top_watch *watch, struct usher_info *info)
{
    struct usher_options existing = {.flags = USHER_EXISTING};
    int found = watch->pool == NULL ? usher_open(&watch->pool, watch->name, &existing) : 0;
    if (found == 0) {
        found = usher_inspect(watch->pool, info, watch->guests, watch->room);
    }
    while (found > 0 && (size_t)found > watch->room) {
        size_t room = (size_t)found + 64; /* guests may arrive before the next call */
        struct usher_guest *guests = realloc(watch->guests, room * sizeof *guests);
        if (guests == NULL) {
            return -ENOMEM;
        }
        watch->guests = guests;
        watch->room = room;
        found = usher_inspect(watch->pool, info, watch->guests, watch->room);
    }
    if (found < 0 && watch->pool != NULL) { /* the session is over: open a new one next time */
        usher_close(watch->pool);
        watch->pool = NULL;
    }
    return found;
}

static void publish(struct top_watch *watch, int found, const struct usher_info *info, int rest_ms)
{
    struct usher_guest *guests = watch->seen;
    size_t room = watch->seen_room;
    watch->found = found;
    watch->info = *info;
    watch->seen = watch->guests;
    watch->seen_room = watch->room;
    watch->seen_ns = cli_now_ns();
    watch->due_ns = watch->seen_ns + rest_ms * INT64_C(1000000);
    watch->guests = guests;
    watch->room = room;
    (void)pthread_cond_broadcast(&watch->changed);
}

static void *run_thread(void *context)
{
    struct top_watch *watch = context;
    (void)pthread_mutex_lock(&watch->mutex);
    while (!watch->stop) {
        struct usher_info info = {0};
        (void)pthread_mutex_unlock(&watch->mutex);
        int64_t began = cli_now_ns();
        int found = ask_servers(watch, &info);
        int64_t rest = REST * (cli_now_ns() - began) / 1000000;
        int rest_ms = found < 0 || rest < EVERY_MS ? EVERY_MS : (int)rest;
        (void)pthread_mutex_lock(&watch->mutex);
        publish(watch, found, &info, rest_ms);
        struct timespec next = in_ms(rest_ms);
        while (!watch->stop &&
               pthread_cond_timedwait(&watch->changed, &watch->mutex, &next) != ETIMEDOUT) {
        }
    }
    (void)pthread_mutex_unlock(&watch->mutex);
    if (watch->pool != NULL) {
        usher_close(watch->pool);
    }
    return NULL;
}

struct top_watch *top_watch_start(const char *name)
{
    struct top_watch *watch = calloc(1, sizeof *watch);
    sigset_t all;
    sigset_t before;
    if (watch == NULL) {
        return NULL;
    }
    watch->name = strdup(name);
    watch->found = -ENOTCONN;
    (void)pthread_mutex_init(&watch->mutex, NULL);
    (void)pthread_cond_init(&watch->changed, NULL);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before); /* signals are for the main thread */
    int error =
        watch->name == NULL ? ENOMEM : pthread_create(&watch->thread, NULL, run_thread, watch);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        free(watch->name);
        free(watch);
        return NULL;
    }
    struct timespec until = in_ms(FIRST_ANSWER_MS);
    (void)pthread_mutex_lock(&watch->mutex);
    while (watch->seen_ns == 0 &&
           pthread_cond_timedwait(&watch->changed, &watch->mutex, &until) != ETIMEDOUT) {
    }
    (void)pthread_mutex_unlock(&watch->mutex);
    return watch;
}

int top_watch_read(struct top_watch *watch, struct usher_info *info, struct usher_guest *guests,
                   size_t room, int64_t *seen_ns, int64_t *due_ns)
{
    (void)pthread_mutex_lock(&watch->mutex);
    int found = watch->found;
    *info = watch->info;
    *seen_ns = watch->seen_ns;
    *due_ns = watch->due_ns;
    for (int g = 0; guests != NULL && g < found && (size_t)g < room; g++) {
        guests[g] = watch->seen[g];
    }
    (void)pthread_mutex_unlock(&watch->mutex);
    return found;
}

void top_watch_stop(struct top_watch *watch)
{
    struct timespec until = in_ms(STOP_MS);
    (void)pthread_mutex_lock(&watch->mutex);
    watch->stop = true;
    (void)pthread_cond_broadcast(&watch->changed);
    (void)pthread_mutex_unlock(&watch->mutex);
    if (pthread_timedjoin_np(watch->thread, NULL, &until) == 0) {
        free(watch->guests);
        free(watch->seen);
        free(watch->name);
        free(watch);
    } /* else the thread waits for silent servers, and ends with the process */
}
