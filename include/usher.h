/*
 * libusher: pools of k seats for processes and threads. Seats are granted in order of arrival. A
 * process that is killed at any instruction loses its seat to the next waiter and damages nothing.
 * usher(7) explains the ideas, usher(3) every call.
 *
 *     struct usher_pool *pool;
 *     struct usher_seat seat;
 *     int error = usher_open(&pool, "gpu", &(struct usher_options){.seats = 4});
 *     if (error == 0 && (error = usher_acquire(pool, &seat)) == 0) {
 *         use_card(seat.number);
 *         usher_release(pool, &seat);
 *     }
 *     if (error < 0) {
 *         fprintf(stderr, "gpu: %s\n", usher_strerror(error));
 *     }
 *
 * Results. A call returns 0, or a count where its comment says so, or a negative errno value. Each
 * comment lists every error of its call; "system errors" are those that the kernel returns to the
 * calls below it, such as -EIO. Names that begin with USHER_E are errno values that have another
 * meaning here.
 *
 * Threads. Any number of threads may use one handle, in all calls at the same time, except
 * usher_close. No call may be made in a signal handler, or in a child between vfork and exec.
 *
 * Crashes. A process may be killed inside any call. What it left half done is finished by the next
 * process that scans the pool: a waiter, usher_try_acquire or usher_reap. Only the comments of
 * calls that can leave something else behind say more. A stopped process keeps its seat and its
 * place in line, and delays nothing else.
 *
 * Structs can grow, by one rule. Each struct has reserved fields. In a struct that the caller fills
 * they must be 0, and unknown flags too: otherwise the call fails with -EINVAL. So initialise the
 * whole struct ({0}, or naming the fields that are set). In a struct that the library fills it sets
 * them to 0. A later version may give a reserved field a meaning, in which 0 means "as before".
 * Size and offsets never change as long as the library's soname is the same. The two structs of the
 * gate have no reserved fields: they stay as they are.
 */
#ifndef USHER_H
#define USHER_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define USHER_API __attribute__((visibility("default")))

/* The version of this header: major << 16 | minor << 8 | patch. */
#define USHER_VERSION 0x000100
#define USHER_VERSION_STRING "0.1.0"

/* Return the version of the library that is loaded, in the form of USHER_VERSION. */
USHER_API int usher_version(void);

/* Errors that have a meaning of their own here. usher_strerror has a sentence for each. */
#define USHER_EREMOVED EIDRM          /* the pool has been removed */
#define USHER_EFORKED ESTALE          /* the handle was opened before fork */
#define USHER_EFULL EUSERS            /* the guest table is full */
#define USHER_EDAMAGED EUCLEAN        /* the pool's content contradicts itself */
#define USHER_ESEATS EDOM             /* the pool has another number of seats */
#define USHER_EUNTRUSTED EKEYREJECTED /* the owner of the file or directory is not trusted */
#define USHER_EEMPTY ENODATA          /* the file is empty */
#define USHER_ETRUNCATED EMSGSIZE     /* the file is shorter than its header says */
#define USHER_ENOTPOOL EBADMSG        /* the file is not a pool */
#define USHER_EFORMAT EPROTONOSUPPORT /* a pool of another format version or byte order */
#define USHER_ETWICE ENOTUNIQ         /* two pools have the name */
#define USHER_EDELETED ENOLINK        /* the file was deleted, and processes still use the pool */
#define USHER_EDEFINITION EBADE       /* the definition of the pool is wrong */
/* Of pools on ZooKeeper. */
#define USHER_ELOST EKEYEXPIRED    /* the session ended: the seat or place in line is lost */
#define USHER_EREVOKED EKEYREVOKED /* a third party deleted the ticket */
#define USHER_ENOSERVER ENOTCONN   /* no server answers */
#define USHER_ENOHOST EHOSTUNREACH /* the servers' host name cannot be resolved */
#define USHER_ENOMODULE ELIBACC    /* usher-zk.so, or a library it needs, is not installed */
#define USHER_EMISMATCH ELIBBAD    /* usher-zk.so is of another version than the library */
#define USHER_ENOTLS ENOPKG        /* the ZooKeeper client library has no TLS */
#define USHER_ETICKETS EOVERFLOW   /* 2^34 tickets since the oldest held one */

