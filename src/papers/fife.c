/*
 * First-in, first-enabled l-exclusion on registers (Afek, Dolev, Gafni, Merritt, Shavit, 1994,
 * Fig. 2); the paper's l is k here. A process raises a flag, labels itself, and notes who else has
 * a flag up: that is the doorway. In the waiting room it looks until fewer than k of those are
 * still there with an earlier label.
 *
 *     0.  remainder
 *     1.  x_i := true                                             one step; the doorway begins
 *     2.  Label_i                                                 n-1 reads, and a write or none
 *     4.  S_i := the others j with x_j                            n-1 reads; the doorway ends
 *     6.  y_j := x_j for all j in S_i                             |S_i| reads; the waiting room
 *     7.  Scan_i those of S_i with y_j                            as many reads
 *     9.  goto 6 unless fewer than k of them are before i
 *     10. critical section
 *     11. x_i := false                                            one step; the exit begins
 *     12. Label_i                                                 n-1 reads, and a write or none
 *
 * What is not read is what makes no difference: the process's own flag and label, and labels of
 * those that cannot be in Test_i. Words 0..n-1 are the flags x_i, words n..2n-1 the labels.
 *
 *     property                 promised   decided for all n <= 3, k <= 3
 *     at most k in C           yes        holds
 *     progress, k-1 stopped    yes        holds
 *     lockout avoidance        yes        holds, with any k-1 stopped
 *     starvation               yes        holds
 *     first-in                 yes        holds: Definition 2.5, with the doorway as above
 *     first-enabled            yes        holds: Definition 5.1
 *     avoidance of k-deadlock  no         violated for k < n: all wait for one in the doorway
 *     FIFO enabling            no         violated for k < n: there T begins with the doorway
 *     overtakings              no         k = 1: at most n-1; 1 < k < n: without bound, in the
 *                                         doorway
 *     prompt                   no         holds, at most 0; others enter n-1 times if k < n
 *     shared values            unbounded (64 bits when it runs)
 */
#include "papers/fife.h"
#include "papers/papers.h"
#include "papers/timestamps.h"

#include <stddef.h>
#include <stdio.h>

/* What a broken variant drops: bits of step_machine.variant. Lower bits: enum timestamps_broken. */
enum fife_broken {
    FIFE_NO_RELABEL = 1 << 4,  /* line 12 */
    FIFE_LABEL_FIRST = 1 << 5, /* line 1 comes before line 2 */
    FIFE_EVERYONE = 1 << 6,    /* line 4 */
    FIFE_ONE_MORE = 1 << 7     /* fewer than k, not k+1 */
};

#define FIFE_HAS(system, bit) (((system)->machine->variant & (unsigned)(bit)) != 0)

/* What the next step does. */
enum stage {
    REMAINDER, /* line 1 */
    LABEL,     /* line 2 */
    FLAG,      /* line 1, where it comes second */
    GATHER,    /* line 4 */
    LOOK,      /* line 6 */
    SCAN,      /* lines 7 and 8 */
    CRITICAL,  /* line 11 */
    RELABEL    /* line 12 */
};

/* The private state. In R all is zero but the label, which is no more than the register holds. */
struct fife_state {
    struct timestamps_state ts;
    uint64_t s;     /* S_i */
    uint64_t y;     /* in LOOK: those of S_i whose flag was up */
    uint16_t stage; /* enum stage */
    uint16_t at;    /* in GATHER and LOOK: whose flag is read next */
    uint32_t test;  /* in SCAN: |Test_i| so far; more than k make no difference and are not kept */
};

static struct timestamps timestamps_of(const struct step_system *system)
{
    unsigned broken = system->machine->variant & (TIMESTAMPS_PRINTED | TIMESTAMPS_EQUAL);
    return (struct timestamps){.n = system->n, .first = system->n, .broken = broken};
}

static int prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    if (2 * system->n > STEP_MAX_SHARED_WORDS) {
        (void)snprintf(why, STEP_WHY_BYTES, "at most %d processes: each needs two registers",
                       STEP_MAX_SHARED_WORDS / 2);
        return -1;
    }
    system->shared_words = 2 * system->n;
    system->private_bytes = sizeof(struct fife_state);
    system->claims = STEP_CLAIM(STEP_EXCLUSION) | STEP_CLAIM(STEP_C1) | STEP_CLAIM(STEP_PROGRESS) |
                     STEP_CLAIM(STEP_LOCKOUT) | STEP_CLAIM(STEP_STARVATION) |
                     STEP_CLAIM(STEP_FIRST_IN) | STEP_CLAIM(STEP_FIRST_ENABLED);
    return 0;
}

static void init(const struct step_system *system, uint64_t *words)
{
    for (unsigned i = 0; i < system->shared_words; i++) {
        words[i] = 0;
    }
}

