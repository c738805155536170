/*
 * Kill a process before its Nth shared access, for N = 1, 2, .. until it survives the call. The
 * others lose nothing. Real processes, a real pool file, a real SIGKILL. The library is the
 * production code, compiled with CORE_COUNTED (src/core/steps.h).
 *
 * After each death the waiters are served in order of arrival, and then the pool has exactly its
 * seats. All deaths of a situation use one pool, so rows and positions are reused. Then chains of
 * deaths: several processes die in sequence, each at a random access of a random call, without a
 * reap in between.
 *
 * usage: kill_test [slow] [SEED]
 */
#include "core/steps.h"

#include "pool_support.h"

#include <limits.h>
#include <pthread.h>

enum { GUESTS = 16, SLOTS = 8 };

enum act { ACQUIRE, GIVE_UP, TRY, RELEASE, THREAD_END, CLOSE, RELEASE_FOR, RESIZE, REAP };

/* A process that died before and is not reaped yet. */
enum corpse { NO_CORPSE, HELD, WAITED, LEFT };

struct situation {
    const char *name;
    enum act act;
    uint32_t seats;         /* of the pool */
    uint32_t held;          /* seats held by the test until the victim waits or is dead */
    uint32_t ahead, behind; /* waiters: before the victim acts; after it waits or is dead */
    uint32_t least;         /* expected minimum number of accesses */
    int result;             /* of a survived call; INT_MIN: any */
    uint32_t resize_to;
    long patience_us; /* GIVE_UP: time limit in microseconds */
    enum corpse corpse;
};

/* Slots are in order of arrival. */
struct shared {
    atomic_uint ready, go, completed;
    atomic_int result;
    atomic_uint victim_slot, entered, corpse_ready;
    struct {
        atomic_uint entry; /* order of entry, from 1 */
        _Atomic uint64_t ticket;
    } slot[SLOTS];
};

static struct shared *shared;
static struct usher_pool *pool; /* the test's own */
static bool slow;

static unsigned left; /* accesses until this process dies; the last one is not made; 0: no limit */

void core_counted(void)
{
    if (left > 0 && --left == 0) {
        (void)kill(getpid(), SIGKILL);
        for (;;) {
            (void)pause();
        }
    }
}

static void enter(uint32_t slot, const struct usher_seat *seat)
{
    atomic_store(&shared->slot[slot].ticket, seat->ticket);
    atomic_store(&shared->slot[slot].entry, atomic_fetch_add(&shared->entered, 1) + 1);
}

static bool holds_before(enum act act)
{
    return act == RELEASE || act == THREAD_END || act == CLOSE || act == RELEASE_FOR;
}

/* The victim. */
struct life {
    const struct situation *s;
    struct usher_pool *pool;
    struct usher_seat seat;
    unsigned accesses;
    bool holds;
};

/* Get a row, and a seat if the situation says so; then wait for the start. */
static void get_ready(struct life *l)
{
    EXPECT_EQ(usher_acquire(l->pool, &l->seat), 0);
    l->holds = holds_before(l->s->act);
    if (!l->holds) {
        EXPECT_EQ(usher_release(l->pool, &l->seat), 0);
    } else {
        enter(0, &l->seat);
    }
    if (l->s->act == RELEASE_FOR) {
        EXPECT_EQ(usher_assign(l->pool, &l->seat, getppid()), 0);
    }
    atomic_store(&shared->ready, 1);
    while (atomic_load(&shared->go) == 0) {
        pause_us(10);
    }
}

static int act(struct life *l)
{
    struct timespec deadline = {0, 0};
    switch (l->s->act) {
    case ACQUIRE:
        return usher_acquire(l->pool, &l->seat);
    case GIVE_UP:
        deadline = l->s->patience_us > 0 ? after_us(l->s->patience_us) : deadline;
        return usher_acquire_until(l->pool, &l->seat, &deadline);
    case TRY:
        return usher_try_acquire(l->pool, &l->seat);
    case RELEASE:
        return usher_release(l->pool, &l->seat);
    case RELEASE_FOR:
        return usher_release_for(l->pool, getppid());
    case CLOSE:
        usher_close(l->pool);
        return 0;
    case RESIZE:
        return usher_resize(l->pool, l->s->resize_to);
    case REAP:
        return usher_reap(l->pool);
    case THREAD_END:
        break;
    }
    return 0;
}

