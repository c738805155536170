/*
 * Concurrent events: giving up and being granted; resizing and acquiring; many that give up behind
 * a holder that stays. By processes with a pool file, and by threads with and without one. Nothing
 * is lost: after each round the seat is free.
 * usage: race_test [slow] [SEED]
 */
#include "pool_support.h"

#include <pthread.h>
#include <sched.h>

enum { MOST_WAITERS = 3, MOST_SEATS = 8, RESIZES = 1 << 16, WORKERS = 6, HASTY = 3 };

static unsigned longer = 1;

/*
 * A round: the holder has the only seat. Each waiter comes with a deadline, and the holder releases
 * at about that time. Whether the waiters are granted the seat or give up, it is free after the
 * round.
 */
struct rounds {
    atomic_uint round; /* number of the round that waiters may start; UINT_MAX: end */
    atomic_uint done;  /* waiters that have finished it */
    atomic_uint inside, served, gave_up;
    atomic_llong patience_us;
};

struct waiter {
    struct usher_pool *pool;
    struct rounds *rounds;
};

static void *wait_in_rounds(void *context)
{
    struct waiter *w = context;
    for (unsigned round = 1;; round++) {
        unsigned now;
        while ((now = atomic_load(&w->rounds->round)) != round) {
            if (now == UINT32_MAX) {
                return NULL;
            }
            (void)sched_yield();
        }
        struct usher_seat seat;
        struct timespec deadline = after_us(atomic_load(&w->rounds->patience_us));
        int error = usher_acquire_until(w->pool, &seat, &deadline);
        if (error == 0) {
            EXPECT_EQ(seat.number, 0);
            EXPECT_EQ(atomic_fetch_add(&w->rounds->inside, 1), 0);
            EXPECT_EQ(atomic_fetch_sub(&w->rounds->inside, 1), 1);
            EXPECT_EQ(usher_release(w->pool, &seat), 0);
            atomic_fetch_add(&w->rounds->served, 1);
        } else {
            EXPECT_EQ(error, -ETIMEDOUT);
            atomic_fetch_add(&w->rounds->gave_up, 1);
        }
        atomic_fetch_add(&w->rounds->done, 1);
    }
}

/* Adjust the next delay so that both outcomes stay about equally likely. */
static void hold_in_rounds(struct usher_pool *pool, struct rounds *rounds, unsigned count,
                           unsigned waiters)
{
    int64_t stay_ns = 0;
    struct usher_seat seat;
    for (unsigned round = 1; round <= count; round++) {
        int64_t patience_us = round % 4 == 0 ? 0 : 10 + below(60);
        unsigned served = atomic_load(&rounds->served);
        now_doing("round %u of %u", round, count);
        EXPECT_EQ(usher_try_acquire(pool, &seat), 0); /* the last round lost nothing */
        EXPECT_EQ(atomic_fetch_add(&rounds->inside, 1), 0);
        atomic_store(&rounds->patience_us, patience_us);
        atomic_store(&rounds->done, 0);
        atomic_store(&rounds->round, round);
        for (int64_t until = now_ns() + stay_ns + below(5000); now_ns() < until;) {
            (void)sched_yield();
        }
        EXPECT_EQ(atomic_fetch_sub(&rounds->inside, 1), 1);
        EXPECT_EQ(usher_release(pool, &seat), 0);
        int64_t limit = now_ns() + PATIENCE_S * 1000000000LL;
        while (atomic_load(&rounds->done) != waiters) {
            EXPECT(now_ns() < limit);
            (void)sched_yield();
        }
        stay_ns += atomic_load(&rounds->served) > served ? 3000 : -3000;
        stay_ns = stay_ns < 0 ? 0 : stay_ns > 300000 ? 300000 : stay_ns;
    }
    EXPECT_EQ(usher_try_acquire(pool, &seat), 0);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    atomic_store(&rounds->round, UINT32_MAX);
    (void)printf("  %u waiters, %u rounds: %u served, %u gave up\n", waiters, count,
                 atomic_load(&rounds->served), atomic_load(&rounds->gave_up));
    EXPECT(atomic_load(&rounds->served) > count / 50);
    EXPECT(atomic_load(&rounds->gave_up) > count / 50);
}

