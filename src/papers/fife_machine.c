/* The process of Fig. 2 (1994): see fife_machine.h. */
#include "papers/fife_machine.h"

#define FIFE_HAS(system, bit) (((system)->machine->variant & (unsigned)(bit)) != 0)

/* What the next step does. */
enum stage {
    REMAINDER,  /* line 1 */
    LABEL,      /* line 2 */
    FLAG,       /* line 1, in the mutant that labels first */
    GATHER,     /* line 4 */
    READ_FLAGS, /* line 6 */
    SCAN,       /* lines 7 and 8 */
    CRITICAL,   /* line 11 */
    RELABEL     /* line 12 */
};

/* The private state without the timestamps' part, which follows it. In R all of it is zero. */
struct fife_state {
    uint64_t s;     /* S_i */
    uint64_t y;     /* in READ_FLAGS: the members of S_i whose flag was up */
    uint16_t stage; /* enum stage */
    uint16_t at;    /* in GATHER and READ_FLAGS: the process whose flag is read next */
    uint32_t test;  /* in SCAN: |Test_i| so far, at most k (or the mutant's k+1) */
};

static const struct fife_timestamps *timestamps_of(const struct step_system *system)
{
    return system->machine->subject;
}

/* The timestamps' part follows the process's own. */
static void *part_of(struct fife_state *x)
{
    return x + 1;
}

unsigned fife_private_bytes(const struct fife_timestamps *timestamps)
{
    return ((unsigned)sizeof(struct fife_state) + timestamps->state_bytes + 7U) & ~7U;
}

void *fife_parts(void *states)
{
    return part_of(states);
}

/* The first member of a set from `at` on; n if there is none. */
static uint16_t member_from(const struct step_system *system, uint64_t set, unsigned at)
{
    while (at < system->n && !(set >> at & 1)) {
        at++;
    }
    return (uint16_t)at;
}

static uint64_t others_than(const struct step_system *system, unsigned process)
{
    return (UINT64_MAX >> (64 - system->n)) & ~(UINT64_C(1) << process);
}

static void go_to(struct fife_state *x, enum stage stage)
{
    *x = (struct fife_state){.s = stage == READ_FLAGS ? x->s : 0, .stage = (uint16_t)stage};
}

/* Line 5: start a pass through the waiting room. If S_i is empty the process enters at once. */
static void begin_pass(const struct step_system *system, struct fife_state *x)
{
    go_to(x, x->s == 0 ? CRITICAL : READ_FLAGS);
    x->at = x->s == 0 ? 0 : member_from(system, x->s, 0);
}

/* Line 3. */
static void begin_gathering(const struct step_system *system, struct fife_state *x,
                            unsigned process)
{
    uint64_t others = others_than(system, process);
    go_to(x, GATHER);
    x->at = member_from(system, others, 0);
    if (FIFE_HAS(system, FIFE_EVERYONE)) {
        x->s = others;
        x->at = (uint16_t)system->n;
    }
    if (x->at >= system->n) {
        begin_pass(system, x);
    }
}

/* Line 2 or 12. */
static void begin_label(const struct step_system *system, struct fife_state *x, enum stage stage,
                        unsigned process)
{
    go_to(x, stage);
    if (timestamps_of(system)->label(system, part_of(x), process)) {
        if (stage == LABEL) {
            begin_gathering(system, x, process);
        } else {
            go_to(x, REMAINDER);
        }
    }
}

static void gather(const struct step_system *system, struct step_memory *memory,
                   struct fife_state *x, unsigned process)
{
    x->s |= step_read(memory, x->at) << x->at;
    x->at = member_from(system, others_than(system, process), x->at + 1U);
    if (x->at >= system->n) {
        begin_pass(system, x);
    }
}

static void read_flags(const struct step_system *system, struct step_memory *memory,
                       struct fife_state *x, unsigned process)
{
    x->y |= step_read(memory, x->at) << x->at;
    x->at = member_from(system, x->s, x->at + 1U);
    if (x->at < system->n) {
        return;
    }
    if (x->y == 0) {
        go_to(x, CRITICAL);
        return;
    }
    timestamps_of(system)->scan(system, part_of(x), process, x->y);
    x->stage = SCAN;
    x->at = 0;
    x->y = 0;
}

/* With this many processes before it, a process repeats the waiting room. */
static unsigned enough_before(const struct step_system *system)
{
    return system->k + FIFE_HAS(system, FIFE_ONE_MORE);
}

static void scan(const struct step_system *system, struct step_memory *memory, struct fife_state *x,
                 unsigned process)
{
    unsigned enough = enough_before(system);
    unsigned before;
    bool last = timestamps_of(system)->scan_step(system, memory, part_of(x), process, &before);
    x->test = x->test + before < enough ? x->test + before : enough;
    if (last && x->test < enough) {
        go_to(x, CRITICAL);
    } else if (last) {
        begin_pass(system, x);
    }
}

static void label(const struct step_system *system, struct step_memory *memory,
                  struct fife_state *x, unsigned process)
{
    if (!timestamps_of(system)->label_step(system, memory, part_of(x), process)) {
        return;
    }
    if (x->stage == RELABEL) {
        go_to(x, REMAINDER);
    } else if (FIFE_HAS(system, FIFE_LABEL_FIRST)) {
        go_to(x, FLAG);
    } else {
        begin_gathering(system, x, process);
    }
}

void fife_step(const struct step_system *system, struct step_memory *memory, void *state,
               unsigned process)
{
    struct fife_state *x = state;
    switch ((enum stage)x->stage) {
    case REMAINDER:
        if (FIFE_HAS(system, FIFE_LABEL_FIRST) && system->n > 1) {
            begin_label(system, x, LABEL, process);
            label(system, memory, x, process);
        } else {
            step_write(memory, process, 1);
            begin_label(system, x, LABEL, process);
        }
        break;
    case FLAG:
        step_write(memory, process, 1);
        begin_gathering(system, x, process);
        break;
    case LABEL:
    case RELABEL:
        label(system, memory, x, process);
        break;
    case GATHER:
        gather(system, memory, x, process);
        break;
    case READ_FLAGS:
        read_flags(system, memory, x, process);
        break;
    case SCAN:
        scan(system, memory, x, process);
        break;
    case CRITICAL:
        step_write(memory, process, 0);
        if (FIFE_HAS(system, FIFE_NO_RELABEL)) {
            go_to(x, REMAINDER);
        } else {
            begin_label(system, x, RELABEL, process);
        }
        break;
    }
}

enum step_region fife_region(const struct step_system *system, const void *state)
{
    (void)system;
    switch ((enum stage)((const struct fife_state *)state)->stage) {
    case REMAINDER:
        return STEP_REMAINDER;
    case CRITICAL:
        return STEP_CRITICAL;
    case RELABEL:
        return STEP_EXIT;
    case LABEL:
    case FLAG:
    case GATHER:
    case READ_FLAGS:
    case SCAN:
        break;
    }
    return STEP_TRYING;
}

/* Lines 5 to 9; the rest of T is the doorway. */
bool fife_waiting_room(const struct step_system *system, const void *state)
{
    (void)system;
    enum stage stage = (enum stage)((const struct fife_state *)state)->stage;
    return stage == READ_FLAGS || stage == SCAN;
}

bool fife_heedless(const struct step_system *system, const void *state, unsigned process)
{
    const struct fife_state *x = state;
    (void)process;
    return x->stage == SCAN && x->test >= enough_before(system);
}
