/*
 * A system of workers and a supervisor as a step machine, with the supervisor as the last process:
 * see supervised.h.
 *
 * The shared words are the value. All private states have the same length: a word that says whether
 * it is the supervisor's, then the state. A machine's initial private states must be all zero, so
 * the supervisor's state is stored as its difference from its initial state. While there is no
 * difference it looks like a worker's initial state, which does no harm.
 */
#include "papers/supervised.h"

#include <string.h>

struct private_state {
    uint64_t supervises; /* 1 if the rest is a supervisor's state other than its initial one */
    unsigned char state[SUPERVISED_SUPERVISOR_BYTES]; /* only the bytes that the system uses */
};

_Static_assert(SUPERVISED_WORKER_BYTES <= SUPERVISED_SUPERVISOR_BYTES, "a worker's fits, too");
_Static_assert(sizeof(struct private_state) <= STEP_MAX_PRIVATE_BYTES, "private states fit");
_Static_assert(SUPERVISED_VALUE_BYTES <= 8 * STEP_MAX_SHARED_WORDS, "a value fits");

static const struct supervised *subject_of(const struct step_system *system)
{
    return system->machine->subject;
}

struct supervised_size supervised_size_of(const struct step_system *system)
{
    return (struct supervised_size){system->workers, system->k, system->robustness,
                                    system->machine->variant};
}

int supervised_prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    const struct supervised *subject = subject_of(system);
    struct supervised_size size = supervised_size_of(system);
    unsigned state_bytes = subject->worker_bytes > subject->supervisor_bytes
                               ? subject->worker_bytes
                               : subject->supervisor_bytes;
    system->shared_words = subject->value_bytes / 8;
    system->private_bytes = (unsigned)offsetof(struct private_state, state) + state_bytes;
    system->claims = subject->claims;
    return subject->prepare(&size, why);
}

void supervised_init(const struct step_system *system, uint64_t *words)
{
    struct supervised_size size = supervised_size_of(system);
    _Alignas(8) unsigned char supervisor[SUPERVISED_SUPERVISOR_BYTES] = {0};
    subject_of(system)->init(&size, words, supervisor);
}

/* Convert between the supervisor's state and its stored difference; the same operation both
   ways. */
static void shift_by_first(const struct step_system *system, unsigned char *supervisor)
{
    const struct supervised *subject = subject_of(system);
    struct supervised_size size = supervised_size_of(system);
    _Alignas(8) unsigned char value[SUPERVISED_VALUE_BYTES] = {0};
    _Alignas(8) unsigned char first[SUPERVISED_SUPERVISOR_BYTES] = {0};
    subject->init(&size, value, first);
    for (unsigned i = 0; i < subject->supervisor_bytes; i++) {
        supervisor[i] = (unsigned char)(supervisor[i] ^ first[i]);
    }
}

static bool any(const unsigned char *bytes, unsigned count)
{
    unsigned char all = 0;
    for (unsigned i = 0; i < count; i++) {
        all |= bytes[i];
    }
    return all != 0;
}

static void delta(const struct step_system *system, uint64_t *words, void *state, unsigned process)
{
    const struct supervised *subject = subject_of(system);
    struct supervised_size size = supervised_size_of(system);
    struct private_state *own = state;
    if (process < system->workers) {
        subject->work(&size, words, own->state, process);
        return;
    }
    shift_by_first(system, own->state);
    unsigned transition = subject->transition(&size, words, own->state);
    subject->follow(&size, own->state, transition);
    shift_by_first(system, own->state);
    own->supervises = any(own->state, subject->supervisor_bytes);
}

void supervised_step(const struct step_system *system, struct step_memory *memory, void *state,
                     unsigned process)
{
    step_update_all(system, memory, delta, state, process);
}

/* The supervisor has no regions; it is reported to be in R. */
enum step_region supervised_region(const struct step_system *system, const void *state)
{
    struct supervised_size size = supervised_size_of(system);
    const struct private_state *own = state;
    return own->supervises ? STEP_REMAINDER : subject_of(system)->region(&size, own->state);
}

void supervised_split(const struct step_system *system, const void *states, void *workers,
                      void *supervisor)
{
    const struct supervised *subject = subject_of(system);
    for (unsigned i = 0; i <= system->workers; i++) {
        const unsigned char *at = (const unsigned char *)states +
                                  (size_t)i * system->private_bytes +
                                  offsetof(struct private_state, state);
        if (i < system->workers) {
            memcpy((unsigned char *)workers + (size_t)i * subject->worker_bytes, at,
                   subject->worker_bytes);
        } else {
            memcpy(supervisor, at, subject->supervisor_bytes);
            shift_by_first(system, supervisor);
        }
    }
}

/* (R3) and (R4): a helper or a quitter is in T, and does not enter C with its next step. */
static const char *wrong_worker(const struct supervised *subject,
                                const struct supervised_size *size, const void *value,
                                const void *worker, unsigned process)
{
    _Alignas(8) unsigned char next_value[SUPERVISED_VALUE_BYTES];
    _Alignas(8) unsigned char next[SUPERVISED_WORKER_BYTES];
    if (subject->eligibility(size, value, worker) == SUPERVISED_DRONE) {
        return NULL;
    }
    if (subject->region(size, worker) != STEP_TRYING) {
        return "a helper or a quitter is not in T (R3)";
    }
    memcpy(next_value, value, subject->value_bytes);
    memcpy(next, worker, subject->worker_bytes);
    subject->work(size, next_value, next, process);
    return subject->region(size, next) == STEP_CRITICAL
               ? "a critical-able worker is not a drone (R4)"
               : NULL;
}

const char *supervised_wrong(const struct step_system *system, const uint64_t *words,
                             const void *states)
{
    const struct supervised *subject = subject_of(system);
    struct supervised_size size = supervised_size_of(system);
    _Alignas(8) unsigned char workers[STEP_MAX_PROCESSES * SUPERVISED_WORKER_BYTES];
    _Alignas(8) unsigned char supervisor[SUPERVISED_SUPERVISOR_BYTES];
    unsigned trying = 0;
    unsigned helpers = 0;
    supervised_split(system, states, workers, supervisor);
    for (unsigned i = 0; i < size.n; i++) {
        const unsigned char *worker = workers + (size_t)i * subject->worker_bytes;
        const char *wrong = wrong_worker(subject, &size, words, worker, i);
        if (wrong != NULL) {
            return wrong;
        }
        trying += subject->region(&size, worker) == STEP_TRYING;
        helpers += subject->eligibility(&size, words, worker) == SUPERVISED_HELPER;
    }
    if (subject->active(&size, words, supervisor) != trying) {
        return "active() is not the number of processes in T (R5)";
    }
    if (trying > subject->threshold(&size) && helpers < 2 * size.r - 1) {
        return "more than c1 processes are in T, but fewer than 2r-1 helpers (R6)";
    }
    return subject->wrong == NULL ? NULL : subject->wrong(&size, words, workers, supervisor);
}

int supervised_print_all(const struct step_system *system, const uint64_t *words, char *out,
                         size_t size)
{
    struct supervised_size own = supervised_size_of(system);
    return subject_of(system)->print(&own, words, out, size);
}