static void race_by_processes(unsigned count, unsigned waiters)
{
    struct rounds *rounds = share(sizeof *rounds);
    struct usher_pool *pool = open_pool("pool", 1, 8);
    struct child children[MOST_WAITERS];
    for (unsigned w = 0; w < waiters; w++) {
        if (begin_child(&children[w])) {
            struct waiter waiter = {open_pool("pool", 0, 0), rounds};
            (void)wait_in_rounds(&waiter);
            usher_close(waiter.pool);
            _exit(0);
        }
    }
    hold_in_rounds(pool, rounds, count, waiters);
    for (unsigned w = 0; w < waiters; w++) {
        AWAIT(gone(&children[w]));
    }
    (void)expect_exactly(pool, 1);
    usher_close(pool);
    EXPECT_EQ(usher_remove("pool"), 0);
    (void)munmap(rounds, sizeof *rounds);
}

static void race_by_threads(const char *name, unsigned count, unsigned waiters)
{
    struct rounds rounds = {0};
    struct waiter waiter = {open_pool(name, 1, 8), &rounds};
    pthread_t threads[MOST_WAITERS];
    for (unsigned w = 0; w < waiters; w++) {
        EXPECT_EQ(pthread_create(&threads[w], NULL, wait_in_rounds, &waiter), 0);
    }
    hold_in_rounds(waiter.pool, &rounds, count, waiters);
    for (unsigned w = 0; w < waiters; w++) {
        EXPECT_EQ(pthread_join(threads[w], NULL), 0);
    }
    if (name != NULL) {
        (void)expect_exactly(waiter.pool, 1);
    }
    usher_close(waiter.pool);
    EXPECT(name == NULL || usher_remove(name) == 0);
}

static void giving_up_and_being_granted_exclude_each_other(void)
{
    race_by_processes(4000 * longer, 1);
    race_by_processes(2000 * longer, 3);
    race_by_threads("pool", 4000 * longer, 1);
    race_by_threads("pool", 2000 * longer, 3);
    race_by_threads(NULL, 4000 * longer, 1);
    race_by_threads(NULL, 2000 * longer, 3);
}

/*
 * Resizing under load. The log has every number of seats, in order; an entry is written before its
 * resize starts. `settled` counts the resizes that are complete. Each guest records `settled`
 * before it acquires. From then on the largest log entry since that point bounds the number of
 * holders.
 */
struct load {
    pthread_mutex_t mutex; /* protects what follows; no process is killed here */
    uint32_t inside;
    uint32_t came[WORKERS]; /* `settled` when that worker came; UINT32_MAX: not a holder */
    bool taken[MOST_SEATS];
    bool wrong;
    uint32_t most_inside;
    unsigned long entries;
    /* written by the resizer */
    atomic_uint settled, logged, stop;
    atomic_uint log[RESIZES];
};

static struct load *load;

static void lock_load(void)
{
    EXPECT_EQ(pthread_mutex_lock(&load->mutex), 0);
}

static void unlock_load(void)
{
    EXPECT_EQ(pthread_mutex_unlock(&load->mutex), 0);
}

static void enter_load(unsigned worker, uint32_t came, const struct usher_seat *seat)
{
    uint32_t first = came;
    uint32_t most = 0;
    lock_load();
    load->inside++;
    load->entries++;
    load->most_inside = load->inside > load->most_inside ? load->inside : load->most_inside;
    load->came[worker] = came;
    for (unsigned w = 0; w < WORKERS; w++) {
        first = load->came[w] < first ? load->came[w] : first;
    }
    for (uint32_t at = first; at <= atomic_load(&load->logged); at++) {
        most = atomic_load(&load->log[at]) > most ? atomic_load(&load->log[at]) : most;
    }
    bool right = load->inside <= most && seat->number < MOST_SEATS && !load->taken[seat->number];
    if (!right) {
        (void)fprintf(stderr,
                      "%u holders, seat %u was %s, at most %u seats since resize %u of %u\n",
                      load->inside, seat->number, load->taken[seat->number] ? "taken" : "free",
                      most, first, atomic_load(&load->logged));
        load->wrong = true;
    }
    load->taken[seat->number] = true;
    unlock_load();
    EXPECT(right);
}