struct usher_pool; /* a handle: a pool as one process has opened it */

/* usher_options.flags */
#define USHER_EXISTING 1U  /* do not create the pool: -ENOENT if it does not exist */
#define USHER_EXCLUSIVE 2U /* create the pool: -EEXIST if it exists */
#define USHER_KEEP 4U      /* keep the seats across exec: without this flag exec frees them */
#define USHER_TIMES 8U     /* record when seats are acquired, for usher_inspect and usher_history */
/* Start no helper thread while waiting. Waiters then find a dead holder by periodic scans alone:
   within 85 ms if the first in line runs, otherwise as usher(7) says. */
#define USHER_NO_WATCHDOG 16U
/* Seats belong to the process. A seat then stays held when the thread that acquired it ends, until
   any thread releases it or the process ends. Without this flag the end of a thread frees its
   seats. Release costs a mutex more, and never fails with -ENOSYS. */
#define USHER_PROCESS_SEATS 32U
/* This process is a keeper: it stays as long as the processes to which it assigns seats
   (usher_assign). Processes in other pid namespaces then free such a seat when the keeper has ended
   or closed the pool, so that a container that is killed as a whole keeps no seat. */
#define USHER_KEEPER 64U
/* With USHER_EXISTING: only look at the pool, by usher_inspect, usher_history, usher_verify and
   usher_reap. Calls that need a row of the guest table fail with -EPERM. Root can open the pool of
   any user in this way; its owner can truncate the file, and then root's process gets SIGBUS. */
#define USHER_INSPECT 128U
/* Do not choose a number of seats. If options.seats is 0, create the pool only by a definition:
   -ENOENT if there is neither a pool nor a definition. */
#define USHER_DEFINED 256U

/* How to open a pool. All zero: open an existing pool as it is; or create it by its definition
   (usher(7)); or, if it has none, create one with one seat. */
struct usher_options {
    /* Of a new pool; an existing one, or the definition, must have as many. 0: any; for a new pool
       without a definition: 1. */
    uint32_t seats;
    uint32_t guests; /* rows of a new pool's guest table, at most 65535. 0: 1024 */
    mode_t mode;     /* permissions of a new pool's file. 0: 0600; 0660 if it has a group */
    unsigned flags;  /* USHER_EXISTING .. */
    /* If not NULL, a waiting thread calls it every waiting_ms milliseconds (0: not periodically)
       and after a signal handler ran in it. A result other than 0 ends the wait with -ECANCELED. It
       may call usher_inspect. */
    int (*waiting)(struct usher_pool *pool, void *context);
    void *context;
    /* Names of seats 0, 1, .., separated by commas; or NULL. A new pool keeps them: it must have as
       many seats. On ZooKeeper they are the holder's own. usher_inspect shows them, cut to the
       field of usher_guest. */
    const char *labels;
    const char *note; /* such as the command line, shown on ZooKeeper only; or NULL */
    uint32_t waiting_ms;
    /* The group of a new pool's file; 0: none. Without a slash in the name, and without $USHER_DIR,
       such a pool is created in /run/usher/shared. */
    uint32_t group;
    uint32_t reserved[6]; /* 0 */
};

/* usher_seat.flags: the last holder of this seat did not release it. It died, or called exec. What
   the seat protects may be in the middle of an operation. */
#define USHER_INHERITED 1U

/* A seat that is held. The acquiring calls fill it. A copy is as good as the original. */
struct usher_seat {
    uint32_t number;      /* 0 to k-1; no two live holders have the same number */
    uint32_t flags;       /* USHER_INHERITED */
    uint64_t ticket;      /* its place in order of arrival; starts again at 0 after 2^32 */
    uint64_t request;     /* identifies the acquisition, for usher_release */
    uint64_t reserved[1]; /* 0 */
};

