/* Run a machine on threads or processes: see run.h. */
#include "lab/run.h"

#include "step/wide.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    LOGGED_ENTRIES = 1 << 19, /* of all processes together */
    SUPERVISOR_STEPS = 16     /* of a supervisor between two yields */
};

enum order { GO_ON, FINISH, GIVE_UP };

/* Everything shared: one anonymous mapping, laid out by `lay_out`. */
struct arena {
    const struct step_system *system;
    _Alignas(64) atomic_uint order;   /* enum order */
    _Alignas(64) atomic_uint at_work; /* workers that have not finished */
    _Alignas(64) atomic_int inside;
    atomic_int most_inside;
    _Alignas(64) _Atomic uint64_t clock;
    _Alignas(64) _Atomic uint64_t words[STEP_MAX_SHARED_WORDS];
    struct step_wide wide; /* in place of words, if all words are one variable */
    struct lab_process processes[STEP_MAX_PROCESSES];
    uint32_t log_size; /* log entries of each process */
};

struct worker {
    struct arena *arena;
    unsigned process;
};

static uint64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static uint64_t tick(struct arena *arena)
{
    return atomic_fetch_add(&arena->clock, 1) + 1;
}

static unsigned bucket_of(uint64_t ns)
{
    unsigned power = ns == 0 ? 0 : 63U - (unsigned)__builtin_clzll(ns);
    unsigned sub = power < 4 ? (unsigned)ns & 15 : (unsigned)(ns >> (power - 4)) & 15;
    return power * 16 + sub;
}

/* The smallest wait of a bucket. */
static uint64_t bucket_ns(unsigned bucket)
{
    unsigned power = bucket / 16;
    return power < 4 ? bucket % 16 : (1ULL << power) + ((uint64_t)(bucket % 16) << (power - 4));
}

static struct step_memory memory_of(struct arena *arena)
{
    return (struct step_memory){.words = arena->words,
                                .wide = arena->system->machine->wide ? &arena->wide : NULL};
}

static void note_entry(struct arena *arena, struct lab_process *own, const struct lab_entry *entry,
                       uint64_t waited_ns)
{
    int inside = atomic_fetch_add(&arena->inside, 1) + 1;
    int most = atomic_load(&arena->most_inside);
    while (inside > most && !atomic_compare_exchange_weak(&arena->most_inside, &most, inside)) {
    }
    own->cycles++;
    own->waits[bucket_of(waited_ns)]++;
    own->longest_wait_ns = waited_ns > own->longest_wait_ns ? waited_ns : own->longest_wait_ns;
    if (own->entries < arena->log_size) {
        own->log[own->entries++] = *entry;
    }
}

/* Step from C to R. False if the run was ended meanwhile. */
static bool leave(struct arena *arena, unsigned process, void *state)
{
    const struct step_system *system = arena->system;
    struct step_memory memory = memory_of(arena);
    for (unsigned steps = 1;; steps++) {
        system->machine->step(system, &memory, state, process);
        if (system->machine->region(system, state) == STEP_REMAINDER) {
            arena->processes[process].accesses += steps;
            return true;
        }
        if (atomic_load(&arena->order) == GIVE_UP) {
            arena->processes[process].stuck = 1;
            return false;
        }
        if (steps % system->shared_words == 0) {
            (void)sched_yield(); /* a process may wait for another in E too */
        }
    }
}

/* One cycle: R, T, C, E, R. False if the run was ended meanwhile. */
static bool cycle(struct arena *arena, unsigned process, void *state)
{
    const struct step_system *system = arena->system;
    const struct step_machine *machine = system->machine;
    struct step_memory memory = memory_of(arena);
    struct lab_process *own = &arena->processes[process];
    struct lab_entry entry = {0};
    uint64_t begin = now_ns();
    entry.arriving = tick(arena);
    machine->step(system, &memory, state, process);
    entry.arrived = tick(arena);
    unsigned steps = 1;
    for (; machine->region(system, state) != STEP_CRITICAL; steps++) {
        uint64_t before = atomic_load(&arena->clock);
        machine->step(system, &memory, state, process);
        if (machine->region(system, state) != STEP_CRITICAL) {
            entry.last_wait = before;
            if (atomic_load(&arena->order) == GIVE_UP) {
                own->stuck = 1;
                return false;
            }
            if (steps % system->shared_words == 0) {
                (void)sched_yield(); /* after enough steps to read all words */
            }
        }
    }
    entry.entered = tick(arena);
    own->accesses += steps;
    note_entry(arena, own, &entry, now_ns() - begin);
    (void)sched_yield(); /* stay inside a while, so that others arrive */
    atomic_fetch_sub(&arena->inside, 1);
    return leave(arena, process, state);
}

