/*
 * libusher inside: the handle, the rows that this process owns, and what the files of src/pool
 * share. pool.c is a pool as a whole; acquire.c and release.c are the ways in and out; claim.c owns
 * rows of the guest table for this process, guest.c has its threads; file.c makes, opens and
 * removes pool files. Waiting is in src/wait, the dead are in src/reaper, Linux is in src/os.
 */
#ifndef USHER_POOL_H
#define USHER_POOL_H

#include "core/query.h"
#include "os/os.h"
#include "pool/format.h"
#include "pool/remote.h"
#include "reaper/reaper.h"
#include "usher.h"
#include "wait/wait.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>

/* Even numbers: the state of a guest with a seat is the request of the seat (usher_seat.request),
   which is odd. */
enum guest_state {
    GUEST_SPARE = 0, /* this process owns the row, no thread uses it */
    GUEST_IDLE = 2,  /* a thread keeps it for its next request */
    GUEST_AWAY = 4,  /* its seat was assigned to another process (usher_assign) */
    GUEST_ORPHAN = 6 /* the same, and its thread has ended */
};

/* guest.wanted: what its thread must check when it leaves (release.c). */
enum guest_wanted { GUEST_WANTED = 1, /* another thread wants its seat */ GUEST_CAREFUL = 2 };

/* A row of the guest table that this process owns. What the repeat path needs is in one cache line.
   A thread that makes `state` IDLE or SPARE does not touch the guest afterwards. */
struct guest {
    _Alignas(64) _Atomic uint64_t state; /* enum guest_state */
    uint64_t r;             /* the row's last cycle and ticket, as if it were ENTERING */
    uint64_t i, v;          /* what it published last: core/repeat.h; POOL_NOTHING: nothing */
    uint64_t until;         /* core_repeat_until */
    uint64_t mark;          /* core_seat_mark of its row */
    uint32_t row, row_at;   /* and where that is among the core's words; */
    uint32_t seat_at;       /* so is its seat */
    uint16_t seat;          /* held, or held last */
    _Atomic uint8_t wanted; /* enum guest_wanted, or 0 */
    bool noted;             /* since_ns in its row may be other than 0 */
    /* the second line */
    uint32_t cycle_end; /* the run of cycles that is reserved for it ends here: core_run */
    bool line_free;     /* and it may wait in them */
    struct core_run questions;
    uint32_t before;          /* the row of the guest that seemed to enter before it */
    bool came;                /* its thread has had a seat before: `seat` */
    struct guest *next;       /* in the pool's list; never changes */
    struct guest *next_spare; /* if it is SPARE; under the pool's mutex */
    int64_t waited_ns;        /* for the seat held, if times are noted */
    struct wait_memory wait;
    struct backoff backoff;
    uint64_t taken;       /* the request whose seat another thread gave back or assigned .. */
    uint64_t taken_state; /* .. and the state after that; under the pool's mutex, like the next */
    bool ended;           /* its thread has */
};
_Static_assert(offsetof(struct guest, cycle_end) == 64, "what the common way needs is in one line");

/* The request that published i, or could have: its row, its tag and its ticket. It repeats only
   after 2^31 tickets, and only if the tag happens to be the same. */
static inline uint64_t usher__request(uint64_t i)
{
    return i << 1 | 1;
}

static inline bool usher__is_held(uint64_t state)
{
    return state & 1;
}

static inline uint32_t usher__request_row(uint64_t request)
{
    return core_i_row(request >> 1);
}

/* Neither I nor V is ever this: nobody has that many tags. (In a damaged pool they may be, so that
   guest.seat is a seat there is even with nothing to go by.) */
#define POOL_NOTHING UINT64_MAX

/* No row to act by. */
#define POOL_NO_ROW UINT32_MAX

