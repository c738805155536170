/*
 * usher(1) inside. main.c finds the verb; each verb is a file, cmd_VERB.c; this is what they share.
 * Only the public header of the library is used.
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
    const char *usage;                 /* one line, without "usage: " */
    const char *summary;               /* a few words for the list */
    const char *help;                  /* the rest of `usher help VERB` */
    int (*run)(int argc, char **argv); /* argv[0] is the verb; an enum cli_exit, or a status */
};

extern const struct cli_verb cli_run, cli_acquire, cli_release, cli_status, cli_top, cli_create,
    cli_resize, cli_remove, cli_doctor;
extern const struct cli_verb cli_keep; /* for usher acquire alone: not in the list */

/* options.c: what the verbs have in common. */
enum cli_option {
    CLI_OPTION_SEATS = 1 << 0,  /* -k SEATS */
    CLI_OPTION_WAIT = 1 << 1,   /* -n, -w TIME, -E CODE */
    CLI_OPTION_RUN = 1 << 2,    /* -c, --labels, --env, --warn-only */
    CLI_OPTION_TALK = 1 << 3,   /* -v, -q */
    CLI_OPTION_FOR = 1 << 4,    /* --for PID */
    CLI_OPTION_JSON = 1 << 5,   /* --json */
    CLI_OPTION_CREATE = 1 << 6, /* --guests N, --mode M */
    CLI_OPTION_FORCE = 1 << 7,  /* --force */
    CLI_OPTION_HAND = 1 << 8    /* --export, --signal SIGNAL */
};

struct cli_options {
    uint32_t seats, guests;
    mode_t mode;
    int64_t wait_ns; /* INT64_MAX: for ever; 0: do not wait */
    int not_had;     /* the exit code for that */
    bool verbose, quiet, json, force, warn_only, export_;
    int signal;       /* to the holder, if its seat is lost; 0: none */
    pid_t for_pid;    /* 0: the caller */
    const char *line; /* -c */
    char *labels;     /* A,B,.. */
    const char *variable;
    const char *note; /* what others see of us, in a pool that is elsewhere; or NULL */
    const char *pool; /* the first operand */
    int rest;         /* index of what follows it */
};

/*
 * Parse the options of a verb that allows these. Options stop at the first operand, the pool, if
 * `after_pool` is false; otherwise some may follow it (usher acquire POOL -k 4). 0, or CLI_USAGE
 * after a message. A verb without a pool has options->pool NULL.
 */
int cli_parse(const struct cli_verb *verb, unsigned allowed, bool after_pool, int argc, char **argv,
              struct cli_options *options);
/* 1.5, 30s, 5m, 1h. Whether it is one. */
bool cli_parse_time(const char *text, int64_t *ns);
bool cli_parse_number(const char *text, uint64_t most, uint64_t *number);

/* messages.c: "usher: pool gpu: what is wrong; what to do", on stderr. */
__attribute__((format(printf, 2, 3))) int cli_fail(enum cli_exit code, const char *format, ...);
/* Everything is printed that should be: `status`, or CLI_OS after a message. */
int cli_printed(int status);
/* For an error of the library about a pool; the exit code that belongs to it. */
int cli_fail_pool(const char *pool, int error, bool creating);
/* 950 ms, 3.2 s, 4 min 10 s, 2 h 5 min, 3 d 4 h. */
const char *cli_duration(int64_t ns, char *text, size_t room);
int64_t cli_now_ns(void);
/* Change what a terminal would obey and what is not UTF-8 to '?'. */
char *cli_presentable(char *text);
/* Cut to so many bytes, and not in the middle of a character. */
char *cli_cut(char *text, size_t room);
/* process.c */
/* The beginning of a file of /proc/PID, ended by '\0'. How much there is; 0: it may not be read. */
size_t cli_read_process(pid_t pid, const char *what, char *text, size_t room);
struct cli_process {
    char state; /* as ps shows it */
    pid_t parent;
    unsigned long arguments; /* where they are in its memory; 0: it may not be known */
};
bool cli_process(pid_t pid, struct cli_process *process);
/* The label of a holder's seat; "" if there is none, or it may not be read. */
const char *cli_label_of(const struct usher_guest *holder, char *label, size_t room);
/* What a process is running, for people: the name, and as many of its arguments as fit. */
const char *cli_command_of(pid_t pid, char *text, size_t room);
/* The same of a guest; of one of a pool that is elsewhere, what it has said of itself. */
const char *cli_command(const struct usher_guest *guest, char *text, size_t room);
/* PID; or PID@MACHINE, in a pool that is elsewhere. */
char *cli_who(const struct usher_guest *guest, char *text, size_t room);
/* Put shells in the place of those who keep their seats (keeper.c). */
void cli_name_shells(struct usher_guest *guests, size_t count);
/* usher_inspect, and that. */
int cli_inspect(struct usher_pool *pool, struct usher_info *info, struct usher_guest *guests,
                size_t capacity);

