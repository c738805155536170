/*
 * The interface of a step machine: a published algorithm as n deterministic processes over shared
 * words.
 *
 * This is the formal model of Fischer, Lynch, Burns and Borodin (1989), section 3, in C. A system
 * of n processes has a shared memory and a private state for each process. A step of process i
 *
 *     (v', x') = delta_i(v, x)
 *
 * makes exactly one atomic access to the shared memory. Each private state lies in one of four
 * regions: R (remainder), T (trying, the entry region), C (critical region), E (exit region). A
 * step leads from R or T to T or C, and from C or E to E or R.
 *
 * The checker calls `step` on its own copies of a state. Real threads and processes call the same
 * compiled `step` on memory that they share. A machine cannot tell the two apart.
 *
 * This header depends on the C library only.
 */
#ifndef USHER_STEP_H
#define USHER_STEP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STEP_MAX_PROCESSES = 64,      /* processes in a run on real threads or processes */
    STEP_MAX_SHARED_WORDS = 128,  /* shared words of a system: two for each process */
    STEP_MAX_PRIVATE_BYTES = 640, /* private state of one process */
    STEP_MAX_CONSTANT_BYTES = 64, /* values that a machine derives from n and k */
    STEP_WHY_BYTES = 160          /* the sentence that says why a size is refused */
};

enum step_region { STEP_REMAINDER, STEP_TRYING, STEP_CRITICAL, STEP_EXIT };

/* The properties that a machine may claim. src/check decides them; docs/algorithms.md defines
   them. */
enum step_property {
    STEP_EXCLUSION,     /* at most k processes are in C (1989) */
    STEP_DEADLOCK,      /* avoidance of k-deadlock (1989) */
    STEP_FIFO,          /* FIFO enabling (1989) */
    STEP_C1,            /* the same as exclusion, as the 1979 report numbers it */
    STEP_C2,            /* (r,k)-deadlock-free (1979) */
    STEP_C4,            /* bounded waiting for enabling (1979: C4') */
    STEP_C5,            /* FIFO enabling in the sense of 1979 (C5') */
    STEP_C6,            /* k-queuelike (1979) */
    STEP_PROGRESS,      /* with at most k-1 stopped, some process in T enters */
    STEP_LOCKOUT,       /* with at most k-1 stopped, every process in T enters */
    STEP_STARVATION,    /* with no process stopped, every process in T enters */
    STEP_OVERTAKINGS,   /* the overtakings of a process during one wait are bounded */
    STEP_PROMPT,        /* as above, for a prompt process: src/check/decide/prompt.h */
    STEP_FIRST_IN,      /* first-in, first-enabled, against processes in C (1994, Def. 2.5) */
    STEP_FIRST_ENABLED, /* the same against enabled processes (1994, Def. 5.1) */
    STEP_INVARIANT,     /* step_machine.wrong finds no fault in any state */
    STEP_PROPERTIES
};

#define STEP_CLAIM(property) (1U << (property))

struct step_machine;

/* Bounds on the events of an exploration, and on its size, for machines that have events. */
struct step_limits {
    unsigned crashes, gives_up, grows, shrinks; /* how many of each, in all */
    unsigned cycles;                            /* how many times each process enters */
    unsigned fewer;      /* all processes but the first enter this many times less */
    unsigned fewer_only; /* as above for this process alone (from 1); 0: all but the first */
    /* Field widths, short enough that values repeat. 0: as shipped; then no value repeats in an
       exploration. */
    unsigned tag_bits, cycle_bits, ticket_bits;
    unsigned pauses; /* operations that may be interrupted at one time; 0: any number */
    /* What is left out, as a sum: 1 seat numbers; 2 the repeat path; 4 the rule that no
       compare-and-swap succeeds on a value that had been replaced (to show what the rule
       prevents). */
    unsigned simple;
    unsigned last;   /* only this many processes, the last ones, pause or resize; 0: all */
    unsigned buffer; /* stores that a process may have in its store buffer (x86-TSO) */
    unsigned
        count_bits; /* bits of a seat's count if words do not repeat; 0: one, which is enough */
    unsigned line;  /* places in the line; 0: the machine's default */
    unsigned queue; /* this many processes first come one by one, until each holds or waits */
    unsigned
        stale; /* start with line places of an earlier round of tickets; 1, 2, 3: in which state */
};

