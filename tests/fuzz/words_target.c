/*
 * The command line of usher(1), all except the command to run, on a pool that may be damaged. An
 * input is
 *
 *     edits 1 | that many edits, 13 bytes each (stage.h) | USHER_HELD | the arguments
 *
 * USHER_HELD and each argument end with a zero byte. Paths in arguments are moved to this
 * directory.
 */
#include "calls.h"
#include "stage.h"
#include "target.h"

/* it has static state: whether a signal was caught */
#include "cli/seat_wait.c" /* NOLINT(bugprone-suspicious-include) */

#include <dirent.h>
#include <fcntl.h>
#include <getopt.h>

enum { MOST_ARGUMENTS = 20, MOST_TEXT = 2048, MOST_EDITS = 8 };

const char *__asan_default_options(void); /* NOLINT(bugprone-reserved-identifier) */

/* The environment belongs to the process and is never freed. */
const char *__asan_default_options(void) /* NOLINT(bugprone-reserved-identifier) */
{
    return "detect_leaks=0";
}

static char directory[256];

static void interrupt(void)
{
    (void)raise(SIGTERM);
}

/* Hide normal output; sanitizers write to the descriptor. */
static void prepare(void)
{
    (void)snprintf(directory, sizeof directory, "%s", calls_path());
    *strrchr(directory, '/') = '\0';
    stdout = fopen("/dev/null", "w");
    stderr = fopen("/dev/null", "w");
    if (stdout == NULL || stderr == NULL || chdir(directory) != 0) {
        stage_fail("no directory");
    }
    stage_interrupt = interrupt;
}

static void remove_all(void)
{
    DIR *there = opendir(".");
    if (there == NULL) {
        return;
    }
    for (struct dirent *entry; (entry = readdir(there)) != NULL;) {
        if (unlinkat(AT_FDCWD, entry->d_name, 0) != 0) {
            (void)unlinkat(AT_FDCWD, entry->d_name, AT_REMOVEDIR);
        }
    }
    (void)closedir(there);
}

static void make_pool(const uint8_t *edits, size_t count)
{
    static uint8_t bytes[8192];
    struct usher_pool *pool;
    if (usher_open(&pool, "p", &(struct usher_options){.seats = 2, .guests = 5}) != 0) {
        stage_fail("no pool");
    }
    usher_close(pool);
    int fd = open("p", O_RDWR | O_CLOEXEC);
    ssize_t size = pread(fd, bytes, sizeof bytes, 0);
    for (size_t e = 0; e < count; e++) {
        stage_edit_bytes(bytes, (size_t)size, edits + STAGE_EDIT * e);
    }
    if (pwrite(fd, bytes, (size_t)size, 0) != size) {
        stage_fail("no pool");
    }
    (void)close(fd);
}

/* Format the waiting display for any terminal width. */
static void look_on(void)
{
    struct cli_options options = {0};
    struct cli_wait wait = {.pool_name = "p", .options = &options};
    char line[256];
    struct usher_options existing = {.flags = USHER_EXISTING};
    if (usher_open(&wait.pool, "p", &existing) == 0) {
        for (size_t room = 1; room <= sizeof line; room *= 2) {
            format_line(&wait, line, room);
            if (strlen(line) >= room) {
                stage_fail("a line of %zu bytes in a buffer of %zu", strlen(line), room);
            }
        }
        usher_close(wait.pool);
    }
}

static bool harmless(const char *argument)
{
    const char *slash = strchr(argument, '/');
    return slash == NULL || (slash == argument + 1 && argument[0] == '.' && slash[1] != '.' &&
                             strchr(slash + 1, '/') == NULL);
}

static void use(char *text, size_t size)
{
    static char program[] = "usher";
    char *argv[MOST_ARGUMENTS + 1] = {program};
    int argc = 1;
    char *at = text;
    (void)clearenv();
    (void)setenv("USHER_DIR", directory, 1);
    if (*at != '\0') {
        (void)setenv("USHER_HELD", at, 1);
    }
    for (at += strlen(at) + 1; at < text + size && argc < MOST_ARGUMENTS; at += strlen(at) + 1) {
        if (!harmless(at)) {
            return;
        }
        argv[argc++] = at;
    }
    if (argc > 1 && strcmp(argv[1], "top") == 0) {
        return; /* would need a terminal */
    }
    sigset_t none; /* an exiting process need not restore its signal mask */
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    caught = 0;
    optind = 0; /* resets getopt */
    (void)getopt_long(1, argv, "+", NULL, NULL);
    stage_call("usher");
    int status = usher_main(argc, argv);
    if (status < 0 || status > 255) {
        stage_fail("status %d", status);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[MOST_TEXT + 2];
    if (directory[0] == '\0') {
        prepare();
    }
    size_t edits = size == 0 ? 0 : data[0] % MOST_EDITS;
    size_t begin = 1 + STAGE_EDIT * edits;
    if (size < begin || size - begin > MOST_TEXT) {
        return 0;
    }
    memcpy(text, data + begin, size - begin);
    memset(text + (size - begin), 0, 2);
    stage_begin();
    (void)setenv("USHER_DIR", directory, 1);
    make_pool(data + 1, edits);
    look_on();
    use(text, size - begin);
    remove_all();
    return 0;
}