/* seat.c: waiting for a seat as the commands do it. */
struct cli_wait {
    const char *pool_name;
    struct usher_pool *pool;
    struct cli_options *options;
    int64_t began_ns;
    bool shown;       /* a line is on the terminal */
    int64_t shown_ns; /* since then */
    bool interrupted; /* Ctrl-C has ended the wait, or the command */
    bool had;         /* a seat was had: only then is 0 from cli_get_seat one, since -E may be 0 */
};
/* Open the pool, creating it if the options allow it. 0 or an exit code, after a message. */
int cli_open(struct cli_wait *wait, struct cli_options *options, unsigned flags);
/* Get a seat. 0, or an exit code after a message; or 128 + signal. */
int cli_get_seat(struct cli_wait *wait, struct usher_seat *seat);
/* Close the pool; return `status`, or end of Ctrl-C: a shell that runs a script ends the script
   only if what it called has died of it. */
int cli_close(struct cli_wait *wait, int status);
/* The label of a seat, or NULL. */
const char *cli_label(const struct cli_options *options, uint32_t seat, char *room, size_t size);

/* keepers.c: seats of pools that are elsewhere, held for a shell by keepers (keeper.c). */
/* Have a keeper wait for a seat for that process and hold it; print the seat. An exit code, after a
   message, or the keeper's own. */
int cli_keeper_start(const struct cli_options *options, pid_t holder);
/* Have the keepers of that pool for that process give back what they hold. How many did, and of
   these how many had lost it; or -errno. */
int cli_keepers_release(const char *pool, pid_t holder, int *lost);
/* Does any keeper of ours hold a seat of that pool? */
bool cli_is_kept(const char *pool);
/* The process that a keeper holds its seat for; 0: it is not a keeper that holds one. */
pid_t cli_kept_for(pid_t keeper);
/* What keepers are named, as ps shows it: since they hold a seat, and since it is lost. */
#define CLI_KEEPER_HOLDS "usher-keep"
#define CLI_KEEPER_LOST "usher-lost"

/* lease.c: a seat that can be lost. */
struct cli_lease {
    const struct cli_wait *wait;
    const struct usher_seat *seat;
    int64_t grace_ns; /* so long before the end the command is told */
    bool lost;        /* it has been told, or we have warned */
};
/* Is it a pool that is not on this machine? */
bool cli_is_elsewhere(const char *pool);
void cli_lease_begin(struct cli_lease *lease, const struct cli_wait *wait,
                     const struct usher_seat *seat);
/* See to it that the command ends before the seat is given on. When to look again, from now. */
int64_t cli_lease_mind(struct cli_lease *lease, pid_t child);

/* nested.c: the seats that this process runs under. */
/* Is there a seat of that pool above us, still held? Then fill it in. */
bool cli_nested(struct usher_pool *pool, struct usher_seat *seat);
/* The same, but only what usher run has put there. */
bool cli_nested_run(struct usher_pool *pool, struct usher_seat *seat);
/* Set what the command sees: USHER_POOL, USHER_SEAT .. and USHER_HELD. */
int cli_environment(const struct cli_wait *wait, const struct usher_seat *seat, bool nested);
/* What acquire prints: the number, or what cli_environment would set as a line for the shell. */
enum { CLI_SEAT_TEXT = 20000 };
void cli_seat_text(const struct cli_wait *wait, const struct usher_seat *seat, char *text);
/* In the child, just before exec: who holds it is this process. */
void cli_environment_holder(pid_t pid);

#endif
