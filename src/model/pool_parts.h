/* What the files of the pool's model share: a process, the layout of the words, the machine's
   functions. */
#ifndef USHER_MODEL_POOL_PARTS_H
#define USHER_MODEL_POOL_PARTS_H

#include "core/core.h"
#include "model/pool_machine.h"
#include "model/pool_world.h"
#include "step/step.h"

enum mode {
    RESTING,   /* alive, outside */
    TAKING,    /* core_take */
    LOOKING,   /* waits: read its own row, ... */
    HELPING,   /* ... core_finish_published, ... */
    WATCHING,  /* ... core_watch: announce a dead process's row, ... */
    PROVING,   /* ... check that the process is dead, ... */
    REAPING,   /* ... core_reap; the last three for each dead process */
    CLAIMING,  /* core_claim */
    COUNTING,  /* core_finish_published: a guest that grew the pool may not have changed K yet */
    HOLDING,   /* the critical section */
    RELEASING, /* core_release */
    REPEAT_ENTERING, /* core_repeat_enter, */
    REPEAT_SITTING,  /* core_repeat_sit, */
    REPEAT_LEAVING,  /* core_repeat_leave, */
    LEAVING_SLOWLY,  /* core_leave_slowly after that */
    GIVING_UP,       /* core_give_up */
    RESIZING,        /* core_resize */
    CLEANING,        /* core_reap, by a process that has nothing else to do */
    DEAD,            /* until its row is reaped and a new process takes it over */
};

/* A process. All zero at the start. */
struct process {
    uint8_t mode;
    uint8_t cycles;                  /* begun */
    uint8_t target;                  /* the process that it reaps */
    bool grows;                      /* it is about to grow the pool, not to shrink it */
    bool paused;                     /* in the middle of an operation: step_limits.pauses */
    bool simple_seat, simple_repeat; /* step_limits.simple */
    bool endless;                    /* it enters any number of times: `cycles` is not counted */
    bool replaced;                   /* its compare-and-swap succeeded on a replaced value */
    bool stuck;                      /* it ran alone and did not finish its operation */
    bool cleans;                     /* it watches as a part of CLEANING */
    bool through; /* its next read ends its operation, whatever it reads: pool_settle.c */
    uint32_t ticket, seat;
    uint32_t watched; /* the cycle that core_watch read */
    struct core_run run, questions;
    struct core_buffer buffer;
    uint64_t k;    /* K when it arrived, in a pool that may shrink */
    uint64_t i, v; /* what it published last, for repeat.h; 0: nothing */
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

/* The layout: I, V, K, the world (pool_world.h), then rows, hints, the line, the seats, and last
   the announcements. */
enum { AT_I, AT_V, AT_K, AT_WORLD, AT_ROW };

/* Does each process enter any number of times? */
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
/* Set the widths of tickets, tags and cycles of the exploration, for this thread. */
void model__widths(const struct step_system *system);
/* Lay out a core over this memory. */
void model__core(const struct step_system *system, struct step_memory *memory, struct core *c);

int model__prepare(struct step_system *system, char why[STEP_WHY_BYTES]);
void model__init(const struct step_system *system, uint64_t *words);

/* pool_begin.c: begin an operation of the core, and go on with it. */
/* Begin a mode: set up its frame, and run to before its first access. */
void model__begin(struct core *c, struct process *p, enum mode mode, unsigned process);
/* Run the operation of a process to before its next access. */
enum core_progress model__go_on(struct core *c, struct process *p, unsigned process);
/* pool_machine.c: make one step of the process, in its mode. */
void model__move(const struct step_system *system, struct core *c, struct process *p,
                 unsigned process);

static inline void model__change_world(struct core *c, uint64_t world)
{
    atomic_store(&c->words[AT_WORLD], world);
}

/* pool_step.c: when a process moves, and the events. */
void model__step(const struct step_system *system, struct step_memory *memory, void *state,
                 unsigned process);
bool model__event(const struct step_system *system, struct step_memory *memory, void *state,
                  unsigned process, unsigned event_);
extern const char *const model__event_names[EVENTS];

/* pool_judge.c: what is wrong with a state, the region of a process, the text of a word. */
enum step_region model__region(const struct step_system *system, const void *state);
const char *model__wrong(const struct step_system *system, const uint64_t *words,
                         const void *states);
int model__print_word(const struct step_system *system, unsigned word, uint64_t value, char *out,
                      size_t size);

/* pool_stage.c: what never decreases, and which processes are symmetric. */
uint32_t model__stage(const struct step_system *system, const uint64_t *words);
uint8_t model__phase(const struct step_system *system, const void *state);
uint64_t model__judged(const struct step_system *system, const void *state);
unsigned model__mirror(const struct step_system *system, unsigned process);

/* pool_settle.c: remove from a process what makes no difference any more. */
void model__settle(const struct step_system *system, const uint64_t *words, void *state,
                   unsigned process);

/* step_limits.simple: what an exploration leaves out */
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
