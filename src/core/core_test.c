/*
 * The core as it ships, in real processes that share memory and are killed at random instants.
 *
 * Each child takes a ticket, waits by reading its row, claims a seat, stays a while and leaves; now
 * and then it gives up. The parent kills children with SIGKILL, waits for their death, reaps their
 * rows and starts other children in them. Every entry is checked: a seat has one live owner. At the
 * end the pool has exactly its seats. usage: core_test [SEED]
 */
#include "core/core.h"

#include "core/fast.h"
#include "core/small_core.h"
#include "test.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROWS = 12, SEATS = 8, LINE = 32, WORDS = SMALL_CORE_WORDS(ROWS, LINE, SEATS) };

/* What the processes share. `owner` is the test's own record, outside the pool's words. */
struct shared {
    _Atomic uint64_t words[WORDS];
    atomic_uint owner[SEATS]; /* row + 1 of the guest that says it holds the seat; 0: none */
    atomic_uint entries[ROWS], gave_up[ROWS];
    atomic_uint stop;
    atomic_uint clash; /* entries that found a live owner in their seat */
};

static struct shared *shared;
static struct core core;
static uint64_t seed = 1;

static uint32_t below(uint32_t limit)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(seed >> 33) % limit;
}

static void lay_out(uint32_t seats)
{
    core = small_core(shared->words, ROWS, LINE, SEATS, seats);
}

/* What a guest remembers between its requests. */
struct mine {
    struct core_run cycles, questions;
};

static struct mine mine_of(uint32_t cycle)
{
    return (struct mine){{cycle, cycle, false}, {0, 0, false}};
}

static uint64_t row_word(uint32_t row)
{
    return atomic_load(&core.words[core__row_at(&core, row)]);
}

/* `yields`: how long it stays. Beside other work each may take milliseconds. */
static void sit_and_leave(uint32_t row, struct mine *mine, const struct core_take *take,
                          uint32_t yields)
{
    struct core_claim claim = {.row = row, .seats = core.seats, .run = mine->questions};
    claim.ok = take->granted && take->enter.seated;
    claim.seat = take->enter.seat;
    while (!claim.ok) {
        (void)core_claim(&core, &claim);
        EXPECT(!claim.full);
    }
    mine->questions = claim.run;
    if (atomic_exchange(&shared->owner[claim.seat], row + 1) != 0) {
        atomic_fetch_add(&shared->clash, 1);
    }
    atomic_fetch_add(&shared->entries[row], 1);
    for (; yields > 0; yields--) {
        (void)sched_yield();
    }
    atomic_store(&shared->owner[claim.seat], 0);
    struct core_release release = {
        .row = row, .cycle = mine->cycles.last, .ticket = core_row_ticket(row_word(row))};
    (void)core_release(&core, &release);
}

/* One request: enter or wait, hold a seat, leave; or give up. */
static void request(uint32_t row, struct mine *mine, bool may_give_up)
{
    struct core_take take = {.row = row, .run = mine->cycles};
    take.seat = core_hint_seat(atomic_load(&core.words[core__own_hint_at(&core, row)]));
    (void)core_take(&core, &take);
    EXPECT(!take.full);
    mine->cycles = take.run;
    if (take.granted) {
        sit_and_leave(row, mine, &take, below(3));
        return;
    }
    uint32_t patience = may_give_up && below(4) == 0 ? below(20) : UINT32_MAX;
    while (core_row_state(row_word(row)) != CORE_GRANTED) {
        struct core_finish_published help = {.by = row};
        if (patience-- == 0) {
            struct core_give_up give_up = {.row = row, .cycle = take.run.last};
            (void)core_give_up(&core, &give_up);
            if (!give_up.granted) {
                atomic_fetch_add(&shared->gave_up[row], 1);
                return;
            }
        }
        (void)core_finish_published(&core, &help);
        (void)sched_yield();
    }
    sit_and_leave(row, mine, &take, below(3));
}

static pid_t start(uint32_t row)
{
    struct mine mine = mine_of(core_row_cycle(row_word(row)));
    pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) {
        seed ^= (uint64_t)getpid() << 20;
        while (atomic_load(&shared->stop) == 0) {
            request(row, &mine, true);
        }
        _exit(0);
    }
    return child;
}

/* Reap the row of a child that waitpid(2) has reported as dead. */
static void reap(uint32_t row)
{
    struct core_reap f = {.by = row, .row = row, .cycle = core_row_cycle(row_word(row))};
    core_disown(&core, row);
    for (uint32_t s = 0; s < SEATS; s++) {
        unsigned mine = row + 1;
        atomic_compare_exchange_strong(&shared->owner[s], &mine, 0);
    }
    (void)core_reap(&core, &f);
    EXPECT_EQ(core_row_state(row_word(row)), CORE_IDLE);
}

static void expect_quiet(uint32_t seats)
{
    uint64_t v = atomic_load(&core.words[CORE_AT_V(&core)]);
    uint64_t i = atomic_load(&core.words[CORE_AT_I(&core)]);
    for (uint32_t row = 0; row < ROWS; row++) {
        EXPECT_EQ(core_row_state(row_word(row)), CORE_IDLE);
    }
    EXPECT_EQ(core_k_seats(atomic_load(&core.words[CORE_AT_K(&core)])), seats);
    EXPECT_EQ(core_ticket_after(core_v_valid(v), core_i_issue(i)) - (int32_t)core_v_owed(v), seats);
}

static void pause_us(long us)
{
    struct timespec t = {0, us * 1000};
    (void)nanosleep(&t, NULL); /* the interval between kills; no test waits by time */
}