static void leave_load(unsigned worker, const struct usher_seat *seat)
{
    lock_load();
    load->inside--;
    load->came[worker] = UINT32_MAX;
    load->taken[seat->number] = false;
    unlock_load();
}

static void come_and_go(unsigned worker, uint64_t dice)
{
    struct usher_pool *pool = open_pool("pool", 0, 0);
    while (atomic_load(&load->stop) == 0) {
        struct usher_seat seat;
        uint32_t came = atomic_load(&load->settled);
        uint32_t way = roll(&dice, 10);
        struct timespec deadline = after_us(roll(&dice, 500));
        int error = way < 5   ? usher_try_acquire(pool, &seat)
                    : way < 8 ? usher_acquire_until(pool, &seat, &deadline)
                              : usher_acquire(pool, &seat);
        if (error == 0) {
            enter_load(worker, came, &seat);
            pause_us((long)roll(&dice, 100));
            leave_load(worker, &seat);
            EXPECT_EQ(usher_release(pool, &seat), 0);
        } else {
            EXPECT(error == -EAGAIN || error == -ETIMEDOUT);
            (void)sched_yield();
        }
    }
    usher_close(pool);
    _exit(0);
}

static void set_seats(struct usher_pool *pool, uint32_t seats)
{
    uint32_t next = atomic_load(&load->logged) + 1;
    EXPECT(next < RESIZES);
    now_doing("resize %u, to %u", next, seats);
    atomic_store(&load->log[next], seats);
    atomic_store(&load->logged, next);
    EXPECT_EQ(usher_resize(pool, seats), 0);
    atomic_store(&load->settled, next);
}

static void begin_load(void)
{
    pthread_mutexattr_t shared;
    load = share(sizeof *load);
    EXPECT_EQ(pthread_mutexattr_init(&shared), 0);
    EXPECT_EQ(pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED), 0);
    EXPECT_EQ(pthread_mutex_init(&load->mutex, &shared), 0);
    for (unsigned w = 0; w < WORKERS; w++) {
        load->came[w] = UINT32_MAX;
    }
}

static void a_pool_is_resized_under_load(void)
{
    struct child workers[WORKERS];
    struct usher_pool *pool = open_pool("pool", MOST_SEATS, 32);
    begin_load();
    atomic_store(&load->log[0], MOST_SEATS);
    for (unsigned w = 0; w < WORKERS; w++) {
        uint64_t dice = seed + below(1000000);
        if (begin_child(&workers[w])) {
            come_and_go(w, dice);
        }
    }
    for (unsigned change = 0; change < 1000 * longer; change++) {
        EXPECT(!load->wrong);
        set_seats(pool, below(4) == 0 ? below(2) : below(MOST_SEATS + 1));
        pause_us((long)below(1500));
    }
    set_seats(pool, 3);
    atomic_store(&load->stop, 1);
    for (unsigned w = 0; w < WORKERS; w++) {
        AWAIT(gone(&workers[w]));
    }
    (void)expect_exactly(pool, 3);
    (void)printf("  %u resizes, %lu entries, at most %u holders\n", atomic_load(&load->settled),
                 load->entries, load->most_inside);
    EXPECT(load->entries > 1000);
    usher_close(pool);
    EXPECT_EQ(usher_remove("pool"), 0);
    (void)munmap(load, sizeof *load);
}

