/*
 * The way through a pool: open, acquire, release, resize, close. Seats and tickets are the core's
 * (src/core); rows are guest.c's; waiting is wait.c's.
 */
#include "core/again.h"
#include "core/fast.h"
#include "lib/lib.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A row that was granted a seat, and whose sleeper was not there to be woken: row + 1. */
static _Thread_local uint32_t absent;

/* The core has granted a seat to a row. */
static void wake(void *context, uint32_t row)
{
    struct usher_pool *pool = context;
    if (row < pool->core.rows && (atomic_load(&pool->rows[row].watch) & FORMAT_WAITS) &&
        os_wake(&pool->rows[row].word, pool->shared) == 0) {
        absent = row + 1;
    }
}

/* A waiter that was killed in its sleep is granted its seat like any other, and would keep the line
   waiting until somebody looks: but nobody woke, so look now. */
void usher__pool_settle(struct usher_pool *pool)
{
    int cancel;
    if (absent == 0) {
        return;
    }
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    while (absent != 0) {
        uint32_t row = absent - 1;
        absent = 0;
        if (pool->shared && row < pool->core.rows) {
            (void)usher__alive_reap(pool, row);
        }
    }
    (void)pthread_setcancelstate(cancel, NULL);
}

static int open_threads(struct usher_pool *pool, const struct usher_options *options)
{
    struct format_shape shape;
    if (usher__format_shape(&shape, options->seats == 0 ? 1 : options->seats, options->guests)) {
        return -ERANGE;
    }
    void *memory =
        mmap(NULL, shape.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return -errno;
    }
    pool->header = memory;
    pool->header->shape = shape;
    pool->size = shape.size;
    pool->path = strdup("");
    return pool->path == NULL ? -ENOMEM : 0;
}

static void lay_out(struct usher_pool *pool)
{
    const struct format_shape *shape = &pool->header->shape;
    char *bytes = (char *)pool->header;
    pool->rows = (void *)(bytes + shape->rows_at);
    pool->core = (struct core){
        .words = (void *)(bytes + FORMAT_WORDS),
        .rows = shape->guests,
        .seats = shape->most_seats,
        .line_mask = shape->places - 1,
        .at_line = (uint32_t)((shape->line_at - FORMAT_WORDS) / 8),
        .at_seat = (uint32_t)((shape->seats_at - FORMAT_WORDS) / 8),
        .wake = wake,
        .wake_context = pool,
    };
}

static void discard(struct usher_pool *pool)
{
    if (pool->header != NULL) {
        (void)munmap(pool->header, pool->size);
    }
    if (pool->fd >= 0) {
        (void)close(pool->fd);
    }
    free(pool->path);
    free(pool);
}

static bool acceptable(const struct usher_options *options)
{
    const unsigned known = USHER_EXISTING | USHER_EXCLUSIVE | USHER_KEEP | USHER_TIMES;
    uint32_t rest = 0;
    for (unsigned i = 0; i < sizeof options->reserved / sizeof options->reserved[0]; i++) {
        rest |= options->reserved[i];
    }
    return (options->flags & ~known) == 0 && rest == 0 &&
           (options->flags & (USHER_EXISTING | USHER_EXCLUSIVE)) !=
               (USHER_EXISTING | USHER_EXCLUSIVE);
}

int usher_open(struct usher_pool **opened, const char *name, const struct usher_options *options)
{
    static const struct usher_options plain;
    options = options == NULL ? &plain : options;
    if (opened == NULL) {
        return -EINVAL;
    }
    *opened = NULL;
    if (!acceptable(options)) {
        return -EINVAL;
    }
    struct usher_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL) {
        return -ENOMEM;
    }
    pool->fd = -1;
    pool->flags = options->flags;
    pool->waiting = options->waiting;
    pool->context = options->context;
    pool->waiting_ms = options->waiting_ms;
    pool->shared = name != NULL;
    int error = pool->shared ? usher__file_open(pool, name, options) : open_threads(pool, options);
    if (error == 0) {
        lay_out(pool);
        if (!pool->shared) {
            core_init(&pool->core, pool->header->shape.seats);
        }
        error = usher__guest_attach(pool);
    }
    if (error != 0) {
        discard(pool);
        return error;
    }
    *opened = pool;
    return 0;
}

