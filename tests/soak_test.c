/*
 * Many processes, some with several threads, acquire and release in every way, while they are
 * killed, stopped and continued at random instants. Each entry is checked against records outside
 * the pool: a seat has one live holder; each ticket enters once, and with one seat in order. While
 * fewer processes are stopped than there are seats, the others progress. At the end the pool has
 * exactly its seats. In each pool the 20-bit ticket numbers wrap.
 * usage: soak_test [slow] [SEED]
 */
#include "pool_support.h"

#include <pthread.h>
#include <sched.h>

enum { WORKERS = 12, MOST_SEATS = 8, MOST_THREADS = 3, TICKETS = 1 << 24, PIDS = 1 << 22 };

struct shared {
    _Atomic uint64_t owner[MOST_SEATS]; /* written by the holder: pid 32 | thread 32; 0: none */
    _Atomic uint64_t last_ticket;       /* of the last entry, if there is one seat */
    atomic_ulong entries, gave_up, turned_away, inherited;
    atomic_uint stop;
    _Atomic uint64_t had[TICKETS / 64]; /* tickets that have entered; one bit each */
    _Atomic uint64_t doomed[PIDS / 64]; /* processes that we kill; set before the kill */
};

struct worker {
    struct usher_pool *pool;
    uint64_t dice, self;
};

static struct shared *shared;
static uint32_t k;
static unsigned longer = 1;

static bool set_bit(_Atomic uint64_t *bits, uint64_t at)
{
    return (atomic_fetch_or(&bits[at / 64], 1ULL << at % 64) >> at % 64 & 1) != 0;
}

/* The holder of this seat did not leave it. So it must be dead, though perhaps not reaped by us
   yet. */
static void expect_dead(pid_t pid)
{
    EXPECT(pid < PIDS);
    EXPECT(atomic_load(&shared->doomed[pid / 64]) >> pid % 64 & 1);
    AWAIT(process_state(pid) == 0 || process_state(pid) == 'Z' || process_state(pid) == 'X');
}

static void enter(const struct worker *w, const struct usher_seat *seat)
{
    EXPECT(seat->number < k);
    uint64_t before = atomic_exchange(&shared->owner[seat->number], w->self);
    if (before != 0) {
        expect_dead((pid_t)(before >> 32));
    }
    if (k == 1) {
        uint64_t last = atomic_exchange(&shared->last_ticket, seat->ticket);
        EXPECT((int32_t)(seat->ticket - last) > 0);
    }
    EXPECT(seat->ticket < TICKETS);
    EXPECT(!set_bit(shared->had, seat->ticket));
    atomic_fetch_add(&shared->inherited, (seat->flags & USHER_INHERITED) != 0);
    atomic_fetch_add(&shared->entries, 1);
}

static void leave(const struct worker *w, struct usher_seat *seat)
{
    uint64_t self = w->self;
    EXPECT(atomic_compare_exchange_strong(&shared->owner[seat->number], &self, 0));
    EXPECT_EQ(usher_release(w->pool, seat), 0);
}

/* One turn: acquire and release. */
static void come(struct worker *w)
{
    struct usher_seat seat;
    uint32_t way = roll(&w->dice, 100);
    int error = 0;
    if (way < 60) {
        EXPECT_EQ(usher_acquire(w->pool, &seat), 0);
    } else if (way < 85) {
        struct timespec deadline = after_us(roll(&w->dice, 1500));
        error = usher_acquire_until(w->pool, &seat, &deadline);
        EXPECT(error == 0 || error == -ETIMEDOUT);
        atomic_fetch_add(&shared->gave_up, error != 0);
    } else {
        error = usher_try_acquire(w->pool, &seat);
        EXPECT(error == 0 || error == -EAGAIN);
        atomic_fetch_add(&shared->turned_away, error != 0);
    }
    if (error == 0) {
        enter(w, &seat);
        for (uint32_t stay = roll(&w->dice, 3); stay > 0; stay--) {
            (void)sched_yield();
        }
        if (roll(&w->dice, 20) == 0) {
            pause_us((long)roll(&w->dice, 200));
        }
        leave(w, &seat);
    }
    if (roll(&w->dice, 10) == 0) {
        pause_us((long)roll(&w->dice, 300));
    }
}

static void *work(void *context)
{
    struct worker *w = context;
    while (atomic_load(&shared->stop) == 0) {
        come(w);
    }
    return NULL;
}

static void start(struct child *child, unsigned threads)
{
    uint64_t dice = seed + below(1000000);
    if (begin_child(child)) {
        struct worker workers[MOST_THREADS];
        pthread_t others[MOST_THREADS];
        struct usher_pool *pool = open_pool("pool", 0, 0);
        for (unsigned t = 0; t < threads; t++) {
            workers[t] = (struct worker){pool, dice + t, (uint64_t)getpid() << 32 | (t + 1)};
        }
        for (unsigned t = 1; t < threads; t++) {
            EXPECT_EQ(pthread_create(&others[t], NULL, work, &workers[t]), 0);
        }
        (void)work(&workers[0]);
        for (unsigned t = 1; t < threads; t++) {
            EXPECT_EQ(pthread_join(others[t], NULL), 0);
        }
        usher_close(pool);
        _exit(0);
    }
}

static unsigned threads_of(unsigned worker)
{
    return k == 2 || k == 3 ? 1 : 1 + worker % MOST_THREADS;
}

static struct child workers[WORKERS];
static struct usher_pool *pool;
static int64_t began;