/* A pool shrinks below its number of holders and then grows. The new seats first replace the
   missing ones; waiters get none of them. */
static void growing_first_replaces_seats_owed_after_shrinking(void)
{
    struct usher_pool *pool = open_pool("pool", 2, 8);
    struct usher_seat seats[2];
    struct usher_info info;
    struct child waiter;
    now_doing("shrink, grow");
    EXPECT_EQ(usher_acquire(pool, &seats[0]), 0);
    EXPECT_EQ(usher_acquire(pool, &seats[1]), 0);
    if (begin_child(&waiter)) {
        struct usher_pool *own = open_pool("pool", 0, 0);
        struct usher_seat seat;
        EXPECT_EQ(usher_acquire(own, &seat), 0);
        EXPECT_EQ(usher_release(own, &seat), 0);
        usher_close(own);
        _exit(0);
    }
    AWAIT(position_of(pool, waiter.pid) == 1);
    EXPECT_EQ(usher_resize(pool, 0), 0);
    EXPECT_EQ(usher_resize(pool, 2), 0);
    EXPECT(usher_inspect(pool, &info, NULL, 0) >= 0);
    EXPECT_EQ(info.holders, 2);
    EXPECT_EQ(info.waiters, 1);
    EXPECT_EQ(info.owed, 0);
    EXPECT_EQ(usher_release(pool, &seats[0]), 0);
    AWAIT(gone(&waiter));
    EXPECT_EQ(usher_release(pool, &seats[1]), 0);
    (void)expect_exactly(pool, 2);
    usher_close(pool);
    EXPECT_EQ(usher_remove("pool"), 0);
}

/* Two concurrent resizes do not block each other for ever, and the final k is one of the two. */
static void two_processes_may_resize_at_once(void)
{
    struct usher_pool *pool = open_pool("pool", 2, 8);
    struct child others[2];
    now_doing("two resize");
    for (unsigned o = 0; o < 2; o++) {
        uint64_t dice = seed + below(1000000);
        if (begin_child(&others[o])) {
            struct usher_pool *own = open_pool("pool", 0, 0);
            for (unsigned change = 0; change < 10000 * longer; change++) {
                EXPECT_EQ(usher_resize(own, roll(&dice, MOST_SEATS + 1)), 0);
            }
            usher_close(own);
            _exit(0);
        }
    }
    AWAIT(gone(&others[0]) && gone(&others[1]));
    EXPECT_EQ(usher_resize(pool, 2), 0);
    (void)expect_exactly(pool, 2);
    usher_close(pool);
    EXPECT_EQ(usher_remove("pool"), 0);
}

/* A holder stays; several overlapping processes behind it give up again and again. */
struct behind {
    atomic_uint gave_up[HASTY];
    atomic_uint entered;
    struct {
        atomic_uint entry;
        _Atomic uint64_t ticket;
    } patient[MOST_WAITERS];
};

static void give_up_over_and_over(struct behind *behind, unsigned hasty, unsigned times)
{
    struct usher_pool *pool = open_pool("pool", 0, 0);
    for (unsigned time = 0; time < times; time++) {
        struct usher_seat seat;
        struct timespec deadline = time % 10 == 0 ? after_us(5) : (struct timespec){0, 0};
        EXPECT_EQ(usher_acquire_until(pool, &seat, &deadline), -ETIMEDOUT);
        atomic_fetch_add(&behind->gave_up[hasty], 1);
    }
    usher_close(pool);
    _exit(0);
}

static void be_patient(struct behind *behind, unsigned who)
{
    struct usher_pool *pool = open_pool("pool", 0, 0);
    struct usher_seat seat;
    EXPECT_EQ(usher_acquire(pool, &seat), 0);
    atomic_store(&behind->patient[who].ticket, seat.ticket);
    atomic_store(&behind->patient[who].entry, atomic_fetch_add(&behind->entered, 1) + 1);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    usher_close(pool);
    _exit(0);
}