void usher_close(struct usher_pool *pool)
{
    if (pool != NULL) {
        usher__guest_detach(pool);
        discard(pool);
    }
}

const char *usher_path(struct usher_pool *pool)
{
    return pool->path;
}

static inline __attribute__((always_inline)) int usable(const struct usher_pool *pool)
{
    if (pool->generation != *usher__generation) {
        return -ESTALE;
    }
    return atomic_load_explicit(&pool->header->removed, memory_order_relaxed) != 0 ? -EIDRM : 0;
}

int usher__pool_usable(const struct usher_pool *pool)
{
    return usable(pool);
}

/* The guest has a ticket and a seat: note that, and fill in what the caller gets. */
static inline void seated(struct usher_pool *pool, struct guest *guest, struct usher_seat *seat,
                          bool inherited)
{
    *seat = (struct usher_seat){.number = guest->seat,
                                .flags = inherited ? USHER_INHERITED : 0,
                                .ticket = guest->ticket,
                                .cycle = guest->cycle,
                                .guest = guest->row};
    atomic_store_explicit(&guest->state, GUEST_HELD, memory_order_relaxed);
    if (pool->flags & USHER_TIMES) {
        atomic_store(&pool->rows[guest->row].since_ns, os_now_ns());
    }
}

/* It has been given back: the times are for usher_history, and not for the next one in this row. */
static __attribute__((noinline)) void note_times(struct usher_pool *pool, struct guest *guest,
                                                 int64_t since)
{
    if (pool->flags & USHER_TIMES) {
        usher__past_note(pool, guest->waited_ns, os_now_ns() - since);
    }
    guest->waited_ns = 0;
    atomic_store(&pool->rows[guest->row].since_ns, 0);
}

/* How many seats to look at for a free one: the pool's k; and if those will not do, as many as a
   shrinking pool still has. Among these there is one for everybody who is granted a ticket. */
static uint32_t seats_to_look_at(const struct usher_pool *pool, unsigned round)
{
    uint32_t seats = usher__seats(pool);
    uint32_t owed = core_v_owed(atomic_load(&pool->core.words[CORE_AT_V(&pool->core)]));
    if (round < 20 || owed == 0) {
        return seats;
    }
    return owed < pool->core.seats - seats ? seats + owed : pool->core.seats;
}

/* Claim a seat for a granted guest: it may take more than one look, if they are taken and freed
   around us. A pool in which there is none has been damaged. */
static int claim(struct usher_pool *pool, struct guest *guest, bool *inherited)
{
    struct core within = pool->core;
    for (unsigned round = 0; round < 10000; round++) {
        struct core_claim claim = {.row = guest->row, .cycle = guest->cycle};
        within.seats = seats_to_look_at(pool, round);
        claim.first = guest->seat < within.seats ? guest->seat : 0;
        (void)core_claim(&within, &claim);
        if (claim.ok) {
            guest->seat = claim.seat;
            *inherited = claim.inherited;
            return 0;
        }
        struct core_help help = {0}; /* whoever has grown the pool may not have counted that yet */
        (void)core_help(&pool->core, &help);
    }
    usher__alive_bury(pool, guest->row, guest->cycle, true);
    return -EUCLEAN;
}

/* Try to enter with a ticket that is valid. 0, -EAGAIN: there is none. */
static inline __attribute__((always_inline)) int enter(struct usher_pool *pool, struct guest *guest,
                                                       struct usher_seat *seat)
{
    struct core_enter f;
    f.row = guest->row;
    f.cycle = guest->cycle;
    f.absorb = false;
    /* a seat that it had before, unless the pool has shrunk below it */
    f.seat = guest->seat;
    if (f.seat >= core_k_seats(atomic_load(&pool->core.words[CORE_AT_K(&pool->core)]))) {
        f.seat = 0;
    }
    (void)core_enter(&pool->core, &f);
    guest->cycle = f.cycle;
    if (!f.granted) {
        return f.again || f.untidy ? -EBUSY : -EAGAIN;
    }
    guest->ticket = f.ticket;
    guest->i = core_i(f.ticket, guest->row, (uint32_t)f.cycle & CORE_I_TAGS(&pool->core));
    if (!f.seated) {
        return -EXFULL;
    }
    if (guest->seat != f.seat) {
        guest->seat = f.seat;
    }
    seated(pool, guest, seat, (f.word & CORE_SEAT_DIED) != 0);
    return 0;
}

