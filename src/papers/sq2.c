/*
 * Mutual exclusion of two processes with one shared queue without peek: J. Wang, Z. Wang, "Mutual
 * Exclusion Algorithms in the Shared Queue Model", ICDCN 2014, LNCS 8314, pp. 29-43, Algorithm 2
 * (SQ2). The shared variable is the queue.
 *
 * The queue holds applications and offers. A process that takes an offer with the next id enters C.
 * An offer is for both processes, or for the process that applied. An element that must not get
 * lost is enqueued twice, as versions 1 and 2. Its owner dequeues and enqueues this pair until it
 * meets the same version twice in a row, or none: then the other process has taken one.
 *
 *     property                  promised   decided for n = 2, k = 1
 *     at most 1 in C            yes        holds
 *     no starvation             yes        holds
 *     no process stays in E     yes        holds, if no process stops
 *     (r,1)-deadlock-free, C2   r = 1      holds for r = 1; violated for r = 2
 *     avoidance of 1-deadlock   no         violated: a process in E stops before its offer
 *     FIFO enabling             no         violated
 *     overtakings               no         at most 1; the other enters at most once
 *     prompt                    no         at most 0; the other does not enter at all
 *     shared values             unbounded  ids; an offer that is taken is the newest: `invariant`
 *
 * Difference from the print: line 13 takes an offer with t.id >= idmaker. idmaker is the id of the
 * offer that the process made last. As printed (t.id > idmaker), a process that returns alone
 * discards its own offer. Only idmaker keeps its value from pass to pass; each pass starts with
 * flag = 0, m1 = m2 = 2 and eaten = 0.
 */
#include "papers/sq2.h"
#include "papers/papers.h"

#include <stdio.h>

enum variant {
    CORRECTED,
    PRINTED,          /* line 13: t.id > idmaker */
    TAKES_OVERDUE,    /* line 13: any id is accepted */
    TAKES_ANYONES,    /* line 13: any name is accepted */
    APPLIES_ONCE,     /* line 1: for j = 1 to 1 */
    REAPPLIES_NEVER,  /* line 11: an own application is not enqueued again */
    REAPPLIES_ALWAYS, /* line 9: an own application is always enqueued again */
    FORGETS_IDMAKER,  /* idmaker = 0 at the start of every pass */
    KEEPS_FLAG,       /* line 20: flag is not cleared after an offer by the other process */
    SWEEPS_ONCE,      /* line 27: one element is taken out, not all */
    GIVES_ONCE,       /* line 31: for j = 1 to 1 */
    GIVES_BLINDLY,    /* lines 34-50: leaves before the offer is taken */
    REGIVES_ALWAYS,   /* line 37: an own offer is always enqueued again */
    LOSES_ALL,        /* line 43: an offer to both is not enqueued again */
    EATS_NONE,        /* line 45: leaves at the first application */
    EATS_ALL          /* line 45: takes out any number of applications */
};

static int prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    if (shared_queue_only_one_seat(system, why) != 0) {
        return -1;
    }
    if (system->n != 2) {
        (void)snprintf(why, STEP_WHY_BYTES, "sq2 is for two processes: n must be 2");
        return -1;
    }
    system->shared_words = 1;
    system->private_bytes = sizeof(struct sq2_state);
    system->claims = STEP_CLAIM(STEP_EXCLUSION) | STEP_CLAIM(STEP_C1) | STEP_CLAIM(STEP_PROGRESS) |
                     STEP_CLAIM(STEP_LOCKOUT) | STEP_CLAIM(STEP_STARVATION) |
                     STEP_CLAIM(STEP_INVARIANT);
    if (system->robustness == 1) {
        system->claims |= STEP_CLAIM(STEP_C2);
    }
    return 0;
}

/* The queue has (OFFER, ALL, 1). */
static void init(const struct step_system *system, uint64_t *words)
{
    (void)system;
    words[0] = shared_queue_append(SHARED_QUEUE_EMPTY, sq2_offer(SQ2_ALL, 1, 1), SQ2_OFFER_BITS);
}

static void enqueue(struct step_memory *memory, uint32_t element)
{
    shared_queue_enqueue(memory, 0, element, sq2_width(NULL, element));
}

/* The kind of element that a dequeue returned. */
enum met { NOTHING, OWN_APPLY, OTHERS_APPLY, OWN_OFFER, OTHERS_OFFER, OFFER_TO_ALL };

static enum met dequeue(const struct step_system *system, struct step_memory *memory,
                        unsigned process, uint32_t *t)
{
    uint64_t element;
    if (!shared_queue_dequeue(system, memory, 0, sq2_width, &element)) {
        return NOTHING;
    }
    *t = (uint32_t)element;
    if (sq2_is_offer(element)) {
        return sq2_name_of(element) == SQ2_ALL   ? OFFER_TO_ALL
               : sq2_name_of(element) == process ? OWN_OFFER
                                                 : OTHERS_OFFER;
    }
    return sq2_name_of(element) == process ? OWN_APPLY : OTHERS_APPLY;
}