static void *thread_life(void *context)
{
    struct life *l = context;
    get_ready(l);
    left = l->accesses;
    return NULL; /* the end of the thread gives its seat back */
}

static void live(const struct situation *s, unsigned accesses)
{
    struct life l = {.s = s, .pool = open_pool("pool", 0, 0), .accesses = accesses};
    int result = 0;
    if (s->act == THREAD_END) {
        pthread_t thread;
        EXPECT_EQ(pthread_create(&thread, NULL, thread_life, &l), 0);
        EXPECT_EQ(pthread_join(thread, NULL), 0);
    } else {
        get_ready(&l);
        left = accesses;
        result = act(&l);
    }
    left = 0;
    if (!holds_before(s->act) && s->act != RESIZE && s->act != REAP && result == 0) {
        enter(atomic_load(&shared->victim_slot), &l.seat);
        EXPECT_EQ(usher_release(l.pool, &l.seat), 0);
    }
    atomic_store(&shared->result, result);
    atomic_store(&shared->completed, 1);
    _exit(0);
}

/* A guest that arrives, waits, enters and leaves. */
static void visit(uint32_t slot)
{
    struct usher_pool *own = open_pool("pool", 0, 0);
    struct usher_seat seat;
    EXPECT_EQ(usher_acquire(own, &seat), 0);
    enter(slot, &seat);
    EXPECT_EQ(usher_release(own, &seat), 0);
    usher_close(own);
    _exit(0);
}

/* The processes around one death. */
struct party {
    const struct situation *s;
    struct child victim, corpse, visitors[SLOTS];
    uint32_t slots; /* arrived so far */
    struct usher_seat held[SUPPORT_SEATS];
};

static bool was_served(uint32_t slot)
{
    return atomic_load(&shared->slot[slot].entry) != 0;
}

static void let_visitors_come(struct party *p, uint32_t count)
{
    for (; count > 0; count--) {
        uint32_t slot = p->slots++;
        EXPECT(slot < SLOTS);
        if (begin_child(&p->visitors[slot])) {
            visit(slot);
        }
        AWAIT(position_of(pool, p->visitors[slot].pid) > 0 || was_served(slot));
    }
}

static bool waits(const struct child *child)
{
    return position_of(pool, child->pid) > 0 && process_state(child->pid) == 'S';
}

static void signal_visitors(const struct party *p, int signal, char state)
{
    for (uint32_t slot = 0; slot < p->slots; slot++) {
        pid_t pid = p->visitors[slot].pid;
        EXPECT(pid == 0 || kill(pid, signal) == 0);
        AWAIT(pid == 0 || state == 0 || process_state(pid) == state);
    }
}

/* Start the process that will die first: a holder, a waiter, or a guest that leaves. */
static void let_corpse_come(struct party *p, unsigned accesses)
{
    enum corpse kind = p->s->corpse;
    if (kind == NO_CORPSE) {
        return;
    }
    if (begin_child(&p->corpse)) {
        struct usher_pool *own = open_pool("pool", 0, 0);
        struct usher_seat seat;
        EXPECT_EQ(usher_acquire(own, &seat), 0);
        atomic_store(&shared->corpse_ready, 1);
        while (atomic_load(&shared->corpse_ready) != 2) {
            pause_us(10);
        }
        left = accesses;
        EXPECT_EQ(usher_release(own, &seat), 0);
        left = 0;
        atomic_store(&shared->corpse_ready, 3);
        for (;;) {
            (void)pause();
        }
    }
    AWAIT(kind == WAITED ? waits(&p->corpse) : atomic_load(&shared->corpse_ready) != 0);
}

