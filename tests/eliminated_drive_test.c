/*
 * Supervisor elimination at sizes that cannot be explored: the bucket algorithm and the hidden
 * queue without their supervisors. An adversary drives them and stops up to r-1 processes for good,
 * where it hurts most. Every state is compared with a supervisor that runs alongside, as in
 * eliminated_test.c. The supervisor's steps must continue. Every live process in T must enter if a
 * seat is left for it.
 *
 *     eliminated_drive_test [slow | SEED]   more runs; or the runs of one seed, as printed
 */
#include "check/explore/instance.h"
#include "papers/bucket.h"
#include "papers/eliminated_parts.h"
#include "papers/hidden_queue.h"
#include "test.h"

#include <string.h>

enum {
    STEPS = 10000,        /* steps of a run before its final phase */
    LONGEST_GAP = 100000, /* steps without a supervisor step after which it counts as ceased */
    END = 400000          /* steps of the final phase, in which all live processes must enter */
};

/* Which process the adversary stops. */
enum target {
    HOLDER,   /* a helper with a CURRENT copy */
    BEHIND,   /* a process with a PREVIOUS copy */
    RECEIVER, /* a process that has received a part of the state */
    ENABLED,  /* a process that could enter with its next step */
    QUITTER,  /* a quitter */
    IN_MAIN,  /* buckets: a process of main that is asked to move */
    ANYBODY,
    TARGETS
};

struct run {
    struct step_system system;
    struct check_instance instance;
    struct eliminated_shared shared; /* the current value */
    struct eliminated_own own[STEP_MAX_PROCESSES];
    uint64_t random;
    enum target target;
    unsigned stopped, most_stopped; /* the stopped set, and its maximal size */
    unsigned patience;              /* average stay in C, in steps */
    unsigned long steps, simulated, distributed, gap, longest_gap, entered;
};

static struct totals {
    unsigned long runs, steps, simulated, distributed, stopped, entered, longest_gap;
} totals;

static unsigned draw(struct run *run, unsigned bound)
{
    run->random ^= run->random << 13;
    run->random ^= run->random >> 7;
    run->random ^= run->random << 17;
    return (unsigned)(run->random >> 33) % bound;
}

static void fail(const struct run *run, const char *what)
{
    (void)fprintf(stderr, "n=%u k=%u r=%u, target %d, after %lu steps: %s\n", run->system.n,
                  run->system.k, run->system.robustness, run->target, run->steps, what);
    exit(1);
}

static enum step_region region(const struct run *run, unsigned i)
{
    return run->system.machine->region(&run->system, run->own[i].worker);
}

static const struct supervised *subject_of(const struct run *run)
{
    return eliminated_subject(&run->system);
}

static enum supervised_eligibility class_of(const struct run *run, unsigned i)
{
    return subject_of(run)->eligibility(&eliminated_layout(&run->system)->size, run->shared.value,
                                        run->own[i].worker);
}

/* Would the process be in C after its next step? */
static bool is_able(const struct run *run, unsigned i)
{
    const struct supervised_size *size = &eliminated_layout(&run->system)->size;
    struct eliminated_shared shared = run->shared;
    struct eliminated_own own = run->own[i];
    subject_of(run)->work(size, shared.value, own.worker, i);
    return subject_of(run)->region(size, own.worker) == STEP_CRITICAL;
}

static bool is_asked_to_move(const struct run *run, unsigned i)
{
    struct bucket_value value;
    struct bucket_worker worker;
    memcpy(&value, run->shared.value, sizeof value);
    memcpy(&worker, run->own[i].worker, sizeof worker);
    return subject_of(run) == &papers_bucket_system && value.move && worker.color == value.main;
}

/* Take one step, and check everything that must hold after it. */
static void step(struct run *run, unsigned i)
{
    const struct step_system *system = &run->system;
    struct step_access access;
    uint64_t words[STEP_MAX_SHARED_WORDS];
    bool simulates = eliminated_can_simulate(system, &run->shared, &run->own[i]);
    enum step_region before = region(run, i);
    EXPECT(check_instance_step(&run->instance, i, &access));
    for (unsigned w = 0; w < system->shared_words; w++) {
        words[w] = atomic_load(&run->instance.words[w]);
    }
    eliminated_get(system, words, &run->shared);
    eliminated_get_own(system, step_state_of(system, run->instance.states, i), &run->own[i]);
    run->steps++;
    run->gap = simulates ? 0 : run->gap + 1;
    run->longest_gap = run->gap > run->longest_gap ? run->gap : run->longest_gap;
    run->simulated += simulates;
    run->distributed += simulates && run->shared.loccur == DIST;
    run->entered += before != STEP_CRITICAL && region(run, i) == STEP_CRITICAL;
    const char *wrong = system->machine->wrong(system, words, run->instance.states);
    if (wrong != NULL) {
        fail(run, wrong);
    }
    if (check_instance_critical(&run->instance) > system->k) {
        fail(run, "more than k processes are in C");
    }
    if (run->gap > LONGEST_GAP) {
        fail(run, "the supervisor's steps have ceased (S4)");
    }
}

