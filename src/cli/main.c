/*
 * usage: usher VERB [OPTION..] POOL ..
 *
 * Finds the verb and calls it; prints help.
 */
#include "build.h" /* made by the build */
#include "cli/cli.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static const struct cli_verb *const verbs[] = {&cli_run,    &cli_acquire, &cli_release,
                                               &cli_status, &cli_top,     &cli_create,
                                               &cli_resize, &cli_remove,  &cli_doctor};

enum { VERBS = sizeof verbs / sizeof verbs[0] };

static void print_help(FILE *file)
{
    (void)fprintf(file,
                  "usage: usher VERB [OPTION..] POOL ..\n\n"
                  "Limits how many commands run at once. The others wait in order of arrival,\n"
                  "and a crash never leaks a seat. A pool is a name, a path, or, for several\n"
                  "machines, zk://HOST,../PATH.\n\n");
    for (unsigned v = 0; v < VERBS; v++) {
        (void)fprintf(file, "  %-9s %s\n", verbs[v]->name, verbs[v]->summary);
    }
    (void)fprintf(file, "\nExample:  usher run builds -k 3 -- make\n"
                        "More:     usher help VERB, usher help exit, man usher\n");
}

static void print_exit_codes(void)
{
#define X(name, code, meaning) (void)printf("%4d  %s\n", code, meaning);
    CLI_EXIT_CODES(X)
#undef X
    (void)printf(" ...  for run, the status of the command; 128 + N if signal N ended it\n");
}

static const struct cli_verb *find_verb(const char *name)
{
    if (strcmp(name, cli_keep.name) == 0) {
        return &cli_keep;
    }
    for (unsigned v = 0; v < VERBS; v++) {
        if (strcmp(verbs[v]->name, name) == 0) {
            return verbs[v];
        }
    }
    return NULL;
}

static int print_verb_help(const char *name)
{
    if (name == NULL) {
        print_help(stdout);
        return CLI_OK;
    }
    if (strcmp(name, "exit") == 0) {
        print_exit_codes();
        return CLI_OK;
    }
    const struct cli_verb *verb = find_verb(name);
    if (verb == NULL || verb->help == NULL) {
        return cli_fail(CLI_USAGE, "unknown verb '%s'; 'usher help' lists the verbs", name);
    }
    (void)printf("usage: usher %s\n\n%s", verb->usage, verb->help);
    return CLI_OK;
}

/* Open /dev/null in place of each closed standard descriptor; otherwise the pool's file would get
   that number, and output would be written into it. Reads and writes of these fail, and the command
   does not inherit them. */
static void fill_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            (void)open("/dev/null", (fd == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
        }
    }
}

/* SIGBUS: a process truncated the pool's file, and we touched a missing page. */
static void on_truncated(int signal_)
{
    static const char said[] = "usher: the pool's file was truncated while in use; see which "
                               "programs and users write to it\n";
    (void)signal_;
    ssize_t unused = write(STDERR_FILENO, said, sizeof said - 1);
    (void)unused;
    _exit(CLI_UNUSABLE);
}

static int run_verb(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
        strcmp(argv[1], "-h") == 0) {
        return print_verb_help(argc > 2 ? argv[2] : NULL);
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        (void)printf("usher %s\n", BUILD_ABOUT);
        return CLI_OK;
    }
    const struct cli_verb *verb = find_verb(argv[1]);
    if (verb == NULL) {
        return cli_fail(CLI_USAGE, "unknown verb '%s'; 'usher help' lists the verbs", argv[1]);
    }
    if (argc > 2 && strcmp(argv[2], "--help") == 0) {
        return print_verb_help(argv[1]);
    }
    return verb->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    fill_standard_descriptors();
    if (getauxval(AT_SECURE) != 0) {
        /* It would run commands and read environments with rights that the caller does not have. */
        return cli_fail(CLI_PERMISSION,
                        "usher must not be setuid, setgid or have file capabilities; "
                        "remove them, and use sudo");
    }
    (void)signal(SIGBUS, on_truncated);
    return cli_flush(run_verb(argc, argv));
}