/* Line 13: does the process take this offer? */
static bool takes(const struct step_system *system, const struct sq2_state *x, enum met met,
                  uint32_t t)
{
    unsigned variant = system->machine->variant;
    int32_t late = sq2_beyond(x->idmaker, sq2_id_of(t));
    if (met != OWN_OFFER && met != OFFER_TO_ALL &&
        !(met == OTHERS_OFFER && variant == TAKES_ANYONES)) {
        return false;
    }
    return variant == PRINTED ? late < 0 : late <= 0 || variant == TAKES_OVERDUE;
}

/* Line 9: does the process enqueue its application again? */
static bool reapplies(const struct step_system *system, const struct sq2_state *x, uint32_t t)
{
    unsigned variant = system->machine->variant;
    return variant != REAPPLIES_NEVER &&
           (x->m1 != sq2_version_of(t) || variant == REAPPLIES_ALWAYS);
}

/* Lines 5-15. */
static void look(const struct step_system *system, struct step_memory *memory, struct sq2_state *x,
                 unsigned process)
{
    uint32_t t = 0;
    enum met met = dequeue(system, memory, process, &t);
    if (met == OTHERS_APPLY) {
        x->flag = 1;
    } else if (met == OWN_APPLY && reapplies(system, x, t)) {
        x->m1 = sq2_version_of(t);
        x->t = t;
        x->stage = SQ2_REAPPLYING;
    } else if (takes(system, x, met, t)) {
        x->m1 = 0;
        x->t = t;
        x->stage = SQ2_INSIDE;
    }
}

/* Lines 23-28: empty the queue, and note whether the other process applies. */
static void sweep(const struct step_system *system, struct step_memory *memory, struct sq2_state *x,
                  unsigned process)
{
    uint32_t t;
    enum met met = dequeue(system, memory, process, &t);
    x->stage = SQ2_SWEEPING;
    if (met == OTHERS_APPLY) {
        x->flag = 1;
    }
    if (met == NOTHING || system->machine->variant == SWEEPS_ONCE) {
        x->stage = x->flag ? SQ2_GIVING : SQ2_OFFERING;
    }
}

/* Go to the remainder; only idmaker is kept. */
static void rest(struct sq2_state *x)
{
    *x = (struct sq2_state){.stage = SQ2_REMAINDER, .idmaker = x->idmaker};
}

/* Lines 35-49: wait until the other process has certainly taken the offer. */
static void watch(const struct step_system *system, struct step_memory *memory, struct sq2_state *x,
                  unsigned process)
{
    uint32_t t = 0;
    enum met met = dequeue(system, memory, process, &t);
    unsigned variant = system->machine->variant;
    uint8_t most = variant == EATS_NONE ? 0 : 2;
    if (met == OTHERS_OFFER && (sq2_version_of(t) != x->m2 || variant == REGIVES_ALWAYS)) {
        x->m2 = sq2_version_of(t);
        x->t = t;
        x->stage = SQ2_REGIVING;
    } else if (met == OFFER_TO_ALL && variant != LOSES_ALL) {
        x->t = t;
        x->stage = SQ2_RETURNING;
    } else if (met == OTHERS_APPLY && x->eaten < most) {
        x->eaten++;
    } else if (met != OTHERS_APPLY || variant != EATS_ALL) {
        rest(x);
    }
}

/* Enqueue the dequeued element again. */
static void put_back(struct step_memory *memory, struct sq2_state *x, enum sq2_stage next)
{
    enqueue(memory, x->t);
    x->t = 0;
    x->stage = (uint8_t)next;
}

