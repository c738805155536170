/*
 * What usher exits with, in one table: the code returns these, `usher help exit` prints them, and
 * tests/cli_man.sh sees that the man page says the same. The command's own status comes through as
 * it is; 128 + N if signal N ended it.
 */
#ifndef USHER_CLI_EXIT_CODES_H
#define USHER_CLI_EXIT_CODES_H

/* X(name, code, what it means) */
#define CLI_EXIT_CODES(X)                                                                          \
    X(CLI_OK, 0, "done; under run, the command succeeded")                                         \
    X(CLI_FAULTS, 1, "doctor found faults that are still there")                                   \
    X(CLI_USAGE, 64, "the command line is wrong")                                                  \
    X(CLI_NO_POOL, 66, "there is no such pool")                                                    \
    X(CLI_UNUSABLE, 69, "the pool cannot be used: full, damaged, in use or not a pool")            \
    X(CLI_BUG, 70, "a bug in usher")                                                               \
    X(CLI_OS, 71, "the operating system refused something")                                        \
    X(CLI_CANNOT_CREATE, 73, "the pool cannot be created")                                         \
    X(CLI_LOST, 74, "the seat was lost; under run, the command ended for that")                    \
    X(CLI_NOT_HAD, 75, "no seat was had (-E changes this)")                                        \
    X(CLI_PERMISSION, 77, "no permission")                                                         \
    X(CLI_OTHER_SEATS, 78, "the pool has another number of seats")                                 \
    X(CLI_NOT_EXECUTABLE, 126, "the command cannot be executed")                                   \
    X(CLI_NOT_FOUND, 127, "the command was not found")

enum cli_exit {
#define X(name, code, meaning) name = (code),
    CLI_EXIT_CODES(X)
#undef X
};

#endif