/* Kill it. Waiters are stopped until the victim is done, so that none reaps it. */
static void let_corpse_die(struct party *p)
{
    if (p->s->corpse != NO_CORPSE) {
        signal_visitors(p, SIGSTOP, 'T');
    }
    if (p->s->corpse == LEFT) {
        atomic_store(&shared->corpse_ready, 2);
        AWAIT(gone(&p->corpse) || atomic_load(&shared->corpse_ready) == 3);
    }
    if (p->s->corpse != NO_CORPSE) {
        kill_child(&p->corpse);
    }
}

/* usher_inspect lists the waiters in order of arrival. */
static void expect_line_in_order(const struct party *p)
{
    struct usher_guest guests[SUPPORT_GUESTS];
    int count = usher_inspect(pool, NULL, guests, SUPPORT_GUESTS);
    uint32_t from = 0;
    EXPECT(count >= 0 && count <= SUPPORT_GUESTS);
    for (int g = 0; g < count; g++) {
        uint32_t slot = 0;
        while (slot < p->slots && p->visitors[slot].pid != guests[g].pid) {
            slot++;
        }
        if (guests[g].position > 0 && slot < p->slots) {
            EXPECT(slot >= from);
            from = slot + 1;
        }
    }
}

static void expect_served_in_order(const struct party *p)
{
    const uint64_t none = UINT64_MAX;
    uint64_t ticket = none;
    uint32_t entry = 0;
    for (uint32_t slot = 0; slot < p->slots; slot++) {
        if (!was_served(slot)) {
            EXPECT(p->visitors[slot].pid == 0); /* then it is the victim */
            continue;
        }
        uint64_t own = atomic_load(&shared->slot[slot].ticket);
        EXPECT(ticket == none || (int32_t)(own - ticket) > 0);
        EXPECT(p->s->seats > 1 || p->s->act == RESIZE ||
               atomic_load(&shared->slot[slot].entry) > entry);
        ticket = own;
        entry = atomic_load(&shared->slot[slot].entry);
    }
}

static void expect_whole(const struct situation *s, bool died, unsigned accesses)
{
    struct usher_info info;
    EXPECT(usher_inspect(pool, &info, NULL, 0) >= 0);
    if (s->act == RESIZE) {
        uint32_t least = s->seats < s->resize_to ? s->seats : s->resize_to;
        uint32_t most = s->seats > s->resize_to ? s->seats : s->resize_to;
        EXPECT(info.seats >= least && info.seats <= most);
        EXPECT(died || info.seats == s->resize_to);
    } else {
        EXPECT_EQ(info.seats, s->seats);
    }
    unsigned inherited = expect_exactly(pool, info.seats);
    if (s->corpse == NO_CORPSE && s->ahead == 0 && s->behind == 0) {
        bool held = holds_before(s->act) && s->act != RELEASE_FOR;
        EXPECT(inherited <= died);
        EXPECT(!(held && died && accesses == 1) || inherited == 1);
    }
    EXPECT_EQ(usher_resize(pool, s->seats), 0);
    (void)expect_exactly(pool, s->seats);
}

