/*
 * What the files of usher(1) share. main.c finds the verb; cmd_VERB.c implements it. The program
 * uses only the public header of the library.
 */
#ifndef USHER_CLI_H
#define USHER_CLI_H

#include "cli/exit_codes.h"
#include "usher.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct cli_verb {
    const char *name;
    const char *usage;                 /* without "usage: usher " */
    const char *summary;               /* for the list of verbs */
    const char *help;                  /* the rest of `usher help VERB` */
    int (*run)(int argc, char **argv); /* argv[0] is the verb; returns an exit status */
};

extern const struct cli_verb cli_run, cli_acquire, cli_release, cli_status, cli_top, cli_create,
    cli_resize, cli_remove, cli_doctor;
extern const struct cli_verb cli_keep; /* internal: started by usher acquire, not listed */

/* options.c: the options of all verbs. */
enum cli_option {
    CLI_OPTION_SEATS = 1 << 0,     /* -k SEATS */
    CLI_OPTION_WAIT = 1 << 1,      /* -n, -w TIME, -E CODE */
    CLI_OPTION_RUN = 1 << 2,       /* -c, --env, --warn-only */
    CLI_OPTION_VERBOSITY = 1 << 3, /* -v, -q */
    CLI_OPTION_FOR = 1 << 4,       /* --for PID */
    CLI_OPTION_JSON = 1 << 5,      /* --json */
    CLI_OPTION_CREATE = 1 << 6,    /* --guests N, --mode M */
    CLI_OPTION_FORCE = 1 << 7,     /* --force */
    CLI_OPTION_ACQUIRE = 1 << 8,   /* --export, --signal SIGNAL */
    CLI_OPTION_LABELS = 1 << 9,    /* --labels A,B,.. */
    CLI_OPTION_DEFINE = 1 << 10    /* --group G, --define, --all */
};

struct cli_options {
    uint32_t seats, guests;
    mode_t mode;
    int64_t wait_ns;  /* INT64_MAX: no limit; 0: do not wait */
    int no_seat_code; /* the exit code if no seat became free in time */
    bool verbose, quiet, json, force, warn_only, export_, define, all;
    gid_t group;            /* of a new pool; 0: none */
    const char *group_name; /* as given */
    int signal;             /* sent to the holder when its seat is about to be lost; 0: none */
    pid_t for_pid;          /* 0: the calling shell */
    const char *line;       /* -c */
    const char *labels;     /* A,B,..; after cli_open those of the pool, if it has any */
    const char *variable;   /* --env */
    const char *note;       /* our command as status shows it in a remote pool; or NULL */
    const char *pool;       /* the first operand */
    int rest;               /* index in argv of the word after the pool */
};

/*
 * Parse the options of a verb; `allowed` is a sum of enum cli_option. Options end at the pool, or,
 * with `after_pool`, may also follow it (usher acquire POOL -k 4). Sets options->pool to NULL if no
 * pool is given. Returns 0, or CLI_USAGE after a message.
 */
int cli_parse(const struct cli_verb *verb, unsigned allowed, bool after_pool, int argc, char **argv,
              struct cli_options *options);
/* Parse a duration: 1.5, 30s, 5m, 1h. Returns false if it is not one. */
bool cli_parse_time(const char *text, int64_t *ns);
/* Parse a decimal number of at most `most`. Returns false if it is not one. */
bool cli_parse_number(const char *text, uint64_t most, uint64_t *number);

/* messages.c: messages on stderr, in the form "usher: pool gpu: what is wrong; what to do". */
/* Print a message; returns `code`. */
__attribute__((format(printf, 2, 3))) int cli_fail(enum cli_exit code, const char *format, ...);
/* Flush stdout. Returns `status`, or CLI_OS after a message if the output could not be written. */
int cli_flush(int status);
/* Print the message of a library error about a pool; returns its exit code. */
int cli_fail_pool(const char *pool, int error, bool creating);
/* A duration: 950 ms, 3.2 s, 4 min 10 s, 2 h 5 min, 3 d 4 h. */
const char *cli_duration(int64_t ns, char *text, size_t room);
/* A duration in one unit: 950 ms, 3 s, 4 min, 2 h, 3 d. */
const char *cli_short_duration(int64_t ns, char *text, size_t room);
/* The ending of a plural: "" for 1, "s" otherwise. */
const char *cli_s(uint64_t count);
int64_t cli_now_ns(void);
/* Replace control characters, and bytes that are not UTF-8, by '?'. */
char *cli_sanitize(char *text);
/* Truncate to at most `room` bytes, at the boundary of a character. */
char *cli_truncate(char *text, size_t room);

/* pools.c */
struct cli_names {
    char **names;
    size_t count;
};
/* List the pools in the directories of names, sorted; with `with_deleted`, also those that are in
   use though their file was deleted. 0 or -errno; the caller frees the names in any case. */
int cli_list_pools(struct cli_names *names, bool with_deleted);
void cli_free_names(struct cli_names *names);
/* The path of the file that a pool's name stands for. Returns false if there is none: then it is
   where the file would be. */
bool cli_pool_file(const char *pool, char *path, size_t room);
/* Was the file of this open pool deleted? */
bool cli_is_deleted(struct usher_pool *pool);
/* Does the system have a directory for pools of groups, which only root can write to? */
bool cli_shared_directory(void);
/* Print a message about each pool that an older version made in $XDG_RUNTIME_DIR; if `only` is not
   NULL, about the one of that name. */
void cli_name_old_pools(const char *only);

