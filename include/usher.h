/*
 * libusher: k seats, handed out in order of arrival, to processes and threads that may be killed or
 * stopped at any instruction. usher(7) explains the ideas, usher(3) every call.
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
 * Every call returns 0 (or a count, where it says so) or a negative errno value. All may be used by
 * any number of threads at once.
 *
 * What a crash leaves behind: a process that ends in any way while it waits or holds a seat, or in
 * the middle of a call, costs the others nothing: whoever looks next finishes what it left. A
 * process that is stopped keeps what it has, and delays nobody beyond that.
 */
#ifndef USHER_H
#define USHER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define USHER_API __attribute__((visibility("default")))

struct usher_pool; /* a pool as one process has opened it */

/* usher_options.flags */
#define USHER_EXISTING 1U  /* do not create: -ENOENT if there is no such pool */
#define USHER_EXCLUSIVE 2U /* create: -EEXIST if there is one already */
#define USHER_KEEP 4U      /* what is held stays held when this process calls exec */
#define USHER_TIMES 8U     /* note when seats are taken, for usher_inspect, however brief a wait */

/* How to open a pool. All zero: an existing one as it is, or a new one with one seat. */
struct usher_options {
    uint32_t seats;  /* of a new pool; an existing one must have as many. 0: any, or 1 if new */
    uint32_t guests; /* rows for threads that use a new pool at a time, <= 65535. 0: 1024 */
    mode_t mode;     /* of a new pool's file. 0: 0600 */
    unsigned flags;  /* USHER_EXISTING .. */
    /* If not NULL: called by the thread that waits, in a wait, every waiting_ms (0: never for the
       time alone) and when a signal handler has run. If it returns anything but 0 the wait is over:
       -ECANCELED, and the place in line is gone. It may inspect the pool. */
    int (*waiting)(struct usher_pool *pool, void *context);
    void *context;
    uint32_t waiting_ms;
    uint32_t reserved[1]; /* zero */
    /* What usher_inspect tells others of us, in a pool on ZooKeeper; of processes on this machine
       /proc tells. Copied, and cut to what fits in usher_guest. */
    const char *labels; /* names of seats 0, 1, .., with commas in between; or NULL */
    const char *note;   /* such as the command line; or NULL */
};

/* usher_seat.flags */
/* The last holder of this seat ended without giving it back, or called exec: what it used may need
   care. */
#define USHER_INHERITED 1U

/* A seat that is held. Only usher_acquire and its like fill it in; a copy is as good. */
struct usher_seat {
    uint32_t number;  /* 0 to k-1; no two live holders have the same */
    uint32_t flags;   /* USHER_INHERITED */
    uint64_t ticket;  /* the place in line it was had with: counts up, and starts over after 2^32 */
    uint64_t request; /* which request of whom this is: for usher_release */
};

/*
 * Open the pool of that name; create it if there is none. A name without a slash is a file in
 * $USHER_DIR, else in $XDG_RUNTIME_DIR/usher, else in /dev/shm/usher-UID; one with a slash is a
 * path. NULL: a pool for the threads of this process, without a file. zk://HOST[:PORT],../PATH: a
 * pool on ZooKeeper, for many machines; usher(7) says what is different there.
 *
 *     -EINVAL        a name that is empty, begins with a dot or has control characters; options
 *                    that are unknown, contradict each other, or are not zero where they must be
 *     -ENAMETOOLONG  longer than 200 bytes, or than a path can be
 *     -ERANGE        more seats or guests than a pool can have
 *     -EDOM          the pool has another number of seats
 *     -ENOENT        no such pool (USHER_EXISTING), or no such directory
 *     -EEXIST        there is one already (USHER_EXCLUSIVE)
 *     -EACCES        no permission; -ELOOP a symbolic link; -ENODEV not a regular file
 *     -EKEYREJECTED  the file or its directory belongs to somebody who could deceive us
 *     -ENODATA       an empty file; -EMSGSIZE a truncated one; -EBADMSG not a pool at all
 *     -EPROTONOSUPPORT  a pool of another format; -EUCLEAN a damaged one
 *     -ENOLCK        the file system has no locks; -ENOSPC, -ENOMEM, -EMFILE and the like
 *     -ENOTCONN      no server answers; -EHOSTUNREACH no such host; -ELIBACC usher-zk.so or what it
 *                    needs is not installed; -EOPNOTSUPP pools on ZooKeeper do not have that
 *                    option; -ENOPKG no TLS here
 *
 * After a failure *pool is NULL, and nothing has changed but that there may be a new pool.
 */