static void step(const struct step_system *system, struct step_memory *memory, void *state,
                 unsigned process)
{
    struct sq2_state *x = state;
    unsigned other = 1 - process;
    unsigned variant = system->machine->variant;
    switch ((enum sq2_stage)x->stage) {
    case SQ2_REMAINDER: /* 2, j = 1 */
        enqueue(memory, sq2_apply(process, 1));
        x->idmaker = variant == FORGETS_IDMAKER ? 0 : x->idmaker;
        x->m1 = x->m2 = 2;
        x->stage = variant == APPLIES_ONCE ? SQ2_LOOKING : SQ2_APPLYING;
        break;
    case SQ2_APPLYING: /* 2, j = 2 */
        enqueue(memory, sq2_apply(process, 2));
        x->stage = SQ2_LOOKING;
        break;
    case SQ2_LOOKING:
        look(system, memory, x, process);
        break;
    case SQ2_REAPPLYING: /* 11 */
        put_back(memory, x, SQ2_LOOKING);
        break;
    case SQ2_INSIDE: /* 18-21 */
        x->idmaker = (sq2_id_of(x->t) + 1) & SQ2_ID_MASK;
        x->flag = sq2_name_of(x->t) == process && variant != KEEPS_FLAG ? 0 : x->flag;
        x->t = 0;
        /* fall through */
    case SQ2_SWEEPING:
        sweep(system, memory, x, process);
        break;
    case SQ2_OFFERING: /* 29 */
        enqueue(memory, sq2_offer(SQ2_ALL, 1, x->idmaker));
        rest(x);
        break;
    case SQ2_GIVING: /* 32, j = 1 */
        enqueue(memory, sq2_offer(other, 1, x->idmaker));
        x->stage = variant == GIVES_ONCE ? SQ2_WATCHING : SQ2_GIVING_TWO;
        break;
    case SQ2_GIVING_TWO: /* 32, j = 2 */
        enqueue(memory, sq2_offer(other, 2, x->idmaker));
        x->stage = SQ2_WATCHING;
        if (variant == GIVES_BLINDLY) {
            rest(x);
        }
        break;
    case SQ2_WATCHING:
        watch(system, memory, x, process);
        break;
    case SQ2_REGIVING: /* 41 */
        put_back(memory, x, SQ2_WATCHING);
        break;
    case SQ2_RETURNING: /* 43-44 */
        put_back(memory, x, SQ2_REMAINDER);
        rest(x);
        break;
    }
}

static enum step_region region(const struct step_system *system, const void *state)
{
    enum sq2_stage stage = (enum sq2_stage)((const struct sq2_state *)state)->stage;
    (void)system;
    return stage == SQ2_REMAINDER ? STEP_REMAINDER
           : stage < SQ2_INSIDE   ? STEP_TRYING
           : stage == SQ2_INSIDE  ? STEP_CRITICAL
                                  : STEP_EXIT;
}

static unsigned bits(const struct step_system *system, unsigned word)
{
    (void)system;
    (void)word;
    return 1 + 4 * SQ2_APPLY_BITS +
           2 * SQ2_OFFER_BITS; /* 1: the bit that marks the end of the queue */
}

static const struct step_space space = {
    .bits = bits,
    .says = "no bound: at most 6 elements, but ids grow (2014, Algorithm 2)",
    .note = "There is no bound; here ids are kept modulo 2^21.",
};

#define SQ2(name_, title_, variant_)                                                               \
    {                                                                                              \
        .name = (name_), .title = (title_), .variant = (variant_), .unbounded = true,              \
        .prepare = prepare, .init = init, .step = step, .region = region, .rebase = sq2_rebase,    \
        .wrong = sq2_wrong, .print_word = sq2_print_word, .space = &space,                         \
        .printed = (variant_) == PRINTED                                                           \
    }

const struct step_machine papers_sq2 =
    SQ2("sq2", "SQ2: one shared queue, two processes (2014, Algorithm 2)", CORRECTED);

const struct step_machine papers_sq2_printed =
    SQ2("sq2-printed", "SQ2 as printed (2014, Algorithm 2)", PRINTED);

const struct step_machine papers_sq2_mutants[] = {
    SQ2("mutant-sq2-overdue", "SQ2, an offer of any id is taken", TAKES_OVERDUE),
    SQ2("mutant-sq2-anyones", "SQ2, an offer to the other process is taken", TAKES_ANYONES),
    SQ2("mutant-sq2-apply-once", "SQ2, one application in place of two", APPLIES_ONCE),
    SQ2("mutant-sq2-apply-lost", "SQ2, an application met is not enqueued again", REAPPLIES_NEVER),
    SQ2("mutant-sq2-apply-on", "SQ2, an application met is always enqueued again",
        REAPPLIES_ALWAYS),
    SQ2("mutant-sq2-idmaker", "SQ2, idmaker is 0 at the start of every pass", FORGETS_IDMAKER),
    SQ2("mutant-sq2-flag", "SQ2, flag is not cleared after an offer by the other process",
        KEEPS_FLAG),
    SQ2("mutant-sq2-sweep", "SQ2, a leaving process takes one element out, not all", SWEEPS_ONCE),
    SQ2("mutant-sq2-offer-once", "SQ2, one offer to the other process in place of two", GIVES_ONCE),
    SQ2("mutant-sq2-blind", "SQ2, a process leaves before its offer is taken", GIVES_BLINDLY),
    SQ2("mutant-sq2-offer-on", "SQ2, an offer met on leaving is always enqueued again",
        REGIVES_ALWAYS),
    SQ2("mutant-sq2-all", "SQ2, an offer to both met on leaving is lost", LOSES_ALL),
    SQ2("mutant-sq2-eat", "SQ2, a leaving process stops at the first application", EATS_NONE),
    SQ2("mutant-sq2-eat-on", "SQ2, a leaving process takes out any number of applications",
        EATS_ALL),
};