static time_t now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* Kill and restart children that many times. A machine with other work may need long for that:
   after half a minute FEWEST are enough. At the end no seat is lost or made. */
static void survive(uint32_t seats, unsigned kills)
{
    enum { FEWEST = 50, LONG_S = 30 };
    const time_t began = now_s();
    unsigned killed = 0;
    pid_t children[ROWS];
    unsigned entries = 0;
    unsigned gave_up = 0;
    memset(shared, 0, sizeof *shared);
    lay_out(seats);
    for (uint32_t row = 0; row < ROWS; row++) {
        children[row] = start(row);
    }
    for (; killed < kills && (killed < FEWEST || now_s() - began < LONG_S); killed++) {
        uint32_t row = below(ROWS);
        pause_us((long)below(1500));
        EXPECT_EQ(kill(children[row], SIGKILL), 0);
        EXPECT_EQ(waitpid(children[row], NULL, 0), children[row]);
        reap(row);
        children[row] = start(row);
    }
    atomic_store(&shared->stop, 1);
    for (uint32_t row = 0; row < ROWS; row++) {
        int status;
        EXPECT_EQ(waitpid(children[row], &status, 0), children[row]);
        EXPECT_EQ(status, 0);
        entries += atomic_load(&shared->entries[row]);
        gave_up += atomic_load(&shared->gave_up[row]);
    }
    EXPECT_EQ(atomic_load(&shared->clash), 0);
    expect_quiet(seats);
    (void)printf("  k=%u: %u killed, %u entries, %u gave up\n", seats, killed, entries, gave_up);
    EXPECT(entries > 0);
}

static void a_pool_survives_random_kills(void)
{
    survive(1, 300);
    survive(2, 300);
    survive(8, 300);
}

static void a_single_guest_is_granted_at_once_and_leaves_no_trace(void)
{
    memset(shared, 0, sizeof *shared);
    lay_out(2);
    struct mine mine = mine_of(0);
    for (unsigned round = 0; round < 100000; round++) {
        struct core_take take = {.row = 3, .run = mine.cycles};
        (void)core_take(&core, &take);
        EXPECT(take.granted);
        mine.cycles = take.run;
        sit_and_leave(3, &mine, &take, 0);
    }
    expect_quiet(2);
}

static void the_number_of_seats_can_grow_and_shrink(void)
{
    struct core_run run = {0, 0, false};
    memset(shared, 0, sizeof *shared);
    lay_out(2);
    for (unsigned change = 0; change < 12; change++) {
        struct core_resize resize = {.row = 0, .run = run, .grow = change < 6};
        (void)core_resize(&core, &resize);
        run = resize.run;
        EXPECT_EQ(core_k_seats(atomic_load(&core.words[CORE_AT_K(&core)])),
                  change < 6 ? 3 + change : 13 - change);
        EXPECT_EQ(core_v_owed(atomic_load(&core.words[CORE_AT_V(&core)])), 0);
    }
    expect_quiet(2);
}

/* The first row and the last two of the largest pool, with one seat: they wait for each other, and
   one dies. */
static void the_largest_pool_has_a_last_row(void)
{
    enum { PLACES = 1 << 16, LAST = CORE_MAX_ROWS - 1 };
    static const uint32_t rows[] = {LAST, 0, LAST - 1};
    void *memory = calloc(SMALL_CORE_WORDS(CORE_MAX_ROWS, PLACES, 1), sizeof(uint64_t));
    EXPECT(memory != NULL);
    struct core large = small_core(memory, CORE_MAX_ROWS, PLACES, 1, 1);
    struct mine mine[3] = {0};
    for (unsigned round = 0; round < 300; round++) {
        for (unsigned g = 0; g < 3; g++) {
            struct core_take take = {.row = rows[g], .run = mine[g].cycles, .seat = CORE_NO_SEAT};
            (void)core_take(&large, &take);
            EXPECT_EQ(take.granted, g == 0);
            mine[g].cycles = take.run;
        }
        for (unsigned g = 0; g < 3; g++) {
            uint64_t word = atomic_load(&large.words[core__row_at(&large, rows[g])]);
            struct core_claim claim = {.row = rows[g], .seats = 1, .run = mine[g].questions};
            EXPECT(core_row_state(word) == CORE_GRANTED || core_row_state(word) == CORE_ENTERING);
            (void)core_claim(&large, &claim);
            EXPECT(claim.ok);
            mine[g].questions = claim.run;
            EXPECT_EQ(core_seat_row(atomic_load(&large.words[large.at_seat])), rows[g]);
            EXPECT_EQ(claim.inherited, g == 1);
            if (g == 0) { /* the last row's guest dies in its seat */
                struct core_reap reap = {
                    .by = rows[1], .row = rows[g], .cycle = mine[g].cycles.last};
                (void)core_reap(&large, &reap);
            } else {
                struct core_release release = {
                    .row = rows[g], .cycle = mine[g].cycles.last, .ticket = core_row_ticket(word)};
                (void)core_release(&large, &release);
            }
            word = atomic_load(&large.words[core__row_at(&large, rows[g])]);
            EXPECT_EQ(core_row_state(word), CORE_IDLE);
        }
    }
    free(memory);
}

int main(int argc, char **argv)
{
    seed = argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t)time(NULL);
    (void)printf("seed %llu\n", (unsigned long long)seed);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT(shared != MAP_FAILED);
    RUN(a_single_guest_is_granted_at_once_and_leaves_no_trace);
    RUN(the_number_of_seats_can_grow_and_shrink);
    RUN(the_largest_pool_has_a_last_row);
    RUN(a_pool_survives_random_kills);
    return 0;
}