static unsigned gave_up(const struct behind *behind)
{
    unsigned sum = 0;
    for (unsigned h = 0; h < HASTY; h++) {
        sum += atomic_load(&behind->gave_up[h]);
    }
    return sum;
}

/* The first patient waiter arrives before the impatient ones, the next among them, the last
   after them. */
static void stay_while_others_give_up(uint32_t guests)
{
    enum { TIMES = 33334 };
    struct behind *behind = share(sizeof *behind);
    struct usher_pool *pool = open_pool("pool", 1, guests);
    struct child hasty[HASTY];
    struct child patient[MOST_WAITERS];
    struct usher_seat seat;
    struct usher_info info;
    uint32_t longest = 0;
    unsigned came = 0;
    now_doing("a line for %u guests", guests);
    EXPECT_EQ(usher_acquire(pool, &seat), 0);
    int64_t began = now_ns();
    for (unsigned h = 0; h <= HASTY; h++) {
        if (h > 0 && begin_child(&hasty[h - 1])) {
            give_up_over_and_over(behind, h - 1, TIMES * longer);
        }
        if (h == 0 && begin_child(&patient[came++])) {
            be_patient(behind, 0);
        }
        AWAIT(position_of(pool, patient[0].pid) == 1);
    }
    for (bool all = false; !all;) {
        unsigned so_far = gave_up(behind);
        EXPECT(usher_inspect(pool, &info, NULL, 0) >= 0);
        longest = info.waiters > longest ? info.waiters : longest;
        if (came == 1 && so_far > HASTY * TIMES * longer / 3 && begin_child(&patient[came++])) {
            be_patient(behind, 1);
        }
        all = true;
        for (unsigned h = 0; h < HASTY; h++) {
            all = gone(&hasty[h]) && all;
        }
        pause_us(100);
    }
    double seconds = (double)(now_ns() - began) / 1e9;
    if (begin_child(&patient[came++])) {
        be_patient(behind, 2);
    }
    AWAIT(position_of(pool, patient[2].pid) == 3);
    EXPECT(longest <= 2 * (HASTY + 2)); /* a waiter that comes again during the scan may appear
                                           twice */
    EXPECT_EQ(usher_release(pool, &seat), 0);
    for (unsigned p = 0; p < MOST_WAITERS; p++) {
        AWAIT(gone(&patient[p]));
        EXPECT_EQ(atomic_load(&behind->patient[p].entry), p + 1);
        EXPECT(p == 0 || (int32_t)(atomic_load(&behind->patient[p].ticket) -
                                   atomic_load(&behind->patient[p - 1].ticket)) > 0);
    }
    uint64_t places = atomic_load(&behind->patient[MOST_WAITERS - 1].ticket) - seat.ticket;
    (void)printf("  %u guests: %u gave up in %.1f s; at most %u seen in line, %u positions used\n",
                 guests, gave_up(behind), seconds, longest, (unsigned)places);
    EXPECT(places < guests); /* the line did not wrap: it has about as many positions as guests */
    EXPECT(usher_inspect(pool, &info, NULL, 0) >= 0);
    EXPECT_EQ(info.gave_up, gave_up(behind));
    (void)expect_exactly(pool, 1);
    usher_close(pool);
    EXPECT_EQ(usher_remove("pool"), 0);
    (void)munmap(behind, sizeof *behind);
}

static void a_line_behind_a_holder_that_stays_does_not_fill_up(void)
{
    stay_while_others_give_up(8);
    stay_while_others_give_up(1024);
}

int main(int argc, char **argv)
{
    support_begin(argc, argv);
    longer = support_slow(argc, argv) ? 20 : 1;
    RUN(giving_up_and_being_granted_exclude_each_other);
    RUN(growing_first_replaces_seats_owed_after_shrinking);
    RUN(a_pool_is_resized_under_load);
    RUN(two_processes_may_resize_at_once);
    RUN(a_line_behind_a_holder_that_stays_does_not_fill_up);
    return 0;
}