/* A granted guest without a seat. */
static __attribute__((noinline)) int sit(struct usher_pool *pool, struct guest *guest,
                                         struct usher_seat *seat)
{
    bool inherited = false;
    int error = claim(pool, guest, &inherited);
    if (error == 0) {
        seated(pool, guest, seat, inherited);
    }
    return error;
}

/* Enter, whatever has to be tidied up first; but do not wait. */
static int enter_now(struct usher_pool *pool, struct guest *guest, struct usher_seat *seat)
{
    for (;;) {
        int error = enter(pool, guest, seat);
        if (error == -EXFULL) {
            return sit(pool, guest, seat);
        }
        if (error != -EBUSY) {
            return error;
        }
        struct core_tidy tidy = {.row = guest->row, .cycle = guest->cycle};
        (void)core_tidy(&pool->core, &tidy);
        guest->cycle = tidy.cycle;
        usher__pool_settle(pool);
    }
}

/* Take a place in line and wait. */
static int queue(struct usher_pool *pool, struct guest *guest, struct usher_seat *seat,
                 int64_t deadline_ns)
{
    struct core_take take = {.row = guest->row, .cycle = guest->cycle};
    int error = 0;
    guest->i = LIB_NOTHING;
    for (unsigned tries = 0; tries == 0 || take.full; tries++) {
        if (tries == 100) {
            return -EUSERS; /* as many wait as there are places */
        }
        take = (struct core_take){.row = guest->row, .cycle = guest->cycle};
        take.seat = guest->seat < usher__seats(pool) ? guest->seat : 0;
        (void)core_take(&pool->core, &take);
        guest->cycle = take.cycle;
    }
    if (take.granted && take.enter.granted && take.enter.seated) {
        guest->ticket = take.ticket;
        guest->seat = take.enter.seat;
        seated(pool, guest, seat, (take.enter.word & CORE_SEAT_DIED) != 0);
        return 0;
    }
    if (!take.granted) {
        int64_t began = os_now_ns();
        atomic_store(&pool->rows[guest->row].since_ns, began);
        error = usher__wait(pool, guest, deadline_ns);
        if (error != 0) {
            atomic_store(&pool->rows[guest->row].since_ns, 0);
            return error;
        }
        guest->waited_ns = os_now_ns() - began;
        atomic_store(&pool->rows[guest->row].since_ns, began + guest->waited_ns);
        take.ticket = core_row_ticket(usher__row_word(pool, guest->row));
    }
    /* The row keeps few bits of a ticket; I has more of them, and is not far ahead. */
    uint32_t issue = core_i_issue(atomic_load(&pool->core.words[CORE_AT_I(&pool->core)]));
    guest->ticket = issue - (uint32_t)core_ticket_after(issue, take.ticket);
    return sit(pool, guest, seat);
}

/* Inside. But the pool may have been removed meanwhile: whoever removes it says so first and looks
   then whether anybody is in, and we are in first and look then. */
static inline int unless_removed(struct usher_pool *pool, struct guest *guest)
{
    if (atomic_load_explicit(&pool->header->removed, memory_order_relaxed) == 0) {
        return 0;
    }
    (void)usher__pool_leave(pool, guest, guest->cycle);
    return -EIDRM;
}

