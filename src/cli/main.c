/*
 * usage: usher VERB [OPTION..] POOL ..
 *
 * Finds the verb and hands over; says what there is if it finds none.
 */
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
                  "Seats for jobs that share one machine: at most k at a time, first come,\n"
                  "first served, and nothing is lost when any of them is killed. A pool is a\n"
                  "name, a path, or zk://HOST,../PATH for many machines.\n\n");
    for (unsigned v = 0; v < VERBS; v++) {
        (void)fprintf(file, "  %-9s %s\n", verbs[v]->name, verbs[v]->summary);
    }
    (void)fprintf(file, "\nBegin with:  usher run builds -k 3 -- make\n"
                        "More:        usher help VERB, usher help exit, man usher\n");
}

static void print_codes(void)
{
#define X(name, code, meaning) (void)printf("%4d  %s\n", code, meaning);
    CLI_EXIT_CODES(X)
#undef X
    (void)printf(" ...  under run, the command's own status; 128 + N if signal N ended it\n");
}

static const struct cli_verb *find(const char *name)
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

static int help(const char *name)
{
    if (name == NULL) {
        print_help(stdout);
        return CLI_OK;
    }
    if (strcmp(name, "exit") == 0) {
        print_codes();
        return CLI_OK;
    }
    const struct cli_verb *verb = find(name);
    if (verb == NULL || verb->help == NULL) {
        return cli_fail(CLI_USAGE, "there is no verb '%s'; 'usher help' lists them", name);
    }
    (void)printf("usage: usher %s\n\n%s", verb->usage, verb->help);
    return CLI_OK;
}

/* Standard descriptors that are closed would become the pool's file, and what is meant for a
   terminal would be written into it. In their place stands one that fails, and that the command
   does not see. */
static void fill_standard(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            (void)open("/dev/null", (fd == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
        }
    }
}

/* Somebody who may write the pool's file has cut it short, and what we touched is not there. */
static void on_cut_short(int signal_)
{
    static const char said[] = "usher: the pool's file was cut short while it was in use; whoever "
                               "may write it can do that\n";
    (void)signal_;
    ssize_t unused = write(STDERR_FILENO, said, sizeof said - 1);
    (void)unused;
    _exit(CLI_UNUSABLE);
}

static int choose(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
        strcmp(argv[1], "-h") == 0) {
        return help(argc > 2 ? argv[2] : NULL);
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        (void)printf("usher %s\n", USHER_VERSION_STRING);
        return CLI_OK;
    }
    const struct cli_verb *verb = find(argv[1]);
    if (verb == NULL) {
        return cli_fail(CLI_USAGE, "there is no verb '%s'; 'usher help' lists them", argv[1]);
    }
    if (argc > 2 && strcmp(argv[2], "--help") == 0) {
        return help(argv[1]);
    }
    return verb->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    fill_standard();
    if (getauxval(AT_SECURE) != 0) {
        /* It would run commands, and read environments, with rights that its caller has not. */
        return cli_fail(CLI_PERMISSION, "not with the rights of another: it must not be setuid or "
                                        "setgid, or have capabilities; use sudo");
    }
    (void)signal(SIGBUS, on_cut_short);
    return cli_printed(choose(argc, argv));
}
