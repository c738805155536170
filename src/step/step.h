/*
 * What a step machine is: a published algorithm as N deterministic processes over shared words.
 *
 * This is the formal model of Fischer, Lynch, Burns and Borodin (1989), section 3, in C. A system
 * of N processes has a shared memory, a private state for each process, and a step
 *
 *     (v', x') = delta_i(v, x)
 *
 * that makes exactly one atomic access to the shared memory. Each private state lies in one of four
 * regions, and a step respects them: R and T lead to T or C, C and E lead to E or R.
 *
 * The checker calls `step` on its own copies of a state; real threads and processes call the same
 * compiled `step` on memory that they share. A machine knows neither of them.
 *
 * This header depends on nothing but the C library.
 */
#ifndef USHER_STEP_H
#define USHER_STEP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STEP_MAX_PROCESSES = 64,      /* of a run on real threads or processes */
    STEP_MAX_SHARED_WORDS = 128,  /* shared words of a system: two for each process of a run */
    STEP_MAX_PRIVATE_BYTES = 640, /* private state of one process */
    STEP_MAX_CONSTANT_BYTES = 64, /* what a machine derives from n and k */
    STEP_WHY_BYTES = 160          /* a sentence that says why sizes are refused */
};

enum step_region { STEP_REMAINDER, STEP_TRYING, STEP_CRITICAL, STEP_EXIT };

/* The properties a machine may claim; src/check decides them, docs/algorithms.md defines them. */
enum step_property {
    STEP_EXCLUSION,     /* at most k in C (1989) */
    STEP_DEADLOCK,      /* avoidance of k-deadlock (1989) */
    STEP_FIFO,          /* FIFO enabling (1989) */
    STEP_C1,            /* k-exclusion, as the 1979 report numbers it */
    STEP_C2,            /* (r,k)-deadlock-free (1979) */
    STEP_C4,            /* bounded waiting for enabling (1979: C4') */
    STEP_C5,            /* FIFO enabling in the sense of 1979 (C5') */
    STEP_C6,            /* k-queuelike (1979) */
    STEP_PROGRESS,      /* with at most k-1 stopped, some live process that tries enters */
    STEP_LOCKOUT,       /* with at most k-1 stopped, every live process that tries enters */
    STEP_STARVATION,    /* with nobody stopped, everyone who tries enters */
    STEP_OVERTAKINGS,   /* the overtakings during one wait are bounded */
    STEP_PROMPT,        /* the same of one that is prompt: src/check/decide/prompt.h */
    STEP_FIRST_IN,      /* first-in, first-enabled, of who is in C (1994, Definition 2.5) */
    STEP_FIRST_ENABLED, /* the same of who is enabled (1994, Definition 5.1) */
    STEP_INVARIANT,     /* no state is wrong in the machine's own eyes: step_machine.wrong */
    STEP_PROPERTIES
};

#define STEP_CLAIM(property) (1U << (property))

struct step_machine;

/* How much may happen beside steps, for machines to which it may. */
struct step_limits {
    unsigned crashes, gives_up, grows, shrinks; /* how often, in all */
    unsigned cycles;                            /* how often each process comes, ... */
    unsigned fewer;      /* ... and how much less often all but the first do, */
    unsigned fewer_only; /* or this one alone, numbered from 1; 0: all but the first */
    /* Words so short that they repeat; 0: as shipped, and they do not repeat in an exploration. */
    unsigned tag_bits, cycle_bits, ticket_bits;
    unsigned pauses; /* so many operations at a time may be interrupted by others; 0: any number */
    /* What is left out, as a sum: 1 the numbers of seats, 2 coming again, 4 the rule that no
       compare-and-swap succeeds on a value that had been replaced (so that its harm is seen). */
    unsigned simple;
    unsigned last;       /* only so many, the last ones, pause or resize; 0: all */
    unsigned buffer;     /* stores that a process may have on their way to memory (x86-TSO) */
    unsigned count_bits; /* of a seat's question, if words do not repeat; 0: one, as is enough */
    unsigned line;       /* places in the line; 0: as the machine likes */
    unsigned queue;      /* so many come one by one, until they sit or wait, before all else */
    unsigned stale;      /* begin with places of a round of tickets ago; 1, 2, 3: how they stand */
};

/* One machine at one size. Filled in by step_system_init, constant from then on. */
struct step_system {
    const struct step_machine *machine;
    unsigned n;          /* processes, numbered 0..n-1 here and 1..n wherever people read them */
    unsigned workers;    /* those with regions: all, or all but the supervisor, who is the last */
    unsigned k;          /* seats: how many may be in C at once */
    unsigned robustness; /* the 1979 report's k: fewer than this many failures are survived */
    struct step_limits limits;