static __attribute__((noinline)) int acquire_slowly(struct usher_pool *pool, struct guest *guest,
                                                    struct usher_seat *seat, int64_t deadline_ns)
{
    int cancel;
    int error = usher__pool_usable(pool);
    if (error != 0) {
        return error;
    }
    /* A thread cancelled in the middle would leave its row as if it waited on. */
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    error = enter_now(pool, guest, seat);
    if (error == -EAGAIN && deadline_ns == INT64_MIN) {
        usher__wait_look(pool); /* a holder may be dead */
        error = enter_now(pool, guest, seat);
    } else if (error == -EAGAIN) {
        error = queue(pool, guest, seat, deadline_ns);
    }
    usher__pool_settle(pool);
    (void)pthread_setcancelstate(cancel, NULL);
    return error == 0 ? unless_removed(pool, guest) : error;
}

static __attribute__((noinline)) int sit_or_leave(struct usher_pool *pool, struct guest *guest,
                                                  struct usher_seat *seat)
{
    int error = sit(pool, guest, seat);
    return error == 0 ? unless_removed(pool, guest) : error;
}

/* The guest was not the last to come and go. */
static __attribute__((noinline)) int acquire_after(struct usher_pool *pool, struct guest *guest,
                                                   struct usher_seat *seat, int64_t deadline_ns)
{
    int error = enter(pool, guest, seat);
    if (error == -EXFULL) {
        return sit_or_leave(pool, guest, seat);
    }
    return error == 0 ? unless_removed(pool, guest)
                      : acquire_slowly(pool, guest, seat, deadline_ns);
}

static __attribute__((noinline)) int first_acquire(struct usher_pool *pool, struct usher_seat *seat,
                                                   int64_t deadline_ns)
{
    struct guest *guest;
    int error = usher__guest_get(pool, &guest);
    return error != 0 ? error : acquire_slowly(pool, guest, seat, deadline_ns);
}

/* deadline_ns INT64_MIN: do not wait at all. */
static inline __attribute__((always_inline)) int
acquire(struct usher_pool *pool, struct usher_seat *seat, int64_t deadline_ns)
{
    struct guest *guest = usher__mine.last.guest;
    if (pool->generation != *usher__generation) {
        return -ESTALE;
    }
    if (usher__mine.last.pool_id != pool->id ||
        atomic_load_explicit(&guest->state, memory_order_acquire) != GUEST_IDLE) {
        return first_acquire(pool, seat, deadline_ns);
    }
    struct core_again f;
    f.row = guest->row;
    f.seat = guest->seat;
    f.cycle = guest->cycle;
    f.i = guest->i;
    f.v = guest->v;
    (void)core_enter_again(&pool->core, &f);
    guest->cycle = f.cycle;
    if (!f.granted) {
        return acquire_after(pool, guest, seat, deadline_ns);
    }
    guest->i = f.i;
    guest->ticket = f.ticket;
    if (!f.seated) {
        return sit_or_leave(pool, guest, seat);
    }
    seated(pool, guest, seat, (f.word & CORE_SEAT_DIED) != 0);
    return unless_removed(pool, guest);
}

int usher_acquire(struct usher_pool *pool, struct usher_seat *seat)
{
    return acquire(pool, seat, INT64_MAX);
}

int usher_acquire_until(struct usher_pool *pool, struct usher_seat *seat,
                        const struct timespec *deadline)
{
    int64_t deadline_ns = INT64_MAX;
    if (deadline != NULL) {
        if (deadline->tv_nsec < 0 || deadline->tv_nsec >= 1000000000) {
            return -EINVAL;
        }
        if (deadline->tv_sec < 0) {
            deadline_ns = 0;
        } else if (deadline->tv_sec < INT64_MAX / 1000000000 - 1) {
            deadline_ns = (int64_t)deadline->tv_sec * 1000000000 + deadline->tv_nsec;
        }
    }
    return acquire(pool, seat, deadline_ns);
}

int usher_try_acquire(struct usher_pool *pool, struct usher_seat *seat)
{
    return acquire(pool, seat, INT64_MIN);
}

/* Its seat is free, its row is LEAVING, and V may have been published. */
static __attribute__((noinline)) void leave_slowly(struct usher_pool *pool, struct guest *guest,
                                                   bool published, uint64_t v)
{
    struct core_leave_slowly slow = {.leave = {.row = guest->row, .published = published, .v = v}};
    slow.leave.r = core_row(CORE_LEAVING, guest->cycle, guest->ticket);
    guest->v = LIB_NOTHING;
    (void)core_leave_slowly(&pool->core, &slow);
    usher__pool_settle(pool);
}