USHER_API int usher_open(struct usher_pool **pool, const char *name,
                         const struct usher_options *options);

/*
 * Wait in line for a seat. Signals do not end the wait. Whoever came first is served first.
 *
 *     -EUSERS  the pool's guest table is full: each thread that has used the pool keeps a row until
 *              it ends, and a row more for each further seat it holds at a time
 *     -EIDRM   the pool has been removed
 *     -EKEYREVOKED  on ZooKeeper: somebody has deleted the ticket; ask again
 *     -ECANCELED  usher_options.waiting said so
 *     -EUCLEAN  the pool is damaged: a seat is granted, and there is none
 *     -ESTALE  the handle came through fork: open the pool anew in the child
 */
USHER_API int usher_acquire(struct usher_pool *pool, struct usher_seat *seat);

/*
 * The same, but give up at an absolute time of CLOCK_MONOTONIC: -ETIMEDOUT. Either the seat is held
 * or the place in line is gone; a deadline in the past still gets a seat that is free. NULL: never.
 */
USHER_API int usher_acquire_until(struct usher_pool *pool, struct usher_seat *seat,
                                  const struct timespec *deadline);

/* A seat now, or -EAGAIN: none is free, or somebody waits who came before. */
USHER_API int usher_try_acquire(struct usher_pool *pool, struct usher_seat *seat);

/*
 * Give a seat back; the next in line has it at once. Any thread of the process may.
 *
 *     -EPERM   this process does not hold that seat: never did, or has given it back already
 *     -ENOSYS  another thread acquired it, and the kernel refuses membarrier(2): only that
 *              thread can give it back
 *     -EKEYREVOKED  on ZooKeeper: somebody has deleted its ticket, so it was given on before that
 */
USHER_API int usher_release(struct usher_pool *pool, struct usher_seat *seat);

/*
 * Make the process `pid`, which must be alive and in our pid namespace, the holder of a seat of
 * ours: it is held until that process ends, even if we end before, or until usher_release_for.
 * After that usher_release of it fails with -EPERM. -ESRCH: no such process. -ENOSYS: this kernel
 * could not prove its death. From another pid namespace it cannot be told whether it lives, so
 * that there the seat is held until somebody of ours looks.
 */
USHER_API int usher_assign(struct usher_pool *pool, struct usher_seat *seat, pid_t pid);

/* Until when a seat is ours, and a number for whatever it protects. */
struct usher_lease {
    uint64_t fence;  /* grows with each seat that the pool grants, across all of its seats */
    int64_t left_ns; /* so long it is certainly ours yet, if nobody is heard from meanwhile */
};

/*
 * Ask about a seat that is held. One of a pool on ZooKeeper is lost when its servers have not been
 * heard from for too long: they give it on then. This says so before they do, if our clock and
 * theirs run at about the same speed, and asks nobody. What is done with a lost seat must stop;
 * and what it protects can refuse a fence that is less than one it has seen. A seat of a pool on
 * this machine is not lost: left_ns is INT64_MAX, and fence its ticket.
 *
 *     -EPERM        not held here
 *     -EKEYEXPIRED  lost; usher_release it
 */
USHER_API int usher_check(struct usher_pool *pool, const struct usher_seat *seat,
                          struct usher_lease *lease);

/* Give back every seat that is assigned to `pid`: how many there were, or -errno. -EUSERS:
   eight other processes are in this call or in usher_reap, or are stopped there, and the guest
   table is full; try again. */
USHER_API int usher_release_for(struct usher_pool *pool, pid_t pid);