/* Return whether the victim died. */
static bool dies_before_access(const struct situation *s, unsigned accesses, unsigned corpse_at)
{
    struct party p = {.s = s};
    now_doing("%s, access %u, corpse at %u", s->name, accesses, corpse_at);
    memset(shared, 0, sizeof *shared);
    if (begin_child(&p.victim)) {
        live(s, accesses);
    }
    AWAIT(gone(&p.victim) || atomic_load(&shared->ready) != 0);
    p.slots = holds_before(s->act);
    for (uint32_t seat = 0; seat < s->held; seat++) {
        EXPECT_EQ(usher_try_acquire(pool, &p.held[seat]), 0);
    }
    let_corpse_come(&p, corpse_at);
    let_visitors_come(&p, s->ahead);
    let_corpse_die(&p);
    if (!holds_before(s->act)) {
        atomic_store(&shared->victim_slot, p.slots++);
    }
    atomic_store(&shared->go, 1);
    AWAIT(gone(&p.victim) || atomic_load(&shared->completed) != 0 || waits(&p.victim));
    signal_visitors(&p, SIGCONT, 0);
    let_visitors_come(&p, s->behind);
    if (s->act == GIVE_UP) {
        AWAIT(gone(&p.victim) || atomic_load(&shared->completed) != 0);
    }
    expect_line_in_order(&p);
    for (uint32_t seat = 0; seat < s->held; seat++) {
        EXPECT_EQ(usher_release(pool, &p.held[seat]), 0);
    }
    AWAIT(gone(&p.victim));
    if (s->act == RELEASE_FOR) {
        EXPECT(usher_release_for(pool, getpid()) >= 0); /* it is ours: we are alive */
    }
    if (accesses % 4 != 0 || s->act == RESIZE) {
        EXPECT(usher_reap(pool) >= 0); /* otherwise a waiter or a trying guest reaps */
    }
    for (uint32_t slot = 0; slot < p.slots; slot++) {
        AWAIT(p.visitors[slot].pid == 0 || gone(&p.visitors[slot]));
    }
    bool died = was_killed(&p.victim);
    EXPECT(died || s->result == INT_MIN || s->result == atomic_load(&shared->result));
    expect_served_in_order(&p);
    expect_whole(s, died, accesses);
    return died;
}

/* Kill at each access, until the call is survived twice in a row: a race can make it shorter. */
static void kill_at_every_access(const struct situation *s, unsigned corpse_at)
{
    unsigned deaths = 0;
    unsigned lived = 0;
    int64_t began = now_ns();
    pool = open_pool("pool", s->seats, GUESTS);
    for (unsigned accesses = 1; lived < 2; accesses++) {
        bool died = dies_before_access(s, accesses, corpse_at);
        deaths += died;
        lived = died ? 0 : lived + 1;
        EXPECT(accesses < 10000);
    }
    usher_close(pool);
    EXPECT_EQ(usher_remove("pool"), 0);
    (void)printf("  %-40s k=%u  %4u kill points, %.1f s\n", s->name, s->seats, deaths,
                 (double)(now_ns() - began) / 1e9);
    (void)fflush(stdout);
    EXPECT(deaths >= s->least);
}

static void an_acquiring_process_may_die(void)
{
    static const struct situation situations[] = {
        {"acquire, alone", ACQUIRE, 1, .least = 5},
        {"acquire, alone", ACQUIRE, 2, .least = 5},
        {"acquire, one seat free", ACQUIRE, 2, .held = 1, .least = 5},
        {"acquire, waiting", ACQUIRE, 1, .held = 1, .least = 20},
        {"acquire, waiting", ACQUIRE, 2, .held = 2, .least = 20},
        {"acquire, others wait behind", ACQUIRE, 1, .held = 1, .behind = 2, .least = 20},
        {"acquire, others wait behind", ACQUIRE, 2, .held = 2, .behind = 2, .least = 20},
        {"acquire, others wait before and behind", ACQUIRE, 1, .held = 1, .ahead = 2, .behind = 1,
         .least = 20},
        {"acquire, others wait before and behind", ACQUIRE, 2, .held = 2, .ahead = 1, .behind = 1,
         .least = 20},
        {"try, a seat is free", TRY, 1, .least = 5},
        {"try, all taken", TRY, 1, .held = 1, .result = -EAGAIN, .least = 5},
        {"try, others wait", TRY, 2, .held = 2, .ahead = 1, .result = -EAGAIN, .least = 5},
        {"try, a holder is dead", TRY, 1, .corpse = HELD, .least = 15},
    };
    for (size_t i = 0; i < sizeof situations / sizeof situations[0]; i++) {
        kill_at_every_access(&situations[i], 0);
    }
}