static inline void left(struct usher_pool *pool, struct guest *guest)
{
    struct format_row *row = &pool->rows[guest->row];
    uint64_t served = atomic_load_explicit(&row->served, memory_order_relaxed);
    atomic_store_explicit(&row->served, served + 1, memory_order_relaxed);
    int64_t since = atomic_load_explicit(&row->since_ns, memory_order_relaxed);
    if (since != 0) {
        note_times(pool, guest, since);
    }
    atomic_store_explicit(&guest->state, GUEST_IDLE, memory_order_release);
}

/* For a guest that was not the last to leave. */
static __attribute__((noinline)) int leave(struct usher_pool *pool, struct guest *guest)
{
    struct core_leave f;
    f.row = guest->row;
    f.r = core_row(CORE_LEAVING, guest->cycle, guest->ticket);
    f.seat = guest->seat;
    (void)core_leave(&pool->core, &f);
    if (!f.ours) {
        return -EPERM;
    }
    if (!f.done) {
        leave_slowly(pool, guest, f.published, f.v);
    } else {
        /* A seat beyond those that a shrunk pool has is not for the next time. */
        guest->v = core_v_owed(f.v) == 0 && guest->seat < usher__seats(pool) ? f.v : LIB_NOTHING;
    }
    left(pool, guest);
    return 0;
}

static inline __attribute__((always_inline)) int leave_again(struct usher_pool *pool,
                                                             struct guest *guest)
{
    struct core_again f;
    if (guest->v == LIB_NOTHING) {
        return leave(pool, guest);
    }
    f.row = guest->row;
    f.seat = guest->seat;
    f.cycle = guest->cycle;
    f.ticket = guest->ticket;
    f.v = guest->v;
    (void)core_leave_again(&pool->core, &f);
    if (!f.ours) {
        return -EPERM;
    }
    if (!f.done) {
        leave_slowly(pool, guest, f.published, f.v);
    } else {
        guest->v = f.v;
    }
    left(pool, guest);
    return 0;
}

int usher__pool_leave(struct usher_pool *pool, struct guest *guest, uint64_t cycle)
{
    return guest->cycle == cycle ? leave_again(pool, guest) : -EPERM;
}

/* A seat that another thread had, perhaps; and several may be giving it back at once, while its own
   has it anew. So all is known from shared words: what the guest notes for itself may be changing. */
static __attribute__((noinline)) int release_for_another(struct usher_pool *pool,
                                                         const struct usher_seat *seat)
{
    struct guest *guest = usher__guest_with(pool, seat->guest);
    if (guest == NULL || atomic_load(&guest->state) != GUEST_HELD ||
        seat->number >= pool->core.seats) {
        return -EPERM;
    }
    uint64_t word = usher__row_word(pool, guest->row);
    struct core_leave_slowly slow = {.leave = {.row = guest->row, .seat = seat->number}};
    slow.leave.r = core_row(CORE_LEAVING, seat->cycle, core_row_ticket(word));
    if (core_row_cycle(word) != seat->cycle) {
        return -EPERM;
    }
    (void)core_leave(&pool->core, &slow.leave);
    if (!slow.leave.ours) {
        return -EPERM;
    }
    if (!slow.leave.done) {
        (void)core_leave_slowly(&pool->core, &slow);
        usher__pool_settle(pool);
    }
    left(pool, guest);
    usher__guest_left(pool, guest);
    return 0;
}

int usher_release(struct usher_pool *pool, struct usher_seat *seat)
{
    struct guest *guest = usher__mine.last.guest;
    if (pool->generation != *usher__generation) {
        return -ESTALE;
    }
    if (usher__mine.last.pool_id != pool->id || guest->row != seat->guest) {
        return release_for_another(pool, seat);
    }
    if (atomic_load_explicit(&guest->state, memory_order_acquire) != GUEST_HELD ||
        guest->cycle != seat->cycle || guest->seat != seat->number) {
        return -EPERM;
    }
    return leave_again(pool, guest);
}