/*
 * Open the pool `name`, and create it if it does not exist. A name without a slash is a file in
 * $USHER_DIR, if that is set. Otherwise it is looked for in /run/usher/UID, /dev/shm/usher-UID and
 * /run/usher/shared, and created in the first of these that the system has. A name with a slash is
 * a path. NULL: a pool without a file, for the threads of this process. zk://HOST[:PORT],../PATH: a
 * pool on ZooKeeper, for many machines; usher(7) says what is different there.
 *
 * If the pool's file was deleted (a logout does that in /dev/shm) and a process of this user still
 * uses the pool, that pool is opened, through /proc. Two pools never share a name.
 *
 * After a failure *pool is NULL. A crash leaves no pool or a complete one; on a file system without
 * O_TMPFILE it may leave a file .usher-*, which can be deleted.
 *
 *     -EINVAL            the name is empty, begins with a dot or has control characters; options
 *                        are unknown, contradict each other, or are not 0 where they must be; not
 *                        as many labels as seats; on ZooKeeper: a bad address or setting
 *     -ENAMETOOLONG      the name is longer than 200 bytes, or the path than PATH_MAX
 *     -ERANGE            more than 65535 seats or guests, or more seats than guests
 *     -USHER_ESEATS      the pool, or its definition, has another number of seats than
 *                        options.seats
 *     -ENOENT            the pool (USHER_EXISTING, USHER_DEFINED) or its directory does not exist
 *     -EEXIST            the pool exists (USHER_EXCLUSIVE)
 *     -EACCES            no permission; on ZooKeeper: wrong credentials
 *     -ELOOP             the file is a symbolic link
 *     -ENODEV            not a regular file
 *     -ENOTDIR           the directory is not a directory
 *     -USHER_EUNTRUSTED  the file or its directory belongs to another user who did not share it
 *     -USHER_ETWICE      two directories have a pool of that name, or two deleted pools had it
 *     -USHER_EDELETED    the file was deleted, and a process (usher_deleted) still uses the pool,
 *                        but has no descriptor by which it can be opened
 *     -USHER_EDEFINITION the definition is wrong: usher_definition says why
 *     -EPERM             this process is not a member of options.group
 *     -USHER_EEMPTY, -USHER_ETRUNCATED, -USHER_ENOTPOOL, -USHER_EFORMAT, -USHER_EDAMAGED
 *                        the file is not a usable pool
 *     -EBUSY             another process is removing the pool, and has been for a second
 *     -ENOLCK            the file system has no locks
 *     -ENOSPC, -EROFS    no space for a new pool, or a read-only file system
 *     -ENOMEM, -EMFILE, -ENFILE, -EAGAIN
 *                        no memory, no file descriptors, no thread-specific key
 *     -USHER_ENOSERVER, -USHER_ENOHOST, -USHER_ENOMODULE, -USHER_EMISMATCH, -USHER_ENOTLS,
 *     -USHER_ELOST       on ZooKeeper
 *     -EOPNOTSUPP        on ZooKeeper: options.guests, options.mode or options.group is set
 *     and system errors
 */
USHER_API int usher_open(struct usher_pool **pool, const char *name,
                         const struct usher_options *options);

/*
 * Wait in line for a seat. Waiters are served in order of arrival. Signals do not end the wait.
 *
 *     -USHER_EFULL     the guest table is full. A thread that has used the pool keeps a row until
 *                      the thread ends, and has one more for each further seat it holds
 *     -USHER_EREMOVED  the pool has been removed
 *     -ECANCELED       options.waiting ended the wait; the place in line is gone
 *     -USHER_EDAMAGED  the pool has no seat for a valid ticket
 *     -USHER_EFORKED   the handle was opened before fork
 *     -ENOMEM, -ENOLCK and system errors, in a thread's first call with this pool
 *     -USHER_EREVOKED, -USHER_ETICKETS
 *                      on ZooKeeper; and the server errors: -USHER_ENOSERVER, -USHER_ELOST,
 *                      -USHER_ENOTPOOL, -USHER_EFORMAT, -USHER_EDAMAGED, -EACCES, -ENOMEM
 */
USHER_API int usher_acquire(struct usher_pool *pool, struct usher_seat *seat);

/*
 * Wait in line for a seat until an absolute time of CLOCK_MONOTONIC. NULL: without limit. A
 * deadline in the past still gets a free seat. After a failure the place in line is gone.
 *
 *     -ETIMEDOUT  no seat became free before the deadline
 *     -EINVAL     the nanoseconds of the deadline are not from 0 to 999999999
 *     and the errors of usher_acquire
 */