static void a_process_that_gives_up_may_die(void)
{
    static const struct situation situations[] = {
        {"give up at once, alone", GIVE_UP, 1, .held = 1, .result = -ETIMEDOUT, .least = 15},
        {"give up at once, alone", GIVE_UP, 2, .held = 2, .result = -ETIMEDOUT, .least = 15},
        {"give up at once, others wait before", GIVE_UP, 1, .held = 1, .ahead = 2,
         .result = -ETIMEDOUT, .least = 15},
        {"give up, others wait before and behind", GIVE_UP, 1, .held = 1, .ahead = 1, .behind = 2,
         .patience_us = 5000, .result = -ETIMEDOUT, .least = 20},
        {"give up, others wait before and behind", GIVE_UP, 2, .held = 2, .ahead = 1, .behind = 2,
         .patience_us = 5000, .result = -ETIMEDOUT, .least = 20},
    };
    for (size_t i = 0; i < sizeof situations / sizeof situations[0]; i++) {
        kill_at_every_access(&situations[i], 0);
    }
}

static void a_releasing_process_may_die(void)
{
    static const struct situation situations[] = {
        {"release, alone", RELEASE, 1, .least = 5},
        {"release, alone", RELEASE, 2, .least = 5},
        {"release, others hold", RELEASE, 2, .held = 1, .least = 5},
        {"release, others wait", RELEASE, 1, .ahead = 2, .least = 10},
        {"release, others wait", RELEASE, 2, .held = 1, .ahead = 2, .least = 10},
        {"release, the first waiter is dead", RELEASE, 1, .ahead = 2, .corpse = WAITED,
         .least = 10},
        {"a thread ends with a seat", THREAD_END, 1, .ahead = 1, .least = 10},
        {"close with a seat", CLOSE, 1, .ahead = 1, .least = 10},
        {"release for another process", RELEASE_FOR, 1, .ahead = 1, .result = 1, .least = 10},
    };
    for (size_t i = 0; i < sizeof situations / sizeof situations[0]; i++) {
        kill_at_every_access(&situations[i], 0);
    }
}

static uint32_t seats_now(void)
{
    struct usher_info info;
    EXPECT(usher_inspect(pool, &info, NULL, 0) >= 0);
    return info.seats;
}

static void a_resizing_process_may_die(void)
{
    static const struct situation situations[] = {
        {"resize 1 to 3, alone", RESIZE, 1, .resize_to = 3, .least = 30},
        {"resize 1 to 3, others wait", RESIZE, 1, .held = 1, .ahead = 3, .resize_to = 3,
         .least = 30},
        {"resize 3 to 1, alone", RESIZE, 3, .resize_to = 1, .least = 30},
        {"resize 3 to 1, all taken", RESIZE, 3, .held = 3, .resize_to = 1, .least = 30},
        {"resize 3 to 1, some taken", RESIZE, 3, .held = 2, .resize_to = 1, .least = 30},
        {"resize 2 to 0, some taken", RESIZE, 2, .held = 1, .resize_to = 0, .least = 30},
    };
    for (size_t i = 0; i < sizeof situations / sizeof situations[0]; i++) {
        kill_at_every_access(&situations[i], 0);
    }
}

/* The last resize determines k, even if an earlier resizer was killed in the middle and is
   reaped later. */
static void the_last_resize_counts(void)
{
    static const struct {
        uint32_t from, to, then;
    } resizes[] = {{1, 3, 0}, {1, 2, 1}, {3, 1, 3}, {2, 0, 4}};
    for (size_t r = 0; r < sizeof resizes / sizeof resizes[0]; r++) {
        const struct situation s = {"resize", RESIZE, resizes[r].from, .resize_to = resizes[r].to};
        unsigned deaths = 0;
        pool = open_pool("pool", s.seats, GUESTS);
        for (bool died = true; died;) {
            struct child victim;
            now_doing("resize %u to %u, access %u", s.seats, s.resize_to, deaths + 1);
            memset(shared, 0, sizeof *shared);
            EXPECT_EQ(usher_resize(pool, s.seats), 0);
            atomic_store(&shared->go, 1);
            if (begin_child(&victim)) {
                live(&s, deaths + 1);
            }
            AWAIT(gone(&victim));
            died = was_killed(&victim);
            deaths += died;
            EXPECT_EQ(usher_resize(pool, resizes[r].then), 0);
            EXPECT_EQ(seats_now(), resizes[r].then);
            EXPECT(usher_reap(pool) >= 0);
            EXPECT_EQ(seats_now(), resizes[r].then);
            (void)expect_exactly(pool, resizes[r].then);
        }
        EXPECT(deaths >= 20);
        usher_close(pool);
        EXPECT_EQ(usher_remove("pool"), 0);
    }
}