/* One machine at one size. step_system_init fills it in; it is constant afterwards. */
struct step_system {
    const struct step_machine *machine;
    unsigned n;          /* processes, numbered 0..n-1 in code and 1..n in output */
    unsigned workers;    /* processes with regions: all, or all but the last, the supervisor */
    unsigned k;          /* seats: how many processes may be in C at once */
    unsigned robustness; /* r, the 1979 report's k: fewer than r failures are survived */
    struct step_limits limits;

    /* set by the machine's `prepare` */
    unsigned shared_words;  /* 1..STEP_MAX_SHARED_WORDS */
    unsigned private_bytes; /* 1..STEP_MAX_PRIVATE_BYTES */
    unsigned claims;        /* STEP_CLAIM bits: the properties promised at this n and k */
    _Alignas(8) unsigned char constants[STEP_MAX_CONSTANT_BYTES];
};

/* The one shared access of a step, recorded for traces. */
enum step_access_kind { STEP_READ, STEP_WRITE, STEP_UPDATE };

struct step_access {
    enum step_access_kind kind;
    unsigned word;
    uint64_t before, after;
    unsigned count; /* accesses since the record was zeroed: 1 after a step */
};

/* Shared memory as a step sees it. `access` is NULL unless a caller records accesses. `wide` is set
   if all words are one variable that several threads or processes change (step/wide.h), and NULL in
   the checker. */
struct step_memory {
    _Atomic uint64_t *words;
    struct step_access *access;
    struct step_wide *wide;
};

/* Shared space: the bits that the machine uses, and the paper's formula. */
struct step_space {
    /* Bits of a shared word: the bits of each variable in it, each rounded up to whole bits. For an
       unbounded variable, the bits that the machine keeps. */
    unsigned (*bits)(const struct step_system *system, unsigned word);
    /* The paper's own count of all bits. NULL: log2 of the machine's bound, if it has one. */
    double (*formula)(const struct step_system *system);
    const char *says; /* the formula as text, and its place in the paper */
    const char *note; /* why bits and formula differ, and which is right; NULL if they agree */
};

struct step_machine {
    const char *name;      /* on the command line */
    const char *title;     /* as text, with the paper and its figure */
    unsigned variant;      /* 0, or the guard that a mutant drops */
    const void *subject;   /* the system that a construction is applied to, or NULL */
    bool anonymous;        /* `step` ignores `process`: all processes run the same code */
    bool unbounded;        /* shared values are unbounded: counted in canonical form only */
    bool loose_regions;    /* regions are informative: a step may change them in any way */
    bool one_step_enabled; /* a C-enabled process enters C with its next step */
    bool wide;             /* all shared words are one variable: steps use step_update_all */
    bool supervised;       /* the last process is the supervisor: no regions, never stops */
    bool printed;          /* transcribed with the paper's misprints, as a demonstration */
    bool
        bounded_waiting; /* promises C4' (1979): a process waiting in T is passed boundedly often */

    /* Set sizes, claims and constants for n and k. Return 0, or -1 with a sentence in `why`. */
    int (*prepare)(struct step_system *system, char why[STEP_WHY_BYTES]);

    /* Write the initial shared words. The initial private state of every process is all zero
       bytes. */
    void (*init)(const struct step_system *system, uint64_t *words);

    /* Make one step of `process`: call exactly one of the step_* accesses below. */
    void (*step)(const struct step_system *system, struct step_memory *memory, void *state,
                 unsigned process);

    enum step_region (*region)(const struct step_system *system, const void *state);

    /* Is this process, which is in T, in the waiting room, behind the doorway? It stays there until
       it enters C. NULL: the machine does not divide T into doorway and waiting room. */
    bool (*waiting_room)(const struct step_system *system, const void *state);