USHER_API int usher_acquire_until(struct usher_pool *pool, struct usher_seat *seat,
                                  const struct timespec *deadline);

/*
 * Get a seat without waiting. Before it fails, it scans the holders for dead ones.
 *
 *     -EAGAIN  no seat is free, or others are waiting
 *     and the errors of usher_acquire, except -ECANCELED
 */
USHER_API int usher_try_acquire(struct usher_pool *pool, struct usher_seat *seat);

/*
 * Give a seat back; the first waiter is granted it and woken. Any thread of the process may call
 * it. It works on a removed pool, too.
 *
 *     -EPERM           this process does not hold the seat: it never did, or it has released or
 *                      assigned it, or the end of a thread did
 *     -ENOSYS          another thread acquired the seat, and the kernel refuses membarrier(2). The
 *                      seat is still held, and the thread that acquired it can release it
 *     -USHER_EFORKED   the handle was opened before fork
 *     -USHER_EREVOKED  on ZooKeeper: the seat was lost earlier; and the server errors (see
 *                      usher_acquire). The seat is not held any more
 */
USHER_API int usher_release(struct usher_pool *pool, struct usher_seat *seat);

/*
 * Make the process `pid` the holder of a seat of ours. It must be alive and in our pid namespace.
 * The seat stays held until that process ends or usher_release_for is called, even if we end first.
 * After success usher_release of it fails with -EPERM. A process in another pid namespace cannot
 * see that `pid` has ended: there the seat stays held until a process of our namespace scans, or,
 * with USHER_KEEPER, until we end.
 *
 *     -EPERM          this process does not hold the seat
 *     -ESRCH          no such process
 *     -EINVAL         pid is not positive, or the pool has no file
 *     -ENOSYS         that process's death could not be proved: before Linux 6.9 that needs a /proc
 *                     of our pid namespace which shows the process; or as for usher_release
 *     -EMFILE, -ENFILE  no file descriptor left
 *     -USHER_EFORKED  the handle was opened before fork
 *     -EOPNOTSUPP     on ZooKeeper
 */
USHER_API int usher_assign(struct usher_pool *pool, struct usher_seat *seat, pid_t pid);

/* What usher_spawn starts. */
struct usher_command {
    const char *file;  /* a path, or a name without a slash to find in PATH; NULL: argv[0] */
    char *const *argv; /* as for execve(2) */
    char *const *envp; /* as for execve(2); NULL: the caller's environment */
    /* If not NULL, the child calls it before exec, as the holder of the seat. Until exec the child
       shares the caller's memory, as after vfork(2): only async-signal-safe functions may be
       called, and what is written stays. A negative result becomes the result of usher_spawn; 0:
       go on. */
    int (*prepare)(void *context);
    void *context;
    uint64_t reserved[3]; /* 0 */
};

/*
 * Start a program that holds a seat of ours itself. The child becomes the holder before it calls
 * exec, and holds the seat until it ends, even if we end first. The seat is free when the child has
 * ended, normally or not, and a waiter has scanned the pool; usher_release_for(pool, *pid) after
 * waitpid(2) frees it at once. After success usher_release of the seat fails with -EPERM. The child
 * has our signal mask; handled signals are reset to their default. The pool's file descriptor stays
 * open in the program: its lock shows to other pid namespaces that the program lives.
 *
 * After a failure we still hold the seat, and there is no child. If we are killed inside, either
 * the program runs and holds the seat, or it does not run and the seat is reaped.
 *
 *     -EPERM          this process does not hold the seat
 *     -EINVAL         argv or argv[0] is NULL, a reserved field is not 0, or the pool has no file
 *     -ENOSYS         as for usher_release
 *     -ESRCH          the child was killed before it became the holder
 *     -EAGAIN, -ENOMEM  no process can be created
 *     -EMFILE, -ENFILE  no file descriptor left
 *     -USHER_EFORKED  the handle was opened before fork
 *     -EOPNOTSUPP     on ZooKeeper
 *     any negative result of `prepare`, and the errors of execve(2), such as -ENOENT and -EACCES
 */
USHER_API int usher_spawn(struct usher_pool *pool, struct usher_seat *seat,
                          const struct usher_command *command, pid_t *pid);