int usher_resize(struct usher_pool *pool, uint32_t seats)
{
    struct guest *guest;
    int error = usher__pool_usable(pool);
    if (error == 0 && seats > pool->core.seats) {
        error = -ERANGE;
    }
    if (error == 0) {
        error = usher__guest_get(pool, &guest);
    }
    /* A seat at a time, so that wherever this ends the pool is right. */
    while (error == 0 && usher__seats(pool) != seats) {
        struct core_resize resize = {
            .row = guest->row, .cycle = guest->cycle, .grow = usher__seats(pool) < seats};
        (void)core_resize(&pool->core, &resize);
        guest->cycle = resize.cycle;
        usher__pool_settle(pool);
    }
    return error;
}

int usher_assign(struct usher_pool *pool, struct usher_seat *seat, pid_t pid)
{
    uint64_t identity;
    if (pool->generation != *usher__generation) {
        return -ESTALE;
    }
    if (!pool->shared || pid <= 0) {
        return -EINVAL;
    }
    struct guest *guest = usher__guest_with(pool, seat->guest);
    if (guest == NULL || atomic_load(&guest->state) != GUEST_HELD || guest->cycle != seat->cycle) {
        return -EPERM;
    }
    int error = os_identity(pid, &identity);
    if (error != 0) {
        return error;
    }
    if (identity == 0 || pool->self.pid_namespace == 0) {
        return -ENOSYS; /* its death could not be proved */
    }
    if (os_process_ended(pid, identity)) {
        return -ESRCH;
    }
    /* A child that assigns the seat to itself, before exec, has the row's lock with USHER_KEEP, too;
       of any other process we do not know that. */
    bool has_lock = (pool->flags & USHER_KEEP) && pid == getpid();
    usher__guest_sign(pool, guest->row, identity,
                      FORMAT_BY_PID | FORMAT_ASSIGNED | (has_lock ? FORMAT_BY_LOCK : 0),
                      (uint32_t)pid);
    atomic_store(&guest->state, GUEST_AWAY);
    return 0;
}

/* Give back a seat that is assigned, in the cycle read before. Whether we were the first to. */
static bool release_assigned(struct usher_pool *pool, uint32_t row, uint64_t cycle)
{
    bool first = usher__alive_first(pool, row, cycle);
    if (first) {
        int64_t since = atomic_load(&pool->rows[row].since_ns);
        struct guest *guest = usher__guest_with(pool, row);
        usher__past_note(pool, guest == NULL ? 0 : guest->waited_ns,
                         since == 0 ? 0 : os_now_ns() - since);
        atomic_fetch_add(&pool->rows[row].served, 1);
    }
    usher__alive_bury(pool, row, cycle, true);
    return first;
}

int usher_release_for(struct usher_pool *pool, pid_t pid)
{
    int released = 0;
    if (pool->generation != *usher__generation) {
        return -ESTALE;
    }
    for (uint32_t row = 0; row < usher__rows_used(pool); row++) {
        uint64_t word = usher__row_word(pool, row);
        uint64_t owner = atomic_load(&pool->rows[row].owner);
        if ((format_owner_flags(owner) & FORMAT_ASSIGNED) &&
            format_owner_pid(owner) == (uint32_t)pid &&
            format_owner_namespace(owner) == pool->self.pid_namespace &&
            (core_row_state(word) == CORE_GRANTED || core_row_state(word) == CORE_ENTERING)) {
            released += release_assigned(pool, row, core_row_cycle(word));
        }
    }
    usher__pool_settle(pool);
    return released;
}

int usher_reap(struct usher_pool *pool)
{
    int reaped = 0;
    int error = usher__pool_usable(pool);
    if (error != 0) {
        return error;
    }
    for (uint32_t row = 0; row < usher__rows_used(pool); row++) {
        reaped += usher__alive_reap(pool, row);
    }
    usher__wait_look(pool);
    return reaped;
}
