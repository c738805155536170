/*
 * Stop a process before its Nth shared access, for N = 1, 2, .. until it completes the call
 * unstopped. Meanwhile the others progress, around the whole line and through many cycles of the
 * same rows. When the process continues, all that it has read is out of date, and it does no harm.
 * Real processes, a real pool file, a real SIGSTOP; CORE_COUNTED as in kill_test.
 *
 * usage: stop_test [slow] [SEED]; slow: the others use all ticket numbers once, so that words may
 * have their old values again (ABA).
 */
#include "core/steps.h"

#include "pool_support.h"

#include <limits.h>

enum { GUESTS = 16, ROUNDS = 40 };

enum act { ACQUIRE, GIVE_UP, TRY, RELEASE, RESIZE, REAP };

struct situation {
    const char *name;
    enum act act;
    uint32_t seats;
    uint32_t held;   /* seats held by the test until the victim is stopped or waits */
    uint32_t others; /* waiters behind the victim */
    uint32_t resize_to;
    bool corpse; /* another process died with a seat before */
    uint32_t least;
};

struct shared {
    atomic_uint ready, go, completed, corpse, sits, leave, left, entered;
    atomic_int result;
};

static struct shared *shared;
static struct usher_pool *pool; /* the test's own */
static unsigned rounds = ROUNDS;

static unsigned left; /* accesses until it stops; the last one is not made; 0: no limit */

void core_counted(void)
{
    if (left > 0 && --left == 0) {
        (void)raise(SIGSTOP);
    }
}

static int act(const struct situation *s, struct usher_pool *own, struct usher_seat *seat)
{
    const struct timespec past = {0, 0};
    switch (s->act) {
    case ACQUIRE:
        return usher_acquire(own, seat);
    case GIVE_UP:
        return usher_acquire_until(own, seat, &past);
    case TRY:
        return usher_try_acquire(own, seat);
    case RELEASE:
        return usher_release(own, seat);
    case RESIZE:
        return usher_resize(own, s->resize_to);
    case REAP:
        return usher_reap(own) < 0;
    }
    return 0;
}

static void live(const struct situation *s, unsigned accesses)
{
    struct usher_seat seat;
    struct usher_pool *own = open_pool("pool", 0, 0);
    EXPECT_EQ(usher_acquire(own, &seat), 0);
    EXPECT(s->act == RELEASE || usher_release(own, &seat) == 0);
    atomic_store(&shared->ready, 1);
    while (atomic_load(&shared->go) == 0) {
        pause_us(10);
    }
    left = accesses;
    int result = act(s, own, &seat);
    left = 0;
    if (result == 0 && (s->act == ACQUIRE || s->act == GIVE_UP || s->act == TRY)) {
        EXPECT_EQ(usher_release(own, &seat), 0);
    }
    EXPECT(result == 0 || (s->act == GIVE_UP && result == -ETIMEDOUT) ||
           (s->act == TRY && result == -EAGAIN));
    atomic_store(&shared->result, result);
    atomic_store(&shared->completed, 1);
    usher_close(own);
    _exit(0);
}

/* A newcomer takes the row of a dead guest if there is one, takes turns, then holds a seat until
   it may leave. */
static void sit(void)
{
    struct usher_seat seat;
    struct usher_pool *own = open_pool("pool", 0, 0);
    for (unsigned round = 0; round < 3; round++) {
        EXPECT_EQ(usher_acquire(own, &seat), 0);
        EXPECT_EQ(usher_release(own, &seat), 0);
    }
    EXPECT_EQ(usher_acquire(own, &seat), 0);
    atomic_store(&shared->sits, 1);
    while (atomic_load(&shared->leave) == 0) {
        pause_us(10);
    }
    EXPECT_EQ(usher_release(own, &seat), 0);
    usher_close(own);
    _exit(0);
}

static void visit(unsigned visitor)
{
    struct usher_pool *own = open_pool("pool", 0, 0);
    struct usher_seat seat;
    EXPECT_EQ(usher_acquire(own, &seat), 0);
    EXPECT_EQ(atomic_fetch_add(&shared->entered, 1), visitor);
    EXPECT_EQ(usher_release(own, &seat), 0);
    usher_close(own);
    _exit(0);
}

struct party {
    const struct situation *s;
    struct child victim, corpse, newcomer, visitors[2];
    struct usher_seat held[SUPPORT_SEATS];
};

static bool stopped(const struct party *p)
{
    return process_state(p->victim.pid) == 'T';
}

static bool waits(const struct party *p)
{
    return position_of(pool, p->victim.pid) > 0 && process_state(p->victim.pid) == 'S';
}

/* At least one seat is not the victim's; take turns with it. */
static void take_turns(void)
{
    struct usher_seat seat;
    for (unsigned round = 0; round < rounds; round++) {
        EXPECT_EQ(usher_try_acquire(pool, &seat), 0);
        EXPECT_EQ(usher_release(pool, &seat), 0);
    }
}

static void resize_around(const struct situation *s)
{
    const uint32_t sizes[] = {s->resize_to, 0, 5, 0, s->resize_to, s->seats};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        EXPECT_EQ(usher_resize(pool, sizes[i]), 0);
    }
}

/* What the others do while the victim is stopped. None of it may wait for the victim. */
static void overtake(struct party *p)
{
    const struct situation *s = p->s;
    for (uint32_t v = 0; v < s->others; v++) {
        if (begin_child(&p->visitors[v])) {
            visit(v);
        }
        AWAIT(position_of(pool, p->visitors[v].pid) > 0 || gone(&p->visitors[v]));
    }
    for (uint32_t seat = 0; seat < s->held; seat++) {
        EXPECT_EQ(usher_release(pool, &p->held[seat]), 0);
    }
    for (uint32_t v = 0; v < s->others; v++) {
        AWAIT(gone(&p->visitors[v]));
    }
    if (s->corpse) {
        EXPECT(usher_reap(pool) >= 0);
    }
    if (s->act == RESIZE) {
        resize_around(s);
        return;
    }
    take_turns();
    if (begin_child(&p->newcomer)) {
        sit();
    }
    AWAIT(gone(&p->newcomer) || atomic_load(&shared->sits) != 0);
}