/* Finish what dead guests have left. Waiters do this by themselves. How many guests, or -errno.
   -EUSERS as for usher_release_for. */
USHER_API int usher_reap(struct usher_pool *pool);

/*
 * Change the number of seats. More: the next in line enter at once. Fewer: seats go as they come
 * free; nobody is thrown out. 0: nobody enters any more. -ERANGE: more than this pool has room for
 * (usher_info.most_seats). -EUCLEAN: the pool is damaged, and has more seats already.
 */
USHER_API int usher_resize(struct usher_pool *pool, uint32_t seats);

/* The state of a pool at about one instant. */
struct usher_info {
    uint32_t seats, free; /* k, and how many of them nobody has */
    uint32_t owed;        /* seats that go as soon as their holders leave (usher_resize) */
    uint32_t holders, waiters;
    uint32_t guests,
        guests_used; /* rows of the guest table; rows that some process has for itself */
    uint32_t most_seats;
    uint64_t served, gave_up, reaped; /* since the pool was made */
    uint64_t reserved[4];
};

/* A holder or a waiter. */
struct usher_guest {
    uint32_t seat;     /* of a holder; UINT32_MAX while it has not sat down, and for waiters */
    uint32_t position; /* of a waiter: 1 is next; 0: a holder */
    pid_t pid;         /* 0: of another pid namespace or machine, or a thread of a pool without a
                          file */
    int alive;         /* 1 alive, 0 certainly dead, -1 cannot tell */
    uint64_t ticket;   /* of one that has been inside for long only the low 20 bits are certain */
    int64_t since_ns;  /* CLOCK_MONOTONIC when it began to hold or to wait; 0: not noted */
    uint64_t reserved[1];
    /* Of a pool on ZooKeeper; otherwise 0 and "". */
    uint64_t fence; /* of a holder: usher_lease.fence */
    char where[80]; /* PID@MACHINE */
    char label[32]; /* of a holder's seat: usher_options.labels of the holder */
    char note[128]; /* usher_options.note */
};

/*
 * Look at a pool. Fills info, and at most `capacity` guests: the holders by seat, then the waiters
 * in order. Returns how many guests there are, which may be more than fitted, or -errno. Changes
 * nothing. Either pointer may be NULL.
 */
USHER_API int usher_inspect(struct usher_pool *pool, struct usher_info *info,
                            struct usher_guest *guests, size_t capacity);

/* A seat that was given back, by a process that notes times (USHER_TIMES). */
struct usher_past {
    int64_t ended_ns; /* CLOCK_MONOTONIC */
    uint32_t waited_ms, held_ms;
};

/* The last seats given back, the newest first. How many there are to tell of, at most 220. */
USHER_API int usher_history(struct usher_pool *pool, struct usher_past *past, size_t capacity);

/*
 * Verify every relation that always holds in a pool, and say in a sentence each that does not:
 * `say` is called with it. Returns how many; it changes nothing. In a pool that is in use a
 * relation may seem broken for a moment: what is still so a second later is so.
 */
USHER_API int usher_verify(struct usher_pool *pool,
                           void (*say)(void *context, const char *sentence), void *context);

/* The directory where names without a slash are. 0, or -ENAMETOOLONG if it does not fit. */
USHER_API int usher_directory(char *path, size_t room);

/* The path of a pool's file; "" for a pool of threads. Lives as long as the handle. */
USHER_API const char *usher_path(struct usher_pool *pool);

/* Detach. What this process holds through this handle is given back. No call may be under way. */
USHER_API void usher_close(struct usher_pool *pool);

/*
 * Remove a pool. -EBUSY: somebody holds a seat or waits. A process that still has it open gets
 * -EIDRM from then on, except for giving back; whoever opens the name gets a new pool.
 */
USHER_API int usher_remove(const char *name);
/* The same while it is in use: those who wait get -EIDRM, those who hold keep what they have,
   unseen by whoever opens the name then. */
USHER_API int usher_discard(const char *name);

/* What an error of this library means, in a sentence that says what to do. Never NULL. */
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
