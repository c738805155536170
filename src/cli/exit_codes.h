/*
 * The exit codes of usher(1), in one table. The code returns them, `usher help exit` prints them,
 * and tests/cli_man.sh compares them with the man page. `usher run` passes the status of its
 * command through; 128 + N if signal N ended the command.
 */
#ifndef USHER_CLI_EXIT_CODES_H
#define USHER_CLI_EXIT_CODES_H

/* X(name, code, what it means) */
#define CLI_EXIT_CODES(X)                                                                          \
    X(CLI_OK, 0, "success; for run, the command succeeded")                                        \
    X(CLI_FAULTS, 1, "doctor found faults in the pool")                                            \
    X(CLI_USAGE, 64, "the command line is wrong")                                                  \
    X(CLI_NO_POOL, 66, "there is no such pool")                                                    \
    X(CLI_UNUSABLE, 69, "the pool cannot be used: full, damaged, in use or not a pool")            \
    X(CLI_BUG, 70, "a bug in usher")                                                               \
    X(CLI_OS, 71, "the operating system refused something")                                        \
    X(CLI_CANNOT_CREATE, 73, "the pool cannot be created")                                         \
    X(CLI_LOST, 74, "the seat was lost; for run, the command was ended")                           \
    X(CLI_NO_SEAT, 75, "no seat became free in time (override the code with -E)")                  \
    X(CLI_PERMISSION, 77, "no permission")                                                         \
    X(CLI_OTHER_SEATS, 78, "the pool has a different number of seats")                             \
    X(CLI_NOT_EXECUTABLE, 126, "the command cannot be executed")                                   \
    X(CLI_NOT_FOUND, 127, "the command was not found")

enum cli_exit {
#define X(name, code, meaning) name = (code),
    CLI_EXIT_CODES(X)
#undef X
};

#endif