/* The supervisor steps until all workers have finished or the run is ended. It yields, for workers
   on the same processor. */
static void supervise(struct arena *arena, unsigned process)
{
    const struct step_system *system = arena->system;
    struct step_memory memory = memory_of(arena);
    _Alignas(8) unsigned char state[STEP_MAX_PRIVATE_BYTES] = {0};
    for (unsigned steps = 1;
         atomic_load(&arena->at_work) > 0 && atomic_load(&arena->order) != GIVE_UP; steps++) {
        system->machine->step(system, &memory, state, process);
        if (steps % SUPERVISOR_STEPS == 0) {
            (void)sched_yield();
        }
    }
}

static void *work(void *argument)
{
    const struct worker *worker = argument;
    _Alignas(8) unsigned char state[STEP_MAX_PRIVATE_BYTES] = {0};
    if (worker->process >= worker->arena->system->workers) {
        supervise(worker->arena, worker->process);
        return NULL;
    }
    /* at least once, however short the run is or late this process starts */
    while (cycle(worker->arena, worker->process, state) &&
           atomic_load(&worker->arena->order) == GO_ON) {
        if (worker->process % 4 == 3) {
            (void)sched_yield(); /* some processes cycle less than others */
        }
    }
    atomic_fetch_sub(&worker->arena->at_work, 1);
    return NULL;
}

/* The thread that ends a run: it tells all processes to finish, and ten seconds later tells those
   that are stuck to give up. */
struct conductor {
    struct arena *arena;
    double seconds;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* waits by CLOCK_MONOTONIC */
    bool over;              /* all have finished; under the lock */
};

/* Wait. True if the run ends before the time does. */
static bool over_within(struct conductor *conductor, double seconds)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)seconds;
    until.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    (void)pthread_mutex_lock(&conductor->lock);
    int error = 0;
    while (!conductor->over && error == 0) {
        error = pthread_cond_timedwait(&conductor->changed, &conductor->lock, &until);
    }
    bool over = conductor->over;
    (void)pthread_mutex_unlock(&conductor->lock);
    return over;
}

static void *conduct(void *argument)
{
    struct conductor *conductor = argument;
    if (!over_within(conductor, conductor->seconds)) {
        atomic_store(&conductor->arena->order, FINISH);
        if (!over_within(conductor, 10)) {
            atomic_store(&conductor->arena->order, GIVE_UP);
        }
    }
    return NULL;
}

static int run_threads(struct arena *arena, unsigned n)
{
    pthread_t threads[STEP_MAX_PROCESSES];
    struct worker workers[STEP_MAX_PROCESSES];
    unsigned started = 0;
    int error = 0;
    for (; started < n && error == 0; started++) {
        workers[started] = (struct worker){arena, started};
        error = -pthread_create(&threads[started], NULL, work, &workers[started]);
    }
    if (error != 0) {
        started--;
        atomic_store(&arena->order, GIVE_UP);
    }
    while (started > 0) {
        (void)pthread_join(threads[--started], NULL);
    }
    return error;
}

static int run_processes(struct arena *arena, unsigned n)
{
    pid_t children[STEP_MAX_PROCESSES];
    unsigned started = 0;
    int error = 0;
    for (; started < n && error == 0; started++) {
        children[started] = fork();
        if (children[started] == 0) {
            struct worker worker = {arena, started};
            (void)work(&worker);
            _exit(0);
        }
        error = children[started] < 0 ? -errno : 0;
    }
    if (error != 0) {
        started--;
        atomic_store(&arena->order, GIVE_UP);
    }
    while (started > 0) {
        int status = 0;
        (void)waitpid(children[--started], &status, 0);
        if (status != 0 && error == 0) {
            error = -ECHILD;
        }
    }
    return error;
}

