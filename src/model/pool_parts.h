/* What the files of the model share: a process, the words, the functions of the machine. */
#ifndef USHER_MODEL_POOL_PARTS_H
#define USHER_MODEL_POOL_PARTS_H

#include "core/core.h"
#include "model/pool_machine.h"
#include "model/pool_world.h"
#include "step/step.h"

enum mode {
    RESTING,   /* in the remainder, alive */
    TAKING,    /* core_take */
    LOOKING,   /* waiting: read the own row ... */
    HELPING,   /* ... then finish what is published ... */
    WATCHING,  /* ... announce a dead process's row: core_watch, ... */
    PROVING,   /* ... see that the process is dead, ... */
    REAPING,   /* ... and reap it; so with all the dead, one by one */
    CLAIMING,  /* core_claim */
    COUNTING,  /* core_finish_published: whoever has grown the pool may not have counted that yet */
    HOLDING,   /* the critical section */
    RELEASING, /* core_release */
    REPEAT_ENTERING, /* core_repeat_enter, */
    REPEAT_SITTING,  /* core_repeat_sit, */
    REPEAT_LEAVING,  /* core_repeat_leave, */
    LEAVING_SLOWLY,  /* and core_leave_slowly after that */
    GIVING_UP,       /* core_give_up */
    RESIZING,        /* core_resize */
    CLEANING,        /* reaping, for a process with nothing else to do */
    DEAD,            /* until its row is reaped; then a new process takes the row over */
};

/* A process. All zero at the start. */
struct process {
    uint8_t mode;
    uint8_t cycles;                  /* begun */
    uint8_t target;                  /* whom it reaps */
    bool grows;                      /* it is about to resize the pool: to one seat more */
    bool paused;                     /* in the middle of an operation: step_limits.pauses */
    bool simple_seat, simple_repeat; /* step_limits.simple */
    bool endless;  /* how often it comes is not counted: it comes any number of times */
    bool replaced; /* it compared and swapped a value that had been replaced */
    bool stuck;    /* alone in an operation, it did not come out of it */
    bool cleans;   /* it watches for want of anything else to do */
    bool through;  /* whatever it reads next, that ends the operation: settled */
    uint32_t ticket, seat;
    uint32_t watched; /* the cycle in which a row was watched */
    struct core_run run, questions;
    struct core_buffer buffer;
    uint64_t k;    /* K as it was when it came, in a pool that may shrink */
    uint64_t i, v; /* what it published last, as repeat.h needs it; 0: nothing */
    union {
        struct core_take take;
        struct core_finish_published help;
        struct core_reap reap;
        struct core_claim claim;
        struct core_release release;
        struct core_repeat repeat;
        struct core_leave_slowly slow;
        struct core_watch watch;
        struct core_give_up give_up;
        struct core_resize resize;
    } u;
};

_Static_assert(sizeof(struct process) <= STEP_MAX_PRIVATE_BYTES, "a process must fit");

/* Where the words are; the world's is in pool_world.h. Rows, own words, the line and the seats
   follow; announcements are the last. */
enum { AT_I, AT_V, AT_K, AT_WORLD, AT_ROW };

/* Does each process come any number of times? */
static inline bool model__endless(const struct step_system *system)
{
    return system->limits.cycles == 0;
}

/* Are words short enough to repeat? */
static inline bool model__repeats(const struct step_system *system)
{
    return system->limits.tag_bits != 0;
}

/* pool_size.c: the pool at one size. */
uint32_t model__line_size(const struct step_system *system);
/* Use as many bits of tickets, tags and cycles as the exploration says, in this thread. */
void model__widths(const struct step_system *system);
/* The core, as it sees this memory; and with the stores of this process in its buffer. */
void model__core(const struct step_system *system, struct step_memory *memory, struct core *c);

int model__prepare(struct step_system *system, char why[STEP_WHY_BYTES]);
void model__init(const struct step_system *system, uint64_t *words);

/* pool.c: what a process does. */
/* Begin a mode: set up its frame and run to its first access, which is for the next step. */
void model__begin(struct core *c, struct process *p, enum mode mode, unsigned process);
/* One step of the process, in its mode. */
void model__move(const struct step_system *system, struct core *c, struct process *p,
                 unsigned process);

static inline void model__change_world(struct core *c, uint64_t world)
{
    atomic_store(&c->words[AT_WORLD], world);
}

/* pool_step.c: when it moves, and what else happens. */
void model__step(const struct step_system *system, struct step_memory *memory, void *state,
                 unsigned process);
bool model__event(const struct step_system *system, struct step_memory *memory, void *state,
                  unsigned process, unsigned event_);
extern const char *const model__event_names[EVENTS];

/* pool_judge.c: what is wrong with a state, where a process is, and a word for people. */
enum step_region model__region(const struct step_system *system, const void *state);
const char *model__wrong(const struct step_system *system, const uint64_t *words,
                         const void *states);
int model__print_word(const struct step_system *system, unsigned word, uint64_t value, char *out,
                      size_t size);

/* pool_stage.c: what goes one way only, and who is like whom. */
uint32_t model__stage(const struct step_system *system, const uint64_t *words);
uint8_t model__phase(const struct step_system *system, const void *state);
uint64_t model__judged(const struct step_system *system, const void *state);
unsigned model__mirror(const struct step_system *system, unsigned process);

/* pool_settle.c: what makes no difference any more. */
void model__settle(const struct step_system *system, const uint64_t *words, void *state,
                   unsigned process);
/* pool.c: run the operation that a process is in to its next access. */
enum core_progress model__go_on(struct core *c, struct process *p, unsigned process);

/* step_limits.simple */
enum { WITHOUT_SEATS = 1, WITHOUT_REPEAT = 2, WITHOUT_RULE = 4 };

#define MODEL_POOL(name_, title_, variant_)                                                        \
    {                                                                                              \
        .name = (name_), .title = (title_), .variant = (variant_), .loose_regions = true,          \
        .prepare = model__prepare, .init = model__init, .step = model__step,                       \
        .region = model__region, .event = model__event, .event_names = model__event_names,         \
        .events = EVENTS, .wrong = model__wrong, .print_word = model__print_word,                  \
        .stage = model__stage, .phase = model__phase, .judged = model__judged,                     \
        .busy = model_pool_busy, .mirror = model__mirror, .settle = model__settle                  \
    }

#endif