static void a_reaping_process_may_die(void)
{
    static const struct situation situations[] = {
        {"reap a dead holder", REAP, 1, .corpse = HELD, .result = INT_MIN, .least = 20},
        {"reap a dead holder", REAP, 2, .held = 1, .corpse = HELD, .result = INT_MIN, .least = 20},
        {"reap a dead holder, others wait", REAP, 1, .ahead = 2, .corpse = HELD, .result = INT_MIN,
         .least = 15},
        {"reap a dead waiter", REAP, 1, .held = 1, .corpse = WAITED, .result = INT_MIN,
         .least = 10},
        {"reap a dead waiter, others wait", REAP, 2, .held = 2, .ahead = 2, .corpse = WAITED,
         .result = INT_MIN, .least = 5},
    };
    static const struct situation left_so[] = {
        {"reap a guest that died leaving", REAP, 1, .corpse = LEFT, .result = INT_MIN, .least = 5},
        {"reap a guest that died leaving, others wait", REAP, 1, .ahead = 1, .corpse = LEFT,
         .result = INT_MIN, .least = 5},
    };
    for (size_t i = 0; i < sizeof situations / sizeof situations[0]; i++) {
        kill_at_every_access(&situations[i], 0);
    }
    for (unsigned at = 1; at <= 8; at += slow ? 1 : 2 + below(3)) {
        kill_at_every_access(&left_so[0], at);
        kill_at_every_access(&left_so[1], at);
    }
}

/*
 * A long line, and a waiter that died before it slept. When its turn comes, nothing wakes up, but
 * the waiters behind it must not stay asleep. The limit is far above the expected time (at most 0.1
 * s) and far below the time after which waiters far back would scan by themselves.
 */
static void a_dead_waiter_in_a_long_line_delays_no_other(void)
{
    static const struct situation s = {"die in line", ACQUIRE, 1, .held = 1, .ahead = 1};
    enum { BEHIND = 60, LIMIT_S = 10 };
    struct child behind[BEHIND];
    struct party p = {.s = &s};
    unsigned accesses = 0;
    pool = open_pool("pool", 1, 2 * BEHIND);
    EXPECT_EQ(usher_try_acquire(pool, &p.held[0]), 0);
    let_visitors_come(&p, 1);
    do {
        EXPECT(++accesses < 2000);
        EXPECT(usher_reap(pool) >= 0);
        now_doing("die in line, access %u", accesses);
        if (begin_child(&p.victim)) {
            struct usher_seat seat;
            struct usher_pool *own = open_pool("pool", 0, 0);
            left = accesses;
            _exit(usher_acquire(own, &seat) != 0);
        }
        AWAIT(gone(&p.victim));
    } while (position_of(pool, p.victim.pid) == 0);
    for (unsigned b = 0; b < BEHIND; b++) {
        if (begin_child(&behind[b])) {
            visit(SLOTS - 1);
        }
    }
    for (unsigned b = 0; b < BEHIND; b++) {
        AWAIT(gone(&behind[b]) || process_state(behind[b].pid) == 'S');
    }
    int64_t began = now_ns();
    EXPECT_EQ(usher_release(pool, &p.held[0]), 0);
    for (unsigned b = 0; b < BEHIND; b++) {
        AWAIT(gone(&behind[b]));
    }
    double seconds = (double)(now_ns() - began) / 1e9;
    (void)printf("  access %u: %d waiters behind it served in %.3f s\n", accesses, BEHIND, seconds);
    EXPECT(seconds < LIMIT_S);
    AWAIT(gone(&p.visitors[0]));
    (void)expect_exactly(pool, 1);
    usher_close(pool);
    EXPECT_EQ(usher_remove("pool"), 0);
}