/* Create a pool whose tickets are about to wrap, and its workers. */
static void begin(uint32_t seats)
{
    struct usher_seat seat;
    memset(shared, 0, sizeof *shared);
    began = now_ns();
    k = seats;
    pool = open_pool("pool", k, 64);
    do {
        EXPECT_EQ(usher_acquire(pool, &seat), 0);
        EXPECT_EQ(usher_release(pool, &seat), 0);
    } while (seat.ticket < (1 << 20) - 2000);
    for (unsigned w = 0; w < WORKERS; w++) {
        start(&workers[w], threads_of(w));
    }
}

static void end(unsigned kills, unsigned stops)
{
    unsigned long entries;
    now_doing("k=%u: the end", k);
    AWAIT(atomic_load(&shared->entries) > 4000);
    atomic_store(&shared->stop, 1);
    for (unsigned w = 0; w < WORKERS; w++) {
        AWAIT(gone(&workers[w]));
        EXPECT(!was_killed(&workers[w]));
    }
    (void)expect_exactly(pool, k);
    entries = atomic_load(&shared->entries);
    (void)printf("  k=%u: %lu entries, %lu inherited, %lu gave up, %lu refused; %u killed, %u "
                 "times stopped; %.1f s\n",
                 k, entries, atomic_load(&shared->inherited), atomic_load(&shared->gave_up),
                 atomic_load(&shared->turned_away), kills, stops, (double)(now_ns() - began) / 1e9);
    (void)fflush(stdout);
    usher_close(pool);
    EXPECT_EQ(usher_remove("pool"), 0);
}

static void replace(unsigned w)
{
    (void)set_bit(shared->doomed, (uint64_t)workers[w].pid);
    kill_child(&workers[w]);
    start(&workers[w], threads_of(w));
}

static void stop(pid_t pid)
{
    EXPECT_EQ(kill(pid, SIGSTOP), 0);
    AWAIT(process_state(pid) == 'T');
}

static void go_on(pid_t pid)
{
    EXPECT_EQ(kill(pid, SIGCONT), 0);
}

/* Others enter while some are stopped. */
static void expect_progress(unsigned long count)
{
    unsigned long before = atomic_load(&shared->entries);
    AWAIT(atomic_load(&shared->entries) >= before + count);
}

/* Kill and stop at random. With more than one seat, a stopped process delays no other. */
static void survive(uint32_t seats, unsigned rounds)
{
    unsigned kills = 0;
    unsigned stops = 0;
    begin(seats);
    for (unsigned round = 0; round < rounds * longer; round++) {
        unsigned w = below(WORKERS);
        now_doing("k=%u, round %u", k, round);
        pause_us((long)below(3000));
        if (below(4) != 0) {
            replace(w);
            kills++;
            continue;
        }
        stops++;
        stop(workers[w].pid);
        if (k > threads_of(w)) {
            expect_progress(20);
        } else {
            pause_us((long)below(3000));
        }
        if (below(4) == 0) {
            replace(w); /* killed while stopped */
            kills++;
        } else {
            go_on(workers[w].pid);
        }
    }
    end(kills, stops);
}

static void a_pool_survives_kills_and_stops(void)
{
    survive(1, 120);
    survive(2, 150);
    survive(8, 200);
}

/* Stop the process that holds a seat now, by the record. 0: it released before it stopped. */
static pid_t stop_a_holder(void)
{
    uint32_t s = below(k);
    pid_t pid = (pid_t)(atomic_load(&shared->owner[s]) >> 32);
    if (pid == 0) {
        return 0;
    }
    stop(pid);
    if ((pid_t)(atomic_load(&shared->owner[s]) >> 32) == pid) {
        return pid;
    }
    go_on(pid);
    return 0;
}

/* Stop the first waiter. */
static pid_t stop_the_first(void)
{
    struct usher_guest guests[SUPPORT_GUESTS];
    int count = usher_inspect(pool, NULL, guests, SUPPORT_GUESTS);
    for (int g = 0; g < count; g++) {
        if (guests[g].position == 1) {
            stop(guests[g].pid);
            if (position_of(pool, guests[g].pid) == 1) {
                return guests[g].pid;
            }
            go_on(guests[g].pid);
        }
    }
    return 0;
}

/* With one seat more than stopped processes, the others progress, wherever those are stopped. */
static void a_stopped_process_delays_no_other(void)
{
    unsigned holders = 0;
    unsigned firsts = 0;
    begin(2);
    for (unsigned round = 0; round < 20 * longer || holders == 0 || firsts == 0; round++) {
        bool holder = round % 2 == 0;
        pid_t pid = 0;
        now_doing("a stopped %s, round %u", holder ? "holder" : "first waiter", round);
        AWAIT((pid = holder ? stop_a_holder() : stop_the_first()) != 0);
        expect_progress(100);
        EXPECT_EQ(process_state(pid), 'T');
        go_on(pid);
        holders += holder;
        firsts += !holder;
    }
    end(0, holders + firsts);
    begin(3);
    for (unsigned round = 0; round < 20 * longer; round++) {
        pid_t first = 0;
        pid_t holder = 0;
        now_doing("both stopped, round %u", round);
        AWAIT((first = stop_the_first()) != 0);
        AWAIT((holder = stop_a_holder()) != 0 && holder != first);
        expect_progress(100);
        go_on(first);
        go_on(holder);
    }
    end(0, 40 * longer);
}

int main(int argc, char **argv)
{
    support_begin(argc, argv);
    longer = support_slow(argc, argv) ? 20 : 1;
    shared = share(sizeof *shared);
    RUN(a_pool_survives_kills_and_stops);
    RUN(a_stopped_process_delays_no_other);
    return 0;
}