static void lay_out_corpse(struct party *p)
{
    if (begin_child(&p->corpse)) {
        struct usher_seat seat;
        EXPECT_EQ(usher_acquire(open_pool("pool", 0, 0), &seat), 0);
        atomic_store(&shared->corpse, 1);
        for (;;) {
            (void)pause();
        }
    }
    AWAIT(gone(&p->corpse) || atomic_load(&shared->corpse) != 0);
    kill_child(&p->corpse);
}

/* The newcomer still holds its seat, whatever the victim did after it continued. */
static void expect_newcomer_sits(struct party *p)
{
    struct usher_guest guests[SUPPORT_GUESTS];
    int count = usher_inspect(pool, NULL, guests, SUPPORT_GUESTS);
    bool sits = false;
    for (int g = 0; g < count; g++) {
        sits = sits || (guests[g].pid == p->newcomer.pid && guests[g].seat != UINT32_MAX);
    }
    EXPECT(sits);
    atomic_store(&shared->leave, 1);
    AWAIT(gone(&p->newcomer));
}

/* Return whether the victim was stopped. */
static bool stops_before_access(const struct situation *s, unsigned accesses)
{
    struct party p = {.s = s};
    now_doing("%s, k=%u, access %u", s->name, s->seats, accesses);
    memset(shared, 0, sizeof *shared);
    if (begin_child(&p.victim)) {
        live(s, accesses);
    }
    AWAIT(gone(&p.victim) || atomic_load(&shared->ready) != 0);
    for (uint32_t seat = 0; seat < s->held; seat++) {
        EXPECT_EQ(usher_try_acquire(pool, &p.held[seat]), 0);
    }
    if (s->corpse) {
        lay_out_corpse(&p);
    }
    atomic_store(&shared->go, 1);
    AWAIT(gone(&p.victim) || stopped(&p) || waits(&p) || atomic_load(&shared->completed) != 0);
    bool was_stopped = stopped(&p);
    overtake(&p);
    was_stopped = was_stopped || stopped(&p);
    AWAIT(gone(&p.victim) || atomic_load(&shared->completed) != 0 || stopped(&p));
    was_stopped = was_stopped || stopped(&p);
    (void)kill(p.victim.pid, SIGCONT);
    AWAIT(gone(&p.victim));
    EXPECT(!was_killed(&p.victim));
    if (s->act == RESIZE) {
        EXPECT_EQ(usher_resize(pool, s->seats), 0);
    } else {
        expect_newcomer_sits(&p);
    }
    (void)expect_exactly(pool, s->seats);
    return was_stopped;
}

static void stop_at_every_access(const struct situation *s)
{
    unsigned stops = 0;
    unsigned unstopped = 0;
    int64_t began = now_ns();
    pool = open_pool("pool", s->seats, GUESTS);
    for (unsigned accesses = 1; unstopped < 2; accesses++) {
        bool was_stopped = stops_before_access(s, accesses);
        stops += was_stopped;
        unstopped = was_stopped ? 0 : unstopped + 1;
        EXPECT(accesses < 10000);
    }
    usher_close(pool);
    EXPECT_EQ(usher_remove("pool"), 0);
    (void)printf("  %-40s k=%u  %4u stops, %.1f s\n", s->name, s->seats, stops,
                 (double)(now_ns() - began) / 1e9);
    (void)fflush(stdout);
    EXPECT(stops >= s->least);
}

static void a_stopped_process_does_no_harm_when_it_continues(void)
{
    static const struct situation situations[] = {
        {"acquire, alone", ACQUIRE, 2, .least = 5},
        {"acquire, one seat free", ACQUIRE, 3, .held = 1, .least = 5},
        {"acquire, waiting", ACQUIRE, 2, .held = 2, .least = 10},
        {"acquire, others come behind", ACQUIRE, 2, .held = 2, .others = 1, .least = 10},
        {"try, all taken", TRY, 2, .held = 2, .least = 5},
        {"give up", GIVE_UP, 2, .held = 2, .least = 10},
        {"give up, others come behind", GIVE_UP, 2, .held = 2, .others = 1, .least = 10},
        {"release, alone", RELEASE, 2, .least = 5},
        {"release, others hold", RELEASE, 3, .held = 2, .least = 5},
        {"release, others come", RELEASE, 2, .held = 1, .others = 2, .least = 5},
        {"resize 1 to 0", RESIZE, 1, .resize_to = 0, .least = 20},
        {"resize 1 to 16", RESIZE, 1, .resize_to = 16, .least = 20},
        {"resize 3 to 1, all taken", RESIZE, 3, .held = 3, .resize_to = 1, .least = 20},
        {"reap a dead holder", REAP, 2, .corpse = true, .least = 20},
        {"reap a dead holder, others hold", REAP, 3, .held = 1, .corpse = true, .least = 20},
    };
    for (size_t i = 0; i < sizeof situations / sizeof situations[0]; i++) {
        stop_at_every_access(&situations[i]);
    }
}

int main(int argc, char **argv)
{
    support_begin(argc, argv);
    rounds = support_slow(argc, argv) ? 1 << 20 : ROUNDS;
    shared = share(sizeof *shared);
    RUN(a_stopped_process_does_no_harm_when_it_continues);
    return 0;
}