    /* set by the machine's `prepare` */
    unsigned shared_words;  /* 1..STEP_MAX_SHARED_WORDS */
    unsigned private_bytes; /* 1..STEP_MAX_PRIVATE_BYTES */
    unsigned claims;        /* STEP_CLAIM bits: what the paper promises at this n and k */
    _Alignas(8) unsigned char constants[STEP_MAX_CONSTANT_BYTES];
};

/* The one shared access of a step, for traces. */
enum step_access_kind { STEP_READ, STEP_WRITE, STEP_UPDATE };

struct step_access {
    enum step_access_kind kind;
    unsigned word;
    uint64_t before, after;
    unsigned count; /* accesses made since it was zeroed: 1 after a step */
};

/* Shared memory as a step sees it. `access` is NULL unless somebody is watching. `wide` is where
   all words are one variable that several change at once (step/wide.h); NULL for one alone. */
struct step_memory {
    _Atomic uint64_t *words;
    struct step_access *access;
    struct step_wide *wide;
};

/* Shared space: what an algorithm uses here, and what its paper says. */
struct step_space {
    /* Bits that a shared word needs: those of each variable in it, rounded up to whole bits. Where
       the values are unbounded: those that are kept of them. */
    unsigned (*bits)(const struct step_system *system, unsigned word);
    /* The paper's own count of all bits. NULL: log2 of the machine's bound, if it has one. */
    double (*formula)(const struct step_system *system);
    const char *says; /* the formula for people, and where it stands */
    const char *note; /* why bits and formula differ, and which is right; NULL if they never do */
};

struct step_machine {
    const char *name;      /* on the command line */
    const char *title;     /* for people, with the paper and its figure */
    unsigned variant;      /* 0, or which guard a mutant of the machine drops */
    const void *subject;   /* what a construction is applied to; NULL where there is none */
    bool anonymous;        /* `step` does not look at `process`: all processes are alike */
    bool unbounded;        /* its shared values are not bounded: counted in canonical form only */
    bool loose_regions;    /* regions are for people: changes outside the model are allowed */
    bool one_step_enabled; /* a process that is C-enabled enters C with its very next step */
    bool wide;             /* all shared words are one variable: steps use step_update_all */
    bool supervised;       /* the last process is a supervisor: it has no regions and never stops */
    bool printed;          /* as its paper prints it, where the print is wrong: a demonstration */
    bool bounded_waiting;  /* promises C4 (1979): whoever stops in T, others pass only so often */

    /* Set sizes, claims and constants for n and k. 0, or -1 with a sentence in `why`. */
    int (*prepare)(struct step_system *system, char why[STEP_WHY_BYTES]);

    /* Write the initial shared words; the initial private state is all zero bytes for everyone. */
    void (*init)(const struct step_system *system, uint64_t *words);

    /* Make one step of `process`: exactly one of the step_* accesses below. */
    void (*step)(const struct step_system *system, struct step_memory *memory, void *state,
                 unsigned process);

    enum step_region (*region)(const struct step_system *system, const void *state);

    /* Is a process in T behind its doorway? It stays so until it is in C. NULL: T has no doorway,
       or none that is told from the rest. */
    bool (*waiting_room)(const struct step_system *system, const void *state);

    /* Is the next step a read that leads to the same private state whatever it reads, in the same
       region and on the same side of the doorway? What is asked of a state and of its canonical
       form must have one answer. NULL: of no step. check/explore/reduce.h leaves such steps out. */
    bool (*heedless)(const struct step_system *system, const void *state, unsigned process);

    /* Bring a whole state into canonical form; NULL where the reachable states are finite. States
       with one canonical form must allow the same schedules to the same regions. `states` is n
       private states, one after the other. */
    void (*rebase)(const struct step_system *system, uint64_t *words, void *states);

    /* What may happen to a process beside its steps: event 1..events-1. NULL and events 0 if
       nothing ever does. False if it cannot happen now; then nothing has changed. */
    bool (*event)(const struct step_system *system, struct step_memory *memory, void *state,
                  unsigned process, unsigned event);
    const char *const *event_names; /* [1..events-1] */
    unsigned events;

    /* What is wrong with a state that its regions do not show: NULL if nothing is. */
    const char *(*wrong)(const struct step_system *system, const uint64_t *words,
                         const void *states);

    /* How far all has come: three bytes of the shared words, and one of a private state, each of
       which no step and no event makes smaller. Two states of a process with one phase are both in
       T, or both not. For check/sweep/sweep.h; NULL: nothing is known to go one way only. */
    uint32_t (*stage)(const struct step_system *system, const uint64_t *words);
    uint8_t (*phase)(const struct step_system *system, const void *state);