struct usher_pool {
    uint64_t id;   /* of this handle, never used twice in a process; above 32 bits of 0 */
    uint64_t *now; /* the process's generation as it is now: usher__generation, near at hand */
    struct core core;
    struct format_header *header;
    struct format_shape shape; /* as it was found to be right: not read from the file again */
    struct format_row *rows;
    uint64_t generation; /* of the process, as it was opened: another one after a fork */
    bool shared;         /* has a file; otherwise it is for the threads of this process */
    int fd;              /* its description has the locks of our rows; -1 after a fork */
    unsigned flags;
    int (*waiting)(struct usher_pool *pool, void *context); /* usher_options */
    void *context;
    uint32_t waiting_ms;
    struct os_self self;
    char *path;
    char *labels; /* names of the seats, separated by commas; or NULL */
    size_t size;
    bool visited;          /* a thread of ours acts by a visitor's row; under the mutex, like .. */
    int visit_cancel;      /* .. the cancellation state it had */
    pthread_mutex_t mutex; /* for the list, and for claiming rows; of this process alone */
    struct guest *guests;
    _Atomic(struct guest *) *ours; /* the same by their rows; NULL where a row is not ours */
    struct guest *spares;          /* those of them that are SPARE */
    bool reserved;                 /* os_reserve has been called for it */
    uint32_t orphans;              /* how many are ORPHAN */
    uint32_t claimed;              /* the row after the one claimed last */
    struct usher_pool *next;       /* in the registry */
    /* Of a pool that is elsewhere there is nothing but these, the path and what fork needs. It has
       no guests, so that no thread's last one is of it: the fast ways in and out never see it. */
    const struct remote_module *module; /* NULL: a pool that is here */
    struct remote *remote;
};

/* Bytes that are locked, far beyond any content: the row's owner has its byte. */
enum { POOL_LOCK_REMOVE = 1 << 30, POOL_LOCK_ROW = POOL_LOCK_REMOVE + 1 };

struct name;

/* usher.c */
/* Whether a handle may be used: 0, -USHER_EFORKED or -USHER_EREMOVED. */
int usher__pool_usable(const struct usher_pool *pool);
/* Give back the seat of a guest of ours, if it still has one. */
void usher__pool_leave(struct usher_pool *pool, struct guest *guest);

/* file.c */
int usher__file_open(struct usher_pool *pool, const char *name,
                     const struct usher_options *options);
/* Unlink the name if it still belongs to this pool's file. The remove byte is locked: no other
   process unlinks it. */
int usher__file_unlink(const struct usher_pool *pool, int directory, const char *name);
/* make.c */
/* Create the pool of a name. -EEXIST: there is one. -ENOENT: no directory; or nothing says how many
   seats it has (USHER_DEFINED). A crash leaves no pool or a complete one. */
int usher__make(const struct name *name, const struct usher_options *options);
/* Is it a list of labels without empty ones, as many as there are seats? */
bool usher__are_labels(const char *labels, uint32_t seats);
/* inspect.c: note that a seat was given back. */
void usher__past_note(struct usher_pool *pool, int64_t waited_ns, int64_t held_ns);
/* name.c: the directories in which a name is looked for. */
enum name_kind { NAME_PATH, NAME_CHOSEN, NAME_OWN, NAME_SHARED };
struct name_place {
    enum name_kind kind;
    const char *path;
};
struct name {
    const char *last; /* the name in the directory */
    unsigned count;
    struct name_place places[3]; /* the first is where a new pool is created */
    char path[PATH_MAX];         /* what the paths of places point to: this, these, or constants */
    char run[32], shm[32];
};
/* Find the places of a name. -EINVAL or -ENAMETOOLONG: it is no name. */
int usher__name_parse(const char *text, struct name *name);
/* Open a directory; with `create`, for a new pool. A descriptor or -errno. */
int usher__place_open(const struct name_place *place, bool create);
/* Find the place that has a file of this name: an open descriptor of the directory. -ENOENT: none
   has; -USHER_ETWICE: two have; or another error. */
int usher__name_find(const struct name *name, int *directory, const struct name_place **place);
/* The path of the file in a place; the caller frees it. NULL: out of memory. */
char *usher__name_path(const struct name *name, const struct name_place *place);

/* deleted.c: pools that lost their name while processes use them. */
struct deleted {
    int fd;      /* open for reading and writing, or -1 */
    char *path;  /* that it had; the caller frees it */
    pid_t *pids; /* processes that have it open or mapped */
    size_t room, count;
};
/* Find the pool that had this name, and open it with these further flags of open(2). 0; -ENOENT:
   there is none; -USHER_EDELETED: there is, but it cannot be opened; -USHER_ETWICE: there are two;
   or another error. */
int usher__deleted_find(const struct name *name, int flags, struct deleted *found);
/* How a process that only inspects a pool (USHER_INSPECT) opens it. Others see this flag in
   /proc/PID/fdinfo, and do not count that process as a user. Nothing is written by write(2), so the
   flag has no other effect. */
enum { DELETED_INSPECTOR = O_APPEND };

/* define.c: what the definition of a name says. The strings are the caller's to free. */
struct definition {
    uint32_t seats, guests;
    mode_t mode;
    gid_t group; /* 0: none */
    char *labels;
};
/* Read the definition of a name. 0; -ENOENT: there is none; -USHER_EDEFINITION: it is wrong; or
   another error. */
int usher__definition(const char *name, struct definition *definition);