/* The wait that a share of all waits does not exceed. */
static uint64_t quantile(const struct lab_run *run, double share)
{
    uint64_t sum = 0;
    for (unsigned bucket = 0; bucket < LAB_WAIT_BUCKETS; bucket++) {
        sum += run->waits[bucket];
        if ((double)sum >= share * (double)run->cycles) {
            return bucket_ns(bucket);
        }
    }
    return 0;
}

static void collect(struct lab_run *run, const struct arena *arena)
{
    unsigned n = run->system->workers;
    run->least_cycles = run->rounds == 0 ? UINT64_MAX : run->least_cycles;
    run->rounds++;
    for (unsigned i = 0; i < n; i++) {
        const struct lab_process *p = &arena->processes[i];
        run->cycles += p->cycles;
        run->accesses += p->accesses;
        for (unsigned bucket = 0; bucket < LAB_WAIT_BUCKETS; bucket++) {
            run->waits[bucket] += p->waits[bucket];
        }
        run->stuck += p->stuck;
        run->least_cycles = p->cycles < run->least_cycles ? p->cycles : run->least_cycles;
        run->most_cycles = p->cycles > run->most_cycles ? p->cycles : run->most_cycles;
        run->longest_wait_ns =
            p->longest_wait_ns > run->longest_wait_ns ? p->longest_wait_ns : run->longest_wait_ns;
    }
    unsigned most_inside = (unsigned)atomic_load(&arena->most_inside);
    run->most_inside = most_inside > run->most_inside ? most_inside : run->most_inside;
    run->median_wait_ns = quantile(run, 0.5);
    run->p99_wait_ns = quantile(run, 0.99);
    lab_count_overtaken(arena->processes, n, run);
}

static struct arena *lay_out(const struct lab_run *run, size_t *bytes)
{
    unsigned n = run->system->n;
    uint32_t log_size = LOGGED_ENTRIES / n;
    uint64_t words[STEP_MAX_SHARED_WORDS] = {0};
    *bytes = sizeof(struct arena) + (size_t)n * log_size * sizeof(struct lab_entry);
    struct arena *arena =
        mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (arena == MAP_FAILED) {
        return NULL;
    }
    arena->system = run->system;
    arena->log_size = log_size;
    atomic_init(&arena->at_work, run->system->workers);
    for (unsigned i = 0; i < n; i++) {
        arena->processes[i].log = (struct lab_entry *)(void *)(arena + 1) + (size_t)i * log_size;
    }
    run->system->machine->init(run->system, words);
    for (unsigned i = 0; i < run->system->shared_words; i++) {
        atomic_init(&arena->words[i], words[i]);
    }
    step_wide_init(&arena->wide, run->system, words);
    return arena;
}

int lab_run_for_real(struct lab_run *run)
{
    size_t bytes;
    pthread_t thread;
    struct arena *arena = lay_out(run, &bytes);
    if (arena == NULL) {
        return -errno;
    }
    struct conductor conductor = {.arena = arena, .seconds = run->seconds};
    pthread_condattr_t by_monotonic;
    (void)pthread_condattr_init(&by_monotonic);
    (void)pthread_condattr_setclock(&by_monotonic, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&conductor.lock, NULL);
    (void)pthread_cond_init(&conductor.changed, &by_monotonic);
    (void)pthread_condattr_destroy(&by_monotonic);
    int error = -pthread_create(&thread, NULL, conduct, &conductor);
    if (error == 0) {
        uint64_t begin = now_ns();
        error = run->processes ? run_processes(arena, run->system->n)
                               : run_threads(arena, run->system->n);
        run->elapsed += (double)(now_ns() - begin) * 1e-9;
        (void)pthread_mutex_lock(&conductor.lock);
        conductor.over = true;
        (void)pthread_cond_signal(&conductor.changed);
        (void)pthread_mutex_unlock(&conductor.lock);
        (void)pthread_join(thread, NULL);
    }
    if (error == 0) {
        collect(run, arena);
    }
    (void)pthread_cond_destroy(&conductor.changed);
    (void)pthread_mutex_destroy(&conductor.lock);
    (void)munmap(arena, bytes);
    return error;
}