    /* All that `wrong` looks at in a private state. */
    uint64_t (*judged)(const struct step_system *system, const void *state);

    /* Is the process inside an operation that it must come out of when it runs alone? */
    bool (*busy)(const void *state);

    /* Bring a private state into a form that nobody can tell from it in this shared memory, and
       that leads to the same but for steps of its own that change nothing. NULL: as it is. */
    void (*settle)(const struct step_system *system, const uint64_t *words, void *state,
                   unsigned process);

    /* Who does as `process` does if some processes change their names in pairs; NULL: nobody. */
    unsigned (*mirror)(const struct step_system *system, unsigned process);

    /* Write a shared word for people, as snprintf does. */
    int (*print_word)(const struct step_system *system, unsigned word, uint64_t value, char *out,
                      size_t size);

    /* The same of all shared words, where they are one variable; then print_word may be NULL. */
    int (*print_all)(const struct step_system *system, const uint64_t *words, char *out,
                     size_t size);

    /* Upper bound on the shared values by the paper's theorem; 0 where there is none. */
    double (*bound)(const struct step_system *system);

    const struct step_space *space; /* NULL: nothing is said of it, as of mutants */
};

/* The bits of a variable that takes so many values, at least 1. */
static inline unsigned step_bits_of(uint64_t values)
{
    return values <= 1 ? 0 : 64U - (unsigned)__builtin_clzll(values - 1);
}

/* Set up `system` for n workers and k seats; robustness 0 stands for k, and limits NULL for none.
   0, or -1 with a sentence in `why`. */
int step_system_init_with(struct step_system *system, const struct step_machine *machine,
                          unsigned n, unsigned k, unsigned robustness,
                          const struct step_limits *limits, char why[STEP_WHY_BYTES]);

/* The same without limits. */
int step_system_init(struct step_system *system, const struct step_machine *machine, unsigned n,
                     unsigned k, unsigned robustness, char why[STEP_WHY_BYTES]);

/* The name of a property on the command line and in JSON; NULL beyond the last. */
const char *step_property_name(enum step_property property);

/* "RTCE"[region]. */
char step_region_letter(enum step_region region);

static inline void *step_state_of(const struct step_system *system, void *states, unsigned process)
{
    return (unsigned char *)states + (size_t)process * system->private_bytes;
}

static inline void step__note(struct step_memory *memory, enum step_access_kind kind, unsigned word,
                              uint64_t before, uint64_t after)
{
    if (memory->access != NULL) {
        unsigned count = memory->access->count + 1;
        *memory->access = (struct step_access){kind, word, before, after, count};
    }
}

/* One atomic read of a shared register. */
static inline uint64_t step_read(struct step_memory *memory, unsigned word)
{
    uint64_t value = atomic_load(&memory->words[word]);
    step__note(memory, STEP_READ, word, value, value);
    return value;
}

/* One atomic write of a shared register. */
static inline void step_write(struct step_memory *memory, unsigned word, uint64_t value)
{
    if (memory->access != NULL) { /* only a watcher, who is alone, may read what is overwritten */
        step__note(memory, STEP_WRITE, word, atomic_load(&memory->words[word]), value);
    }
    atomic_store(&memory->words[word], value);
}

/* One compare-and-swap of a shared word. */
static inline bool step_swap(struct step_memory *memory, unsigned word, uint64_t from, uint64_t to)
{
    uint64_t before = from;
    bool swapped = atomic_compare_exchange_strong(&memory->words[word], &before, to);
    step__note(memory, STEP_UPDATE, word, before, swapped ? to : before);
    return swapped;
}

/*
 * One `start .. finish` (1989) or LOCK .. UNLOCK (1979): read a word, let `delta` change it and the
 * private state in any way, and write it back, indivisibly. `delta` may run more than once, each
 * time from the untouched private state; the attempt whose compare-and-swap succeeds is the step.
 */
typedef uint64_t step_delta(const struct step_system *system, uint64_t value, void *state,
                            unsigned process);

void step_update(const struct step_system *system, struct step_memory *memory, unsigned word,
                 step_delta *delta, void *state, unsigned process);

/* The same where all shared words together are one variable: one step reads and writes them all. */
typedef void step_wide_delta(const struct step_system *system, uint64_t *words, void *state,
                             unsigned process);

void step_update_all(const struct step_system *system, struct step_memory *memory,
                     step_wide_delta *delta, void *state, unsigned process);

#endif
