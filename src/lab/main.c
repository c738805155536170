/*
 * usage: usher-lab COMMAND [OPTION..] [ARGUMENT..]
 *
 * Find the command and run it.
 */
#include "build.h" /* made by the build */
#include "lab/lab.h"

#include <string.h>

static const struct lab_command *const commands[] = {
    &lab_list, &lab_check,   &lab_table,  &lab_space, &lab_equal,
    &lab_run,  &lab_compare, &lab_replay, &lab_draw,  NULL,
};

static void print_help(FILE *file)
{
    (void)fprintf(file,
                  "usage: usher-lab COMMAND [OPTION..] [ARGUMENT..]\n"
                  "\n"
                  "Explore all interleavings of published algorithms that let at most k of n\n"
                  "processes in, decide their properties, and run them on real threads and\n"
                  "processes.\n"
                  "\n"
                  "  list       list the algorithms, with their papers\n"
                  "  check      explore one and decide its properties\n"
                  "  table      check all: what the papers promise, and what is found\n"
                  "  space      print the shared memory that one uses, or all of them\n"
                  "  equal      decide whether two behave alike under every schedule\n"
                  "  run        run one on real threads or processes\n"
                  "  compare    run all: accesses, speed, waiting times, order, space\n"
                  "  replay     execute a trace and compare it with the code\n"
                  "  draw       draw a trace as SVG\n"
                  "\n"
                  "Every command but draw takes --json and prints one JSON document. -n is the\n"
                  "number of processes, -k the number of seats, -r the robustness of the\n"
                  "algorithms of 1979 (default k).\n"
                  "\n"
                  "Begin with:  usher-lab check colored-printed -n 2 -k 1\n"
                  "More:        usher-lab help COMMAND, man usher-lab\n");
}

static const struct lab_command *find(const char *name)
{
    for (const struct lab_command *const *c = commands; *c != NULL; c++) {
        if (strcmp((*c)->name, name) == 0) {
            return *c;
        }
    }
    return NULL;
}

static int help(const char *name)
{
    const struct lab_command *command = name == NULL ? NULL : find(name);
    if (name == NULL) {
        print_help(stdout);
        return LAB_OK;
    }
    if (command == NULL) {
        return lab_fail(LAB_USAGE, "no command '%s'; 'usher-lab help' lists them", name);
    }
    (void)printf("usage: usher-lab %s\n\n%s", command->usage, command->help);
    return LAB_OK;
}

int main(int argc, char **argv)
{
    struct lab_options options;
    if (argc < 2) {
        print_help(stderr);
        return LAB_USAGE;
    }
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
        strcmp(argv[1], "-h") == 0) {
        return help(argc > 2 ? argv[2] : NULL);
    }
    if (strcmp(argv[1], "--version") == 0) {
        (void)printf("usher-lab %s\n", BUILD_ABOUT);
        return LAB_OK;
    }
    const struct lab_command *command = find(argv[1]);
    if (command == NULL) {
        return lab_fail(LAB_USAGE, "no command '%s'; 'usher-lab help' lists them", argv[1]);
    }
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            return help(argv[1]);
        }
    }
    int status = lab_parse(command, argc - 1, argv + 1, &options);
    if (status == LAB_OK) {
        status = command->run(&options);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        return lab_fail(LAB_CANNOT_CREATE, "cannot write the output");
    }
    return status;
}