/* remote.c */
/* Is that the name of a pool that is elsewhere? */
bool usher__remote_is(const char *name);
int usher__remote_open(struct usher_pool *pool, const char *name,
                       const struct usher_options *options);
int usher__remote_remove(const char *name, bool force);
/* Whether a handle of such a pool may be used: 0 or -USHER_EFORKED. */
int usher__remote_usable(const struct usher_pool *pool);

/* guest.c */
/* Once for each handle, before and after its use. */
int usher__guest_attach(struct usher_pool *pool);
void usher__guest_detach(struct usher_pool *pool);
/* Give up the descriptor in reserve (os_reserve), for a handle that needs it more for other things.
   */
void usher__guest_unreserve(struct usher_pool *pool);
/* This process as it is now: *usher__generation is 0 after a fork until a pool is opened. */
extern uint64_t *usher__generation;

/* The guests of this thread. An entry's guest lives as long as a pool with that id is open. */
struct mine_entry {
    uint64_t pool_id;
    struct guest *guest;
};
struct mine {
    struct {
        uint64_t key; /* usher__key of its pool, as it was then; so after a fork it is another */
        struct guest *guest;
    } last; /* the one used last */
    unsigned count, room;
    struct mine_entry *entries;
};
extern _Thread_local struct mine usher__mine;
static inline uint64_t usher__key(const struct usher_pool *pool)
{
    return pool->id | *pool->now;
}
/* The cycles that are reserved for the guest's row. */
static inline struct core_run usher__guest_cycles(const struct guest *guest)
{
    return (struct core_run){core_row_cycle(guest->r), guest->cycle_end, guest->line_free};
}
/* The guest's row has come to the last cycle of the run on another way than core/repeat.h's. */
static inline void usher__guest_began(struct guest *guest, const struct core_run *run)
{
    guest->r = core_row(CORE_ENTERING, run->last, 0);
    guest->cycle_end = run->end;
    guest->line_free = run->line;
    guest->i = guest->v = POOL_NOTHING;
}
static inline void usher__guest_sits(const struct usher_pool *pool, struct guest *guest,
                                     uint32_t seat)
{
    guest->seat = (uint16_t)seat;
    guest->seat_at = pool->core.at_seat + seat;
}
/* guest.wanted of a guest from which no thread wants a seat. Seats that belong to the process are
   often released by other threads: a mutex is then cheaper than the barrier. */
static inline uint8_t usher__guest_care(const struct usher_pool *pool)
{
    return (pool->flags & USHER_PROCESS_SEATS) || !os_has_barrier() ? GUEST_CAREFUL : 0;
}
/* A row for a request of this thread. 0, -USHER_EFULL or another error. */
int usher__guest_get(struct usher_pool *pool, struct guest **guest);
/* Is it this thread's? */
bool usher__guest_is_mine(const struct usher_pool *pool, const struct guest *guest);
/* A guest that is IDLE now was given back by another thread: its own may have ended meanwhile. */
void usher__guest_left(struct usher_pool *pool, struct guest *guest);
/* claim.c */
/* A guest for a thread: a spare one, or a row that is nobody's. 0, -USHER_EFULL or another error.
   This and the next are called with the pool's mutex. */
int usher__claim(struct usher_pool *pool, struct guest **claimed);
/* No thread needs this guest any more. */
void usher__claim_spare(struct usher_pool *pool, struct guest *guest);
/* Go on where its row is. */
void usher__claim_resume(const struct usher_pool *pool, struct guest *guest);
/* The guest that has this row, if it is ours. */
struct guest *usher__guest_with(const struct usher_pool *pool, uint32_t row);
/* Get a row to act by, for a process that is no guest: *by. 0; -USHER_EFULL: the visitors' rows are
   in use and the guest table is full; or another error. The pool's mutex is held until
   usher__visit_end. */
int usher__visit(struct usher_pool *pool, uint32_t *by);
void usher__visit_end(struct usher_pool *pool, uint32_t by);
/* Say that a row is ours, or whose it is. */
void usher__claim_sign(struct usher_pool *pool, uint32_t row);
void usher__guest_sign(struct usher_pool *pool, uint32_t row, const struct os_identity *identity,
                       uint32_t flags, uint32_t pid);
/* The identity of the owner of a row. A row with both flags, or with neither, has none; nor has one
   of an older version on a kernel before Linux 6.9, whose value is 0. */