/* How long a seat is certainly ours, and a number to present to what it protects. */
struct usher_lease {
    uint64_t fence;       /* grows with each seat that the pool grants, across all of its seats */
    int64_t left_ns;      /* the seat is ours for at least this long */
    uint64_t reserved[2]; /* 0 */
};

/*
 * Check that a seat is still held. A seat of a pool on ZooKeeper is lost when the servers have not
 * answered for too long; they then grant it to another. This call returns -USHER_ELOST before they
 * do, if their clocks and ours run at about the same speed. It sends nothing. Stop the work that
 * needs a lost seat; what the seat protects can also refuse a fence below the highest it has seen.
 * A seat of a pool on this machine is never lost: left_ns is INT64_MAX, and fence is the ticket.
 *
 *     -EPERM          this process does not hold the seat
 *     -USHER_ELOST    the seat is lost; usher_release it
 *     -USHER_EFORKED  the handle was opened before fork
 */
USHER_API int usher_check(const struct usher_pool *pool, const struct usher_seat *seat,
                          struct usher_lease *lease);

/*
 * Give back every seat that is assigned to `pid` (usher_assign, usher_spawn). Returns how many. It
 * works on a removed pool, too. A program that usher_spawn started keeps its seat as long as it
 * runs if another process makes this call.
 *
 *     -USHER_EFULL    eight other processes are in this call or in usher_reap, or are stopped
 *                     there, and the guest table is full. Try again
 *     -USHER_EFORKED  the handle was opened before fork
 *     -ENOMEM, -ENOLCK and system errors
 *     -EOPNOTSUPP     on ZooKeeper
 */
USHER_API int usher_release_for(struct usher_pool *pool, pid_t pid);

/*
 * Give back one seat that this process has assigned, whatever else its holder holds.
 *
 *     -EPERM  this process has not assigned the seat, or it is free already
 *     and the errors of usher_release_for
 */
USHER_API int usher_release_assigned(struct usher_pool *pool, const struct usher_seat *seat);

/*
 * Scan all guests, and free what dead ones have left. Returns how many were dead. Waiters scan by
 * themselves; call it if no process waits, or if a long line died together.
 *
 *     -USHER_EFULL     as for usher_release_for
 *     -USHER_EREMOVED  the pool has been removed
 *     -USHER_EFORKED   the handle was opened before fork
 *     -ENOMEM, -ENOLCK and system errors; on ZooKeeper: the server errors (see usher_acquire)
 */
USHER_API int usher_reap(struct usher_pool *pool);

/*
 * Change the number of seats. More: the first waiters enter at once. Fewer: free seats go at once,
 * the others when their holders release them. 0: no waiter enters any more. The number changes in
 * steps of one: a crash leaves a sound pool with a number in between.
 *
 *     -ERANGE          more seats than the pool has room for (usher_info.most_seats)
 *     -USHER_EDAMAGED  the pool has more seats already than it has room for
 *     -USHER_EFULL     the guest table is full
 *     -USHER_EREMOVED  the pool has been removed
 *     -USHER_EFORKED   the handle was opened before fork
 *     -ENOMEM, -ENOLCK and system errors; on ZooKeeper: the server errors (see usher_acquire)
 */
USHER_API int usher_resize(struct usher_pool *pool, uint32_t seats);

/* The state of a pool at about one instant. */
struct usher_info {
    uint32_t seats, free; /* k, and how many of them are not held */
    uint32_t owed;        /* seats that go when their holders release them (usher_resize) */
    uint32_t holders, waiters;
    uint32_t guests;      /* rows of the guest table */
    uint32_t guests_used; /* rows that a process owns */
    uint32_t most_seats;
    uint64_t served, gave_up, reaped; /* since the pool was created */
    uint64_t reserved[4];             /* 0 */
};