/* The first process from `at` on in a set; n if there is none. */
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
    *x = (struct fife_state){
        .ts = {.label = x->ts.label}, .s = stage == LOOK ? x->s : 0, .stage = (uint16_t)stage};
}

/* Line 5: a pass through the waiting room. With nobody to look at it is over at once. */
static void begin_pass(const struct step_system *system, struct fife_state *x)
{
    go_to(x, x->s == 0 ? CRITICAL : LOOK);
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
    struct timestamps ts = timestamps_of(system);
    go_to(x, stage);
    if (timestamps_label(&ts, &x->ts, process)) {
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

static void look(const struct step_system *system, struct step_memory *memory, struct fife_state *x)
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
    timestamps_scan(&x->ts, x->y);
    x->stage = SCAN;
    x->at = 0;
    x->y = 0;
}

static void scan(const struct step_system *system, struct step_memory *memory, struct fife_state *x,
                 unsigned process)
{
    struct timestamps ts = timestamps_of(system);
    unsigned enough = system->k + FIFE_HAS(system, FIFE_ONE_MORE);
    bool before;
    bool last = timestamps_scan_step(&ts, memory, &x->ts, process, &before);
    if (before && x->test < enough) {
        x->test++;
    }
    if (last && x->test < enough) {
        go_to(x, CRITICAL);
    } else if (last) {
        begin_pass(system, x);
    }
}

static void label(const struct step_system *system, struct step_memory *memory,
                  struct fife_state *x, unsigned process)
{
    struct timestamps ts = timestamps_of(system);
    if (!timestamps_label_step(&ts, memory, &x->ts, process)) {
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

static void step(const struct step_system *system, struct step_memory *memory, void *state,
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
    case LOOK:
        look(system, memory, x);
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

static enum step_region region(const struct step_system *system, const void *state)
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
    case LOOK:
    case SCAN:
        break;
    }
    return STEP_TRYING;
}

/* Lines 5 to 9; the rest of T is the doorway. */
static bool waiting_room(const struct step_system *system, const void *state)
{
    (void)system;
    enum stage stage = (enum stage)((const struct fife_state *)state)->stage;
    return stage == LOOK || stage == SCAN;
}

/* The labels' canonical form (timestamps.c); all else is finite. */
static void rebase(const struct step_system *system, uint64_t *words, void *states)
{
    struct timestamps ts = timestamps_of(system);
    _Static_assert(offsetof(struct fife_state, ts) == 0, "the states begin with their timestamps");
    timestamps_rebase(&ts, words + ts.first, states, system->private_bytes);
}

static int print_word(const struct step_system *system, unsigned word, uint64_t value, char *out,
                      size_t size)
{
    return word < system->n ? snprintf(out, size, "x(%u)=%u", word + 1, (unsigned)value)
                            : snprintf(out, size, "Label(%u)=%llu", word - system->n + 1,
                                       (unsigned long long)value);
}

static unsigned bits(const struct step_system *system, unsigned word)
{
    return word < system->n ? 1 : 64;
}

static const struct step_space space = {
    .bits = bits,
    .says = "no bound: n flags, and n labels that grow (1994, Figs 1, 2)",
    .note = "There is no bound; here a label has 64 bits, which no run exhausts.",
};

#define FIFE(name_, title_, variant_)                                                              \
    {                                                                                              \
        .name = (name_), .title = (title_), .variant = (variant_), .unbounded = true,              \
        .prepare = prepare, .init = init, .step = step, .region = region,                          \
        .waiting_room = waiting_room, .rebase = rebase, .print_word = print_word, .space = &space, \
        .printed = (unsigned)(variant_) == (unsigned)TIMESTAMPS_PRINTED                            \
    }

const struct step_machine papers_fife =
    FIFE("fife", "First-in, first-enabled l-exclusion on registers (1994, Fig. 2)", 0);

const struct step_machine papers_mutant_fife_printed =
    FIFE("fife-printed", "First-in, first-enabled, Label as printed (1994, Figs 1, 2)",
         TIMESTAMPS_PRINTED);

const struct step_machine papers_mutant_fife_no_relabel =
    FIFE("mutant-fife-no-relabel", "First-in, first-enabled without line 12", FIFE_NO_RELABEL);

const struct step_machine papers_mutant_fife_label_first =
    FIFE("mutant-fife-label-first", "First-in, first-enabled, label before flag", FIFE_LABEL_FIRST);

const struct step_machine papers_mutant_fife_equal = FIFE(
    "mutant-fife-equal", "First-in, first-enabled, a new label equals the last", TIMESTAMPS_EQUAL);

const struct step_machine papers_mutant_fife_everyone =
    FIFE("mutant-fife-everyone", "First-in, first-enabled without line 4", FIFE_EVERYONE);

const struct step_machine papers_mutant_fife_one_more =
    FIFE("mutant-fife-one-more", "First-in, first-enabled, one more may be before", FIFE_ONE_MORE);