static inline struct os_identity usher__row_identity(uint64_t owner, uint64_t value)
{
    uint32_t flags = format_owner_flags(owner) & (FORMAT_BY_PID | FORMAT_BY_START);
    enum os_witness witness = value == 0                 ? OS_UNKNOWN
                              : flags == FORMAT_BY_PID   ? OS_BY_INODE
                              : flags == FORMAT_BY_START ? OS_BY_START
                                                         : OS_UNKNOWN;
    return (struct os_identity){witness, witness == OS_UNKNOWN ? 0 : value};
}
static inline bool usher__same_identity(const struct os_identity *a, const struct os_identity *b)
{
    return a->witness != OS_UNKNOWN && a->witness == b->witness && a->value == b->value;
}
/* Can we ask about the owner of a row by its pid? */
static inline bool usher__is_askable(const struct usher_pool *pool, uint64_t owner,
                                     const struct os_identity *identity)
{
    return identity->witness != OS_UNKNOWN && pool->self.identity.witness != OS_UNKNOWN &&
           pool->self.pid_namespace != 0 &&
           format_owner_namespace(owner) == pool->self.pid_namespace;
}
/* Is the owner of a row this process? */
static inline bool usher__is_self(const struct usher_pool *pool, uint64_t owner,
                                  const struct os_identity *identity)
{
    return format_owner_pid(owner) == pool->self.pid &&
           format_owner_namespace(owner) == pool->self.pid_namespace &&
           usher__same_identity(identity, &pool->self.identity);
}

/* sit.c */
/* Claim a seat for a granted guest. It may take several rounds while seats are taken and freed.
   *inherited: the last holder did not release it. 0; -USHER_EDAMAGED: no seat is free, so the pool
   is damaged; -USHER_EFULL: too many guests are stopped in the middle of an operation
   (core_reserve). */
int usher__sit(struct usher_pool *pool, struct guest *guest, uint32_t ticket, bool *inherited);
/* Finish what I says, and what V says unless `only_i`. */
void usher__help(struct usher_pool *pool, const struct guest *guest, bool only_i);

/* release.c */
/* The guest of this process that holds the seat, or NULL. */
struct guest *usher__held_by(const struct usher_pool *pool, const struct usher_seat *seat);
/* Take the seat from the thread that acquired it, to release it, to assign it or to spawn with it.
   NULL: *error is -EPERM or -ENOSYS. In both cases the pool's mutex is locked until
   usher__take_over_done, which sets the guest's state. */
struct guest *usher__take_over(struct usher_pool *pool, const struct usher_seat *seat, int *error);
void usher__take_over_done(struct usher_pool *pool, struct guest *guest, enum guest_state state);
/* assign.c */
/* Give back an assigned seat for the process that holds it, in the cycle that was read before.
   Whether the caller is the first to do so. */
bool usher__release_assigned(struct pool_act *act, uint32_t row, uint32_t cycle);

/* wait/park.c */
/* Wait until the guest, which has a place in the line, is granted a seat. Notes in its row since
   when it waits. 0, -ETIMEDOUT, -ECANCELED or -USHER_EREMOVED. */
int usher__park(struct usher_pool *pool, struct guest *guest, int64_t deadline_ns);
/* Wake all waiters, so that they see that the pool is removed. */
void usher__wake_all(struct usher_pool *pool);

/* The line, of core/query.h. */
static inline void usher__line_begin(const struct usher_pool *pool, struct core_line_walk *walk)
{
    core_line_begin(&pool->core, walk);
}
static inline bool usher__line_next(const struct usher_pool *pool, struct core_line_walk *walk,
                                    uint32_t *row, uint64_t *word, uint32_t *ticket)
{
    return core_line_next(&pool->core, walk, row, word, ticket);
}
static inline uint32_t usher__line_ahead(const struct usher_pool *pool)
{
    return core_line_ahead(&pool->core);
}
static inline uint32_t usher__line_waiters(const struct usher_pool *pool)
{
    return core_line_waiters(&pool->core);
}

static inline uint64_t usher__row_word(const struct usher_pool *pool, uint32_t row)
{
    return atomic_load(&pool->rows[row].word);
}

/* A time that a process has noted in the file; 0: none, or an impossible one. */
static inline int64_t usher__noted_ns(int64_t ns)
{
    return ns > 0 ? ns : 0;
}

static inline uint32_t usher__seats(const struct usher_pool *pool)
{
    uint32_t seats = core_k_seats(atomic_load(&pool->core.words[CORE_AT_K(&pool->core)]));
    return seats <= pool->core.seats ? seats : pool->core.seats;
}

static inline uint32_t usher__rows_used(const struct usher_pool *pool)
{
    uint32_t used = atomic_load(&pool->header->rows_used);
    return used < pool->core.rows ? used : pool->core.rows;
}

#endif