/* A holder or a waiter. */
struct usher_guest {
    uint32_t seat;     /* of a holder; UINT32_MAX of a waiter, and of a holder that is entering */
    uint32_t position; /* of a waiter: 1 is the first in line; 0: a holder */
    pid_t pid;         /* 0: in another pid namespace, on another machine, or a pool of threads */
    int alive;         /* 1 alive, 0 certainly dead, -1 unknown */
    uint64_t ticket;   /* of a holder the low 20 bits are certain, the others if it is recent */
    int64_t since_ns;  /* CLOCK_MONOTONIC when it began to hold or to wait; 0: not recorded */
    /* In pools on ZooKeeper; elsewhere 0 and "". */
    uint64_t fence; /* of a holder: usher_lease.fence */
    char where[80]; /* PID@MACHINE */
    char label[32]; /* of a holder's seat, usher_options.labels; also in other pools */
    char note[128]; /* usher_options.note */
    /* Where a guest's pid means something: the inode number of its pid namespace, as in
       /proc/PID/ns/pid, and its pid there. 0: not known, or a pool of threads or on ZooKeeper. */
    uint32_t pid_namespace;
    pid_t pid_there;
    uint64_t reserved[2]; /* 0 */
};

/*
 * Fill `info`, and at most `capacity` guests: the holders by seat, then the waiters in order.
 * Either pointer may be NULL. Returns how many guests there are, which may be more than capacity.
 * It changes nothing.
 *
 *     -USHER_EREMOVED  the pool has been removed
 *     -USHER_EFORKED   the handle was opened before fork
 *     on ZooKeeper: the server errors (see usher_acquire)
 */
USHER_API int usher_inspect(const struct usher_pool *pool, struct usher_info *info,
                            struct usher_guest *guests, size_t capacity);

/* A seat that was released, by a process that records times (USHER_TIMES). */
struct usher_past {
    int64_t ended_ns; /* CLOCK_MONOTONIC */
    uint32_t waited_ms, held_ms;
    uint64_t reserved[2]; /* 0 */
};

/*
 * Fill at most `capacity` of the seats released last, the newest first. Returns how many are
 * recorded, at most 220; on ZooKeeper 0.
 *
 *     -USHER_EREMOVED  the pool has been removed
 *     -USHER_EFORKED   the handle was opened before fork
 */
USHER_API int usher_history(const struct usher_pool *pool, struct usher_past *past,
                            size_t capacity);

/*
 * Check every relation that always holds in a pool. For each broken one call `say`, if it is not
 * NULL, with a sentence. Returns how many are broken. It changes nothing. In a pool in use a
 * relation may seem broken for an instant: call it again a second later.
 *
 *     -USHER_EREMOVED  the pool has been removed
 *     -USHER_EFORKED   the handle was opened before fork
 *     on ZooKeeper: the server errors (see usher_acquire)
 */
USHER_API int usher_verify(const struct usher_pool *pool,
                           void (*say)(void *context, const char *sentence), void *context);

/*
 * Write the directory in which names without a slash are created into `path`, which has `room`
 * bytes. The directory need not exist.
 *
 *     -ENAMETOOLONG  it does not fit
 */
USHER_API int usher_directory(char *path, size_t room);
/* The same for directory `index` of those in which names are looked for; 0 is the one above.
   -ENOENT: there are not so many. */
USHER_API int usher_directory_at(unsigned index, char *path, size_t room);

/*
 * Fill at most `capacity` pids of the processes that use a pool of that name whose file was
 * deleted, as far as this process may see them. Returns how many there are; 0: no pool of that
 * name is in use without its file.
 *
 *     -EINVAL  not the name of a pool with a file
 *     -ENAMETOOLONG, -ENOMEM, -EMFILE, -ENFILE and system errors
 */
USHER_API int usher_deleted(const char *name, pid_t *pids, size_t capacity);

/*
 * Find the definition of a pool, /etc/usher/pools.d/NAME or ~/.config/usher/pools.d/NAME, and check
 * it. Writes its path into `text`, or, if it is wrong, a sentence with the path and the line.
 * Returns the number of seats that it defines.
 *
 *     -ENOENT             there is no definition
 *     -USHER_EDEFINITION  it is wrong
 *     -ENOMEM, -EMFILE, -ENFILE and system errors
 */
USHER_API int usher_definition(const char *name, char *text, size_t room);

/* Write the labels of the pool's seats into `labels`, separated by commas, as much as fits into
   `room` bytes. Returns the length of all of them; 0: the pool has none, or is on ZooKeeper. */