/* process.c */
/* Read the beginning of the file /proc/PID/`what`, and append a '\0'. Returns its length, or 0 if
   it cannot be read. */
size_t cli_read_process(pid_t pid, const char *what, char *text, size_t room);
struct cli_process {
    char state; /* as ps shows it */
    pid_t parent;
    unsigned long arguments; /* the address of its arguments; 0: not readable */
};
bool cli_process(pid_t pid, struct cli_process *process);
/* The label of a holder's seat; "" if there is none, or it cannot be read. */
const char *cli_holder_label(const struct usher_guest *holder, char *label, size_t room);
/* The command line of a process, as much as fits. */
const char *cli_command_of(pid_t pid, char *text, size_t room);
/* The command line of a guest; in a remote pool, the note of the guest. */
const char *cli_command(const struct usher_guest *guest, char *text, size_t room);
/* PID; in a remote pool, PID@MACHINE. */
char *cli_pid_text(const struct usher_guest *guest, char *text, size_t room);
/* Replace the pid of each keeper by the pid of its shell (keeper.c). */
void cli_name_shells(struct usher_guest *guests, size_t count);
/* Call usher_inspect, then cli_name_shells. */
int cli_inspect(struct usher_pool *pool, struct usher_info *info, struct usher_guest *guests,
                size_t capacity);

/* seat_wait.c: wait for a seat, with signals and the line on the terminal. */
struct cli_wait {
    const char *pool_name;
    struct usher_pool *pool;
    struct cli_options *options;
    int64_t began_ns;
    bool shown;       /* the line is on the terminal */
    int64_t shown_ns; /* when it was last drawn */
    bool interrupted; /* Ctrl-C ended the wait or the command */
    bool got_seat;    /* set by cli_get_seat; its result can be 0 without a seat (-E 0) */
};
/* Open the pool; create it unless flags has USHER_EXISTING. Returns 0, or an exit code after a
   message. */
int cli_open(struct cli_wait *wait, struct cli_options *options, unsigned flags);
/* Wait for a seat. Returns 0, an exit code after a message, or 128 + the signal that ended the
   wait. */
int cli_get_seat(struct cli_wait *wait, struct usher_seat *seat);
/* Close the pool and return `status`. After Ctrl-C, die by SIGINT instead: a shell ends its script
   only if the program it called was killed by SIGINT. */
int cli_close(struct cli_wait *wait, int status);
/* The label that --labels gives to a seat, or NULL. */
const char *cli_seat_label(const struct cli_options *options, uint32_t seat, char *room,
                           size_t size);

/* keepers.c: start, find and end the keepers (keeper.c) that hold seats of remote pools, and those
   of other pools in a container. */
/* Start a keeper that waits for a seat and holds it for `holder`, and print the seat. Returns 0, or
   an exit code after a message. */
int cli_keeper_start(const struct cli_options *options, pid_t holder);
/* End the keepers that hold seats of that pool for `holder`. Returns their number, or -errno; adds
   to *lost the number of them whose seat was lost. */
int cli_keepers_release(const char *pool, pid_t holder, int *lost);
/* Does a keeper of this user hold a seat of that pool? */
bool cli_has_keeper(const char *pool);
/* The process that a keeper holds its seat for; 0 if `keeper` is not a keeper with a seat. */
pid_t cli_keeper_shell(pid_t keeper);
/* Must a seat of a pool on this machine have a keeper? Yes in a pid namespace other than the
   machine's: it can end as a whole, and outside of it pids mean nothing. */
bool cli_needs_keeper(void);
/* Print that a process cannot hold a seat; returns the exit code. */
int cli_fail_holder(const char *pool, pid_t holder, int error);
/* The names of a keeper, as ps shows them: while it holds its seat, and after the seat is lost. */
#define CLI_KEEPER_HOLDS "usher-keep"
#define CLI_KEEPER_LOST "usher-lost"

/* lease.c: the seat of a remote pool, which can be lost. */
struct cli_lease {
    const struct cli_wait *wait;
    const struct usher_seat *seat;
    int64_t grace_ns; /* the command gets SIGTERM this long before the lease ends */
    bool lost;        /* SIGTERM was sent, or the warning printed */
};
/* Is this the name of a remote pool, one on ZooKeeper? */
bool cli_is_remote(const char *pool);
void cli_lease_begin(struct cli_lease *lease, const struct cli_wait *wait,
                     const struct usher_seat *seat);
/* End the command before the servers grant its seat to another process. Returns when to call again,
   in ns from now. */
int64_t cli_lease_enforce(struct cli_lease *lease, pid_t child);

/* nested.c: seats held by this process or its ancestors. */
/* Does this process or an ancestor hold a seat of that pool? If so, fill in *seat. */
bool cli_nested(struct usher_pool *pool, struct usher_seat *seat);
/* Does process `pid` still hold that seat? */
bool cli_still_held(struct usher_pool *pool, pid_t pid, const struct usher_seat *seat);
/* As cli_nested, but only seats that usher run put into USHER_HELD. */
bool cli_nested_run(struct usher_pool *pool, struct usher_seat *seat);
/* Set the environment of the command: USHER_POOL, USHER_SEAT, .. and USHER_HELD. */
int cli_environment(const struct cli_wait *wait, const struct usher_seat *seat, bool nested);
/* What acquire prints: the number of the seat, or with --export a line for the shell. */
enum { CLI_SEAT_TEXT = 20000 };
void cli_seat_text(const struct cli_wait *wait, const struct usher_seat *seat, char *text);
/* In the child, before exec: write the pid of the holder into USHER_HELD. */
void cli_environment_holder(pid_t pid);

#endif