/* One of several deaths in a row; the pool is full or not, and nothing reaps in between. Return
   whether it died at an access, not in its sleep or afterwards. */
static bool die_somewhere(enum act what, uint32_t seats, unsigned accesses)
{
    struct situation s = {"chain", what, seats, .resize_to = 1 + below(seats + 2)};
    struct child victim;
    memset(shared, 0, sizeof *shared);
    if (begin_child(&victim)) {
        struct life l = {.s = &s, .pool = open_pool("pool", 0, 0)};
        struct timespec past = {0, 0};
        left = accesses;
        int error = what == ACQUIRE ? usher_acquire(l.pool, &l.seat)
                                    : usher_acquire_until(l.pool, &l.seat, &past);
        EXPECT(error == 0 || error == -ETIMEDOUT);
        if (error == 0 || !holds_before(what)) {
            (void)act(&l);
        }
        left = 0;
        atomic_store(&shared->completed, 1);
        for (;;) {
            (void)pause();
        }
    }
    AWAIT(gone(&victim) || atomic_load(&shared->completed) != 0 || waits(&victim));
    bool counted = gone(&victim);
    kill_child(&victim);
    return counted;
}

static void several_processes_may_die_in_sequence(void)
{
    static const enum act acts[] = {ACQUIRE, GIVE_UP, TRY, RELEASE, CLOSE, RESIZE, REAP};
    unsigned chains = slow ? 20000 : 500;
    unsigned deaths = 0;
    unsigned counted = 0;
    for (unsigned chain = 0; chain < chains; chain++) {
        struct usher_info info;
        struct party p = {.s = &(struct situation){.act = RESIZE}};
        uint32_t seats = 1 + below(3);
        bool held = below(2) == 0;
        if (chain % 50 == 0) {
            pool = open_pool("pool", 1, GUESTS);
        }
        EXPECT_EQ(usher_resize(pool, seats), 0);
        for (uint32_t seat = 0; seat < seats && held; seat++) {
            EXPECT_EQ(usher_try_acquire(pool, &p.held[seat]), 0);
        }
        for (unsigned m = 1 + below(4); m > 0; m--) {
            unsigned accesses = 1 + below(60);
            enum act what = acts[below(sizeof acts / sizeof acts[0])];
            now_doing("chain %u: act %u, k=%u, access %u", chain, (unsigned)what, seats, accesses);
            counted += die_somewhere(what, seats, accesses);
            deaths++;
        }
        memset(shared, 0, sizeof *shared);
        for (uint32_t seat = 0; seat < seats && held; seat++) {
            EXPECT_EQ(usher_release(pool, &p.held[seat]), 0);
        }
        if (below(2) == 0) {
            EXPECT(usher_reap(pool) >= 0);
        }
        now_doing("after chain %u", chain);
        if (below(4) == 0) {
            let_visitors_come(&p, 2);
            AWAIT(gone(&p.visitors[0]) && gone(&p.visitors[1]));
            expect_served_in_order(&p);
        }
        (void)usher_reap(pool);
        EXPECT(usher_inspect(pool, &info, NULL, 0) >= 0);
        (void)expect_exactly(pool, info.seats);
        if (chain % 50 == 49) {
            usher_close(pool);
            EXPECT_EQ(usher_remove("pool"), 0);
        }
    }
    (void)printf("  %u chains, %u deaths, %u of them in a call\n", chains, deaths, counted);
    EXPECT(counted > chains / 2);
}

int main(int argc, char **argv)
{
    support_begin(argc, argv);
    slow = support_slow(argc, argv);
    shared = share(sizeof *shared);
    RUN(an_acquiring_process_may_die);
    RUN(a_process_that_gives_up_may_die);
    RUN(a_releasing_process_may_die);
    RUN(a_resizing_process_may_die);
    RUN(the_last_resize_counts);
    RUN(a_reaping_process_may_die);
    RUN(a_dead_waiter_in_a_long_line_delays_no_other);
    RUN(several_processes_may_die_in_sequence);
    return 0;
}