    /* Is the next step a heedless read: does it lead to the same private state, the same region
       and the same side of the doorway for every value it may read? A state and its canonical form
       must give the same answer. NULL: no step is heedless. check/explore/reduce.h merges such
       steps into the step before. */
    bool (*heedless)(const struct step_system *system, const void *state, unsigned process);

    /* Bring a whole state into canonical form. NULL if the reachable states are finite. States with
       the same canonical form must go through the same regions under the same schedules. `states`
       is n private states, one after the other. */
    void (*rebase)(const struct step_system *system, uint64_t *words, void *states);

    /* Apply event 1..events-1 to a process: a change that is not a step, such as a crash. Return
       false and change nothing if the event is not possible now. NULL, with events 0: there are
       none. */
    bool (*event)(const struct step_system *system, struct step_memory *memory, void *state,
                  unsigned process, unsigned event);
    const char *const *event_names; /* [1..events-1] */
    unsigned events;

    /* A fault in a state that its regions do not show, as text; NULL if there is none. */
    const char *(*wrong)(const struct step_system *system, const uint64_t *words,
                         const void *states);

    /* Progress measures that no step and no event decreases: 24 bits of the shared words, 8 bits of
       a private state. Two states of a process with the same phase are both in T or both outside
       it. check/sweep/sweep.h uses them. NULL: no such measure is known. */
    uint32_t (*stage)(const struct step_system *system, const uint64_t *words);
    uint8_t (*phase)(const struct step_system *system, const void *state);

    /* Everything that `wrong` reads of a private state. */
    uint64_t (*judged)(const struct step_system *system, const void *state);

    /* Is the process inside an operation that must end if the process runs alone? */
    bool (*busy)(const void *state);

    /* Bring a private state into a simpler form that has the same effect on the others in this
       shared memory, and the same future except for own steps that change nothing. NULL: leave
       it. */
    void (*settle)(const struct step_system *system, const uint64_t *words, void *state,
                   unsigned process);

    /* The process that behaves as `process` does if some processes swap names in pairs. NULL: no
       such symmetry. */
    unsigned (*mirror)(const struct step_system *system, unsigned process);

    /* Print a shared word, with the contract of snprintf. */
    int (*print_word)(const struct step_system *system, unsigned word, uint64_t value, char *out,
                      size_t size);

    /* Print all shared words of a wide variable; then print_word may be NULL. */
    int (*print_all)(const struct step_system *system, const uint64_t *words, char *out,
                     size_t size);

    /* Upper bound on the number of shared values, by the paper's theorem; 0 if it has none. */
    double (*bound)(const struct step_system *system);

    const struct step_space *space; /* NULL: not stated, as for mutants */
};

/* Bits of a variable with this many values, at least 1. */
static inline unsigned step_bits_of(uint64_t values)
{
    return values <= 1 ? 0 : 64U - (unsigned)__builtin_clzll(values - 1);
}

/* Set up `system` for n workers and k seats. Robustness 0 means k; limits NULL means none. Return
   0, or -1 with a sentence in `why`. */
int step_system_init_with(struct step_system *system, const struct step_machine *machine,
                          unsigned n, unsigned k, unsigned robustness,
                          const struct step_limits *limits, char why[STEP_WHY_BYTES]);

/* As step_system_init_with, without limits. */
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
    if (memory->access != NULL) { /* only the checker records accesses, and it runs alone */
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
 * private state in any way, and write the word back, atomically. `delta` may run more than once,
 * each time from the unchanged private state. The step is the attempt whose compare-and-swap
 * succeeds.
 */
typedef uint64_t step_delta(const struct step_system *system, uint64_t value, void *state,
                            unsigned process);

void step_update(const struct step_system *system, struct step_memory *memory, unsigned word,
                 step_delta *delta, void *state, unsigned process);

/* As step_update, for a wide variable: one step reads and writes all shared words. */
typedef void step_wide_delta(const struct step_system *system, uint64_t *words, void *state,
                             unsigned process);

void step_update_all(const struct step_system *system, struct step_memory *memory,
                     step_wide_delta *delta, void *state, unsigned process);

#endif