USHER_API int usher_labels(const struct usher_pool *pool, char *labels, size_t room);

/* Return the path of the pool's file; "" for a pool of threads; the address of a pool on ZooKeeper.
   Valid until the handle is closed. Works after fork. */
USHER_API const char *usher_path(const struct usher_pool *pool);

/* Close a handle; NULL is allowed. Releases every seat that this process holds through it, but not
   those assigned to others. No other call with the handle may be running. After fork it releases
   nothing of the parent's. */
USHER_API void usher_close(struct usher_pool *pool);

/*
 * Remove a pool that is not in use. Processes that still have it open get -USHER_EREMOVED from then
 * on, except from usher_release and usher_release_for. The next usher_open of the name creates a
 * new pool. A crash inside leaves the pool or removes it; the next usher_open decides which.
 *
 *     -EBUSY   a process holds a seat or waits, or another process is removing the pool
 *     -EINVAL  name is NULL
 *     -EPERM   the directory is sticky, and neither it nor the file is ours
 *     and the errors of usher_open with USHER_EXISTING
 */
USHER_API int usher_remove(const char *name);

/*
 * Remove a pool even if it is in use. Waiters get -USHER_EREMOVED. Holders keep their seats, which
 * a new pool of that name does not know of. Also removes a file that was a pool and cannot be
 * opened any more: truncated, damaged, or of another format. Errors and crashes as for
 * usher_remove, but -EBUSY only if another process is removing the pool.
 */
USHER_API int usher_discard(const char *name);

/* Return a sentence on an error of this library that says what to do. Either sign is accepted.
   Never NULL; not to be freed. */
USHER_API const char *usher_strerror(int error);

/*
 * The gate: k seats in eight bytes, in any memory that threads or processes share, for at most N
 * guests at a time. First in, first enabled, as above; but a guest that dies in line or inside
 * costs its seat (up to k-1 of them are survived), and there is no seat number. This is the
 * Colored Ticket Algorithm of Fischer, Lynch, Burns and Borodin (1989) in one word.
 */
struct usher_gate {
    uint64_t word;
};

/* A guest's ticket at a gate, between enter and leave. */
struct usher_pass {
    uint32_t ticket;
};

/* Prepare a gate that nobody uses yet. -EINVAL: no guests or no seats. -ERANGE: it does not fit. */
USHER_API int usher_gate_init(struct usher_gate *gate, uint32_t guests, uint32_t seats);
/* The same for a variable, with room for as many guests as fit; `seats` is a constant, 1 to 13:
       static struct usher_gate gate = USHER_GATE_INIT(4); */
#define USHER_GATE_INIT(seats)                                                                     \
    {                                                                                              \
        ((uint64_t)USHER__GATE_BITS(seats) << 59 | (uint64_t)(seats) << 55 | (uint64_t)(seats))    \
    }
#define USHER__GATE_COLOR_BITS(seats) ((seats) > 7 ? 4 : (seats) > 3 ? 3 : (seats) > 1 ? 2 : 1)
#define USHER__GATE_BITS(seats)                                                                    \
    ((2 * (seats) > 11 ? 34 - 2 * (seats) : 23) - USHER__GATE_COLOR_BITS(seats))
/* Wait in line until inside. -EINVAL: not a gate. -EUSERS: more guests than it has room for. */
USHER_API int usher_gate_enter(struct usher_gate *gate, struct usher_pass *pass);
/* The same until a time of CLOCK_MONOTONIC; NULL: for ever. The pass is all zero before the first
   call. -ETIMEDOUT: not inside. The guest keeps its place in line in the pass: call again to wait
   on, or usher_gate_leave to give the place up. */
USHER_API int usher_gate_enter_until(struct usher_gate *gate, struct usher_pass *pass,
                                     const struct timespec *deadline);
/* Inside at once, or -EAGAIN. */
USHER_API int usher_gate_try(struct usher_gate *gate, struct usher_pass *pass);
/* Leave. With a pass that has only a place in line: wait until it is its turn, and let the next one
   in. -EPERM: a pass is good for one leaving. -EINVAL: not a gate. */
USHER_API int usher_gate_leave(struct usher_gate *gate, struct usher_pass *pass);

#ifdef __cplusplus
}
#endif

#endif