static bool is_target(const struct run *run, unsigned i)
{
    const struct eliminated_own *own = &run->own[i];
    unsigned status = own->slot == 0 ? FREE : run->shared.status[own->slot - 1];
    bool has_part = false;
    for (unsigned t = 0; status == RECEIVE && t < eliminated_layout(&run->system)->slots; t++) {
        has_part = has_part || own->got[t] > 0;
    }
    switch (run->target) {
    case HOLDER:
        return status == CURRENT && class_of(run, i) == SUPERVISED_HELPER;
    case BEHIND:
        return status == PREVIOUS;
    case RECEIVER:
        return has_part;
    case ENABLED:
        return is_able(run, i);
    case QUITTER:
        return class_of(run, i) == SUPERVISED_QUITTER;
    case IN_MAIN:
        return is_asked_to_move(run, i);
    case ANYBODY:
    case TARGETS:
        break;
    }
    return true;
}

/* Sometimes stop a process for good. */
static void maybe_stop(struct run *run)
{
    unsigned i = draw(run, run->system.n);
    bool enough = (unsigned)__builtin_popcount(run->stopped) >= run->most_stopped;
    if (!enough && run->steps > STEPS / 8 && draw(run, 50) == 0 && region(run, i) == STEP_TRYING &&
        is_target(run, i)) {
        run->stopped |= 1U << i;
    }
}

/* Let live processes take steps at random; a process stays in C or R for a while. */
static void drive(struct run *run)
{
    unsigned sleeper = draw(run, run->system.n);
    while (run->steps < STEPS) {
        unsigned i = draw(run, run->system.n);
        bool sleeps = i == sleeper && (run->stopped == 0 || region(run, i) != STEP_TRYING) &&
                      run->most_stopped > 0;
        bool stays = region(run, i) != STEP_TRYING && draw(run, run->patience) != 0;
        if (draw(run, 2000) == 0) {
            sleeper = draw(run, run->system.n);
        }
        if (!(run->stopped >> i & 1) && !sleeps && !stays) {
            step(run, i);
            maybe_stop(run);
        }
    }
}

/* No process leaves R any more; processes in C leave. The live ones in T must enter if a seat is
   left. */
static void finish(struct run *run)
{
    unsigned long end = run->steps + END;
    unsigned stopped = (unsigned)__builtin_popcount(run->stopped);
    bool a_process_tries = true;
    while (a_process_tries && (stopped < run->system.k || run->steps < end - END + STEPS)) {
        a_process_tries = false;
        for (unsigned i = 0; i < run->system.n; i++) {
            bool lives = !(run->stopped >> i & 1);
            if (lives && region(run, i) != STEP_REMAINDER) {
                step(run, i);
                a_process_tries = a_process_tries || region(run, i) == STEP_TRYING;
            }
        }
        if (run->steps > end) {
            fail(run, "a live process in T has not entered");
        }
    }
}

static void add_up(const struct run *run)
{
    totals.runs++;
    totals.steps += run->steps;
    totals.simulated += run->simulated;
    totals.distributed += run->distributed;
    totals.stopped += (unsigned)__builtin_popcount(run->stopped);
    totals.entered += run->entered;
    if (run->longest_gap > totals.longest_gap) {
        totals.longest_gap = run->longest_gap;
    }
}

static const struct size {
    unsigned n, k, r;
} sizes[] = {{4, 1, 1},  {5, 1, 2},  {8, 1, 2},  {8, 2, 2},  {8, 3, 1},
             {12, 1, 3}, {12, 2, 3}, {16, 2, 2}, {16, 3, 3}, {16, 1, 3}};

static void begin(struct run *run, const struct step_machine *machine, const struct size *size,
                  uint64_t seed, enum target target)
{
    char why[STEP_WHY_BYTES];
    memset(run, 0, sizeof *run);
    EXPECT_EQ(step_system_init(&run->system, machine, size->n, size->k, size->r, why), 0);
    check_instance_init(&run->instance, &run->system);
    subject_of(run)->init(&eliminated_layout(&run->system)->size, run->shared.value,
                          run->shared.xs);
    run->random = (seed + 1000 * (size->n + 100 * target)) * 0x9e3779b97f4a7c15ULL;
    run->target = target;
    run->most_stopped = size->r - 1;
    run->patience = 1 + draw(run, 4) * draw(run, 10);
}

static void drive_all(const struct supervised *subject, uint64_t seed)
{
    static struct run run;
    struct step_machine plain = {
        .name = "eliminated", .subject = subject, .wide = true, .region = eliminated_region};
    struct step_machine machine = eliminated_watched(&plain);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (unsigned target = 0; target < TARGETS; target++) {
            begin(&run, &machine, &sizes[s], seed, (enum target)target);
            drive(&run);
            finish(&run);
            add_up(&run);
        }
    }
}

static void show_totals(const char *name)
{
    (void)printf("%s, %lu runs: %lu steps, %lu of the supervisor, %lu of them with its state "
                 "distributed; %lu entries, %lu stopped for good, at most %lu steps without the "
                 "supervisor\n",
                 name, totals.runs, totals.steps, totals.simulated, totals.distributed,
                 totals.entered, totals.stopped, totals.longest_gap);
    EXPECT(totals.stopped > totals.runs / 2);
    EXPECT(totals.distributed > totals.simulated / 2);
    memset(&totals, 0, sizeof totals);
}

int main(int argc, char **argv)
{
    bool slow = argc > 1 && strcmp(argv[1], "slow") == 0;
    uint64_t first = argc > 1 && !slow ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t seeds = slow ? 20 : 1;
    (void)printf("seeds %llu to %llu\n", (unsigned long long)first,
                 (unsigned long long)(first + seeds - 1));
    (void)fflush(stdout);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        drive_all(&papers_bucket_system, seed);
    }
    show_totals("buckets");
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        drive_all(&papers_hidden_queue_system, seed);
    }
    show_totals("hidden queue");
    return 0;
}
