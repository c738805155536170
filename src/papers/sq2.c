/*
 * Mutual exclusion of two processes with one shared queue without peek: J. Wang, Z. Wang, "Mutual
 * Exclusion Algorithms in the Shared Queue Model", ICDCN 2014, LNCS 8314, pp. 29-43, Algorithm 2
 * (SQ2).
 *
 * The queue holds applications and offers. An offer of the next id lets its taker into C; an offer
 * is for both, or for the one who has applied. What must not get lost is enqueued twice, as
 * versions 1 and 2, and each goes on dequeuing and enqueuing its own pair until it meets one
 * version twice running, or none: then the other has taken one.
 *
 *     property                  promised   decided for n = 2, k = 1
 *     at most 1 in C            yes        holds
 *     no starvation             yes        holds
 *     nobody stays in E         yes        holds, if nobody stops
 *     (r,1)-deadlock-free, C2   r = 1      holds for r = 1; violated for r = 2
 *     avoidance of 1-deadlock   no         violated: one in E stops before it has made an offer
 *     FIFO enabling             no         violated
 *     overtakings               no         at most 1; the other enters at most once
 *     prompt                    no         at most 0; the other does not enter at all
 *     shared values             unbounded  ids; an offer that is taken is the newest: `invariant`
 *
 * `sq2` differs from the print in one place: line 13 takes an offer with t.id >= idmaker. idmaker
 * is the id of the offer that the process gave last, and as printed (t.id > idmaker) a process that
 * comes back alone throws its own offer away. Of the variables only idmaker is kept from pass to
 * pass; flag = 0, m1 = m2 = 2 and eaten = 0 at the beginning of each.
 */
#include "papers/papers.h"
#include "papers/shared_queue.h"

#include <stdio.h>

/*
 * Elements, the first bit first:
 *
 *     (APPLY, name, version):      0, name, version                 3 bits
 *     (OFFER, name, version, id):  1, name (2 bits), version, id    4 + ID_BITS bits
 *
 * There are never more than six elements, of which two are offers: 12 + 2 * 25 bits. Ids are kept
 * modulo 2^21 and compared by the sign of the difference. That is right as long as neither rests,
 * or is stopped, while the other passes 2^20 times; then a good offer could look overdue.
 */
enum { ID_BITS = 21, APPLY_BITS = 3, OFFER_BITS = 4 + ID_BITS };
enum { ID_MASK = (1 << ID_BITS) - 1 };
enum { ALL = 2 }; /* a name, beside 0 and 1 */

enum stage {
    REMAINDER,
    APPLYING,   /* line 2, j = 2, is next */
    LOOKING,    /* line 5 */
    REAPPLYING, /* line 11 */
    INSIDE,     /* lines 18-23 */
    SWEEPING,   /* line 23 */
    OFFERING,   /* line 29 */
    GIVING,     /* line 32, j = 1 */
    GIVING_TWO, /* line 32, j = 2 */
    WATCHING,   /* line 35 */
    REGIVING,   /* line 41 */
    RETURNING   /* line 43 */
};

enum variant {
    CORRECTED,
    PRINTED,          /* line 13: an offer must be beyond idmaker */
    TAKES_OVERDUE,    /* line 13: any id will do */
    TAKES_ANYONES,    /* line 13: any name will do */
    APPLIES_ONCE,     /* line 1: for j = 1 to 1 */
    REAPPLIES_NEVER,  /* line 11: an application that it meets is not enqueued again */
    REAPPLIES_ALWAYS, /* line 9: it is, whatever its version */
    FORGETS_IDMAKER,  /* idmaker = 0 at the beginning of every pass */
    KEEPS_FLAG,       /* line 20: flag is not cleared after an offer by the other */
    SWEEPS_ONCE,      /* line 27: the queue is not emptied, one element is taken out */
    GIVES_ONCE,       /* line 31: for j = 1 to 1 */
    GIVES_BLINDLY,    /* lines 34-50: leaves without seeing that the offer was taken */
    REGIVES_ALWAYS,   /* line 37: an offer that it meets is enqueued again, whatever its version */
    LOSES_ALL,        /* line 43: the offer to both that it meets is not enqueued again */
    EATS_NONE,        /* line 45: leaves when it meets an application */
    EATS_ALL          /* line 45: eats applications without limit */
};

struct state {
    uint8_t stage;
    uint8_t flag;
    uint8_t m1, m2; /* versions; 0 where they are not in use */
    uint8_t eaten;
    uint8_t unused[3];
    uint32_t idmaker; /* kept in the remainder */
    uint32_t t;       /* the element in hand, for C and for what is enqueued again */
};

static int prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    if (shared_queue_only_one_seat(system, why) != 0) {
        return -1;
    }
    if (system->n != 2) {
        (void)snprintf(why, STEP_WHY_BYTES, "it is for two processes: n must be 2");
        return -1;
    }
    system->shared_words = 1;
    system->private_bytes = sizeof(struct state);
    system->claims = STEP_CLAIM(STEP_EXCLUSION) | STEP_CLAIM(STEP_C1) | STEP_CLAIM(STEP_PROGRESS) |
                     STEP_CLAIM(STEP_LOCKOUT) | STEP_CLAIM(STEP_STARVATION) |
                     STEP_CLAIM(STEP_INVARIANT);
    if (system->robustness == 1) {
        system->claims |= STEP_CLAIM(STEP_C2);
    }
    return 0;
}

static uint32_t apply(unsigned name, unsigned version)
{
    return name << 1 | (version - 1) << 2;
}

static uint32_t offer(unsigned name, unsigned version, uint32_t id)
{
    return 1 | name << 1 | (version - 1) << 3 | (id & ID_MASK) << 4;
}

static bool is_offer(uint64_t element)
{
    return element & 1;
}

static unsigned name_of(uint64_t element)
{
    return (unsigned)(element >> 1) & (is_offer(element) ? 3 : 1);
}

static uint8_t version_of(uint64_t element)
{
    return (uint8_t)((element >> (is_offer(element) ? 3 : 2) & 1) + 1);
}

static uint32_t id_of(uint64_t element)
{
    return (uint32_t)(element >> 4) & ID_MASK;
}

/* How far `id` is beyond `than`. */
static int32_t beyond(uint32_t id, uint32_t than)
{
    int32_t difference = (int32_t)((id - than) & ID_MASK);
    return difference < 1 << (ID_BITS - 1) ? difference : difference - (1 << ID_BITS);
}

static unsigned width(const struct step_system *system, uint64_t bits)
{
    (void)system;
    return is_offer(bits) ? OFFER_BITS : APPLY_BITS;
}

/* The queue has (OFFER, ALL, 1). */
static void init(const struct step_system *system, uint64_t *words)
{
    (void)system;
    words[0] = shared_queue_append(SHARED_QUEUE_EMPTY, offer(ALL, 1, 1), OFFER_BITS);
}

static void enqueue(struct step_memory *memory, uint32_t element)
{
    shared_queue_enqueue(memory, 0, element, width(NULL, element));
}

/* One dequeue: what came out of the queue. */
enum met { NOTHING, OWN_APPLY, OTHERS_APPLY, OWN_OFFER, OTHERS_OFFER, OFFER_TO_ALL };

static enum met dequeue(const struct step_system *system, struct step_memory *memory,
                        unsigned process, uint32_t *t)
{
    uint64_t element;
    if (!shared_queue_dequeue(system, memory, 0, width, &element)) {
        return NOTHING;
    }
    *t = (uint32_t)element;
    if (is_offer(element)) {
        return name_of(element) == ALL       ? OFFER_TO_ALL
               : name_of(element) == process ? OWN_OFFER
                                             : OTHERS_OFFER;
    }
    return name_of(element) == process ? OWN_APPLY : OTHERS_APPLY;
}

/* Line 13: may it take what it has met? */
static bool takes(const struct step_system *system, const struct state *x, enum met met, uint32_t t)
{
    unsigned variant = system->machine->variant;
    int32_t late = beyond(x->idmaker, id_of(t));
    if (met != OWN_OFFER && met != OFFER_TO_ALL &&
        !(met == OTHERS_OFFER && variant == TAKES_ANYONES)) {
        return false;
    }
    return variant == PRINTED ? late < 0 : late <= 0 || variant == TAKES_OVERDUE;
}

/* Line 9: does it enqueue its application again? */
static bool reapplies(const struct step_system *system, const struct state *x, uint32_t t)
{
    unsigned variant = system->machine->variant;
    return variant != REAPPLIES_NEVER && (x->m1 != version_of(t) || variant == REAPPLIES_ALWAYS);
}

/* Lines 5-15. */
static void look(const struct step_system *system, struct step_memory *memory, struct state *x,
                 unsigned process)
{
    uint32_t t = 0;
    enum met met = dequeue(system, memory, process, &t);
    if (met == OTHERS_APPLY) {
        x->flag = 1;
    } else if (met == OWN_APPLY && reapplies(system, x, t)) {
        x->m1 = version_of(t);
        x->t = t;
        x->stage = REAPPLYING;
    } else if (takes(system, x, met, t)) {
        x->m1 = 0;
        x->t = t;
        x->stage = INSIDE;
    }
}

/* Lines 23-28: empty the queue, and see whether the other applies. */
static void sweep(const struct step_system *system, struct step_memory *memory, struct state *x,
                  unsigned process)
{
    uint32_t t;
    enum met met = dequeue(system, memory, process, &t);
    x->stage = SWEEPING;
    if (met == OTHERS_APPLY) {
        x->flag = 1;
    }
    if (met == NOTHING || system->machine->variant == SWEEPS_ONCE) {
        x->stage = x->flag ? GIVING : OFFERING;
    }
}

/* Into the remainder: only idmaker is kept. */
static void rest(struct state *x)
{
    *x = (struct state){.stage = REMAINDER, .idmaker = x->idmaker};
}

/* Lines 35-49: until the other has certainly taken the offer. */
static void watch(const struct step_system *system, struct step_memory *memory, struct state *x,
                  unsigned process)
{
    uint32_t t = 0;
    enum met met = dequeue(system, memory, process, &t);
    unsigned variant = system->machine->variant;
    uint8_t most = variant == EATS_NONE ? 0 : 2;
    if (met == OTHERS_OFFER && (version_of(t) != x->m2 || variant == REGIVES_ALWAYS)) {
        x->m2 = version_of(t);
        x->t = t;
        x->stage = REGIVING;
    } else if (met == OFFER_TO_ALL && variant != LOSES_ALL) {
        x->t = t;
        x->stage = RETURNING;
    } else if (met == OTHERS_APPLY && x->eaten < most) {
        x->eaten++;
    } else if (met != OTHERS_APPLY || variant != EATS_ALL) {
        rest(x);
    }
}

/* Enqueue again what it has in hand. */
static void put_back(struct step_memory *memory, struct state *x, enum stage next)
{
    enqueue(memory, x->t);
    x->t = 0;
    x->stage = (uint8_t)next;
}

static void step(const struct step_system *system, struct step_memory *memory, void *state,
                 unsigned process)
{
    struct state *x = state;
    unsigned other = 1 - process;
    unsigned variant = system->machine->variant;
    switch ((enum stage)x->stage) {
    case REMAINDER: /* 2, j = 1 */
        enqueue(memory, apply(process, 1));
        x->idmaker = variant == FORGETS_IDMAKER ? 0 : x->idmaker;
        x->m1 = x->m2 = 2;
        x->stage = variant == APPLIES_ONCE ? LOOKING : APPLYING;
        break;
    case APPLYING: /* 2, j = 2 */
        enqueue(memory, apply(process, 2));
        x->stage = LOOKING;
        break;
    case LOOKING:
        look(system, memory, x, process);
        break;
    case REAPPLYING: /* 11 */
        put_back(memory, x, LOOKING);
        break;
    case INSIDE: /* 18-21 */
        x->idmaker = (id_of(x->t) + 1) & ID_MASK;
        x->flag = name_of(x->t) == process && variant != KEEPS_FLAG ? 0 : x->flag;
        x->t = 0;
        /* fall through */
    case SWEEPING:
        sweep(system, memory, x, process);
        break;
    case OFFERING: /* 29 */
        enqueue(memory, offer(ALL, 1, x->idmaker));
        rest(x);
        break;
    case GIVING: /* 32, j = 1 */
        enqueue(memory, offer(other, 1, x->idmaker));
        x->stage = variant == GIVES_ONCE ? WATCHING : GIVING_TWO;
        break;
    case GIVING_TWO: /* 32, j = 2 */
        enqueue(memory, offer(other, 2, x->idmaker));
        x->stage = WATCHING;
        if (variant == GIVES_BLINDLY) {
            rest(x);
        }
        break;
    case WATCHING:
        watch(system, memory, x, process);
        break;
    case REGIVING: /* 41 */
        put_back(memory, x, WATCHING);
        break;
    case RETURNING: /* 43-44 */
        put_back(memory, x, REMAINDER);
        rest(x);
        break;
    }
}

static enum step_region region(const struct step_system *system, const void *state)
{
    enum stage stage = (enum stage)((const struct state *)state)->stage;
    (void)system;
    return stage == REMAINDER ? STEP_REMAINDER
           : stage < INSIDE   ? STEP_TRYING
           : stage == INSIDE  ? STEP_CRITICAL
                              : STEP_EXIT;
}

/* All ids of a state: of the offers in the queue and in hand, and the idmakers. */
enum { MOST_IDS = 12 };

struct ids {
    uint32_t id[MOST_IDS];
    unsigned count;
};

static void add_id(struct ids *ids, uint32_t id)
{
    ids->id[ids->count++] = id;
}

static struct ids all_ids(uint64_t queue, const struct state *x)
{
    struct ids ids = {.count = 0};
    for (; shared_queue_has_any(queue); queue >>= width(NULL, queue)) {
        if (is_offer(queue)) {
            add_id(&ids, id_of(queue));
        }
    }
    for (unsigned i = 0; i < 2; i++) {
        add_id(&ids, x[i].idmaker);
        if (is_offer(x[i].t)) {
            add_id(&ids, id_of(x[i].t));
        }
    }
    return ids;
}

/* How many different ids are below this one. */
static uint32_t rank_of(const struct ids *ids, uint32_t id)
{
    uint32_t rank = 0;
    for (unsigned i = 0; i < ids->count; i++) {
        bool counted = beyond(ids->id[i], id) >= 0;
        for (unsigned j = 0; j < i; j++) {
            counted = counted || ids->id[j] == ids->id[i];
        }
        rank += !counted;
    }
    return rank;
}

static uint32_t with_rank(const struct ids *ids, uint32_t element)
{
    return is_offer(element)
               ? offer(name_of(element), version_of(element), rank_of(ids, id_of(element)))
               : element;
}

/*
 * Canonical form: each id is replaced by its rank among the ids of the state. Sound: ids are only
 * compared, except that who takes an offer makes its id + 1; and the id of an offer that is taken
 * is the highest of all (`wrong` looks whether it is), so id + 1 is a new highest one in the state
 * as in its canonical form.
 */
static void rebase(const struct step_system *system, uint64_t *words, void *states)
{
    struct state *x = states;
    struct ids ids = all_ids(words[0], x);
    uint64_t queue = SHARED_QUEUE_EMPTY;
    for (uint64_t from = words[0]; shared_queue_has_any(from); from >>= width(system, from)) {
        uint32_t element = (uint32_t)shared_queue_first(from, width(system, from));
        queue = shared_queue_append(queue, with_rank(&ids, element), width(system, from));
    }
    words[0] = words[0] == SHARED_QUEUE_SPOILT ? SHARED_QUEUE_SPOILT : queue;
    for (unsigned i = 0; i < 2; i++) {
        x[i].idmaker = rank_of(&ids, x[i].idmaker);
        x[i].t = with_rank(&ids, x[i].t);
    }
}

static const char *wrong(const struct step_system *system, const uint64_t *words,
                         const void *states)
{
    const struct state *x = states;
    struct ids ids = all_ids(words[0], x);
    (void)system;
    if (words[0] == SHARED_QUEUE_SPOILT) {
        return "the queue holds more than fits a word";
    }
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned j = 0; x[i].stage == INSIDE && j < ids.count; j++) {
            if (beyond(ids.id[j], id_of(x[i].t)) > 0) {
                return "the offer that was taken is not the newest";
            }
        }
    }
    return NULL;
}

static int print_word(const struct step_system *system, unsigned word, uint64_t value, char *out,
                      size_t size)
{
    char text[128];
    size_t at = 0;
    (void)word;
    text[0] = '\0';
    for (; shared_queue_has_any(value); value >>= width(system, value)) {
        const char *space = at == 0 ? "" : ", ";
        unsigned name = name_of(value) + 1;
        unsigned version = version_of(value);
        if (!is_offer(value)) {
            at += (size_t)snprintf(text + at, sizeof text - at, "%sapply %u/%u", space, name,
                                   version);
        } else if (name - 1 == ALL) {
            at += (size_t)snprintf(text + at, sizeof text - at, "%soffer all #%u", space,
                                   id_of(value));
        } else {
            at += (size_t)snprintf(text + at, sizeof text - at, "%soffer %u/%u #%u", space, name,
                                   version, id_of(value));
        }
    }
    return snprintf(out, size, "[%s]", text);
}

static unsigned bits(const struct step_system *system, unsigned word)
{
    (void)system;
    (void)word;
    return 1 + 4 * APPLY_BITS + 2 * OFFER_BITS; /* and the bit that tells where the queue ends */
}

static const struct step_space space = {
    .bits = bits,
    .says = "no bound: at most 6 elements, but ids grow (2014, Algorithm 2)",
    .note = "There is no bound; here ids are kept modulo 2^21.",
};

#define SQ2(name_, title_, variant_)                                                               \
    {                                                                                              \
        .name = (name_), .title = (title_), .variant = (variant_), .unbounded = true,              \
        .prepare = prepare, .init = init, .step = step, .region = region, .rebase = rebase,        \
        .wrong = wrong, .print_word = print_word, .space = &space,                                 \
        .printed = (variant_) == PRINTED                                                           \
    }

const struct step_machine papers_sq2 =
    SQ2("sq2", "SQ2: one shared queue, two processes (2014, Algorithm 2)", CORRECTED);

const struct step_machine papers_sq2_printed =
    SQ2("sq2-printed", "SQ2 as printed (2014, Algorithm 2)", PRINTED);

const struct step_machine papers_sq2_mutants[] = {
    SQ2("mutant-sq2-overdue", "SQ2, an offer of any id is taken", TAKES_OVERDUE),
    SQ2("mutant-sq2-anyones", "SQ2, an offer to the other is taken", TAKES_ANYONES),
    SQ2("mutant-sq2-apply-once", "SQ2, one application in place of two", APPLIES_ONCE),
    SQ2("mutant-sq2-apply-lost", "SQ2, an application met is not enqueued again", REAPPLIES_NEVER),
    SQ2("mutant-sq2-apply-on", "SQ2, an application met is always enqueued again",
        REAPPLIES_ALWAYS),
    SQ2("mutant-sq2-idmaker", "SQ2, idmaker begins at 0 in every pass", FORGETS_IDMAKER),
    SQ2("mutant-sq2-flag", "SQ2, flag is not cleared after an offer by the other", KEEPS_FLAG),
    SQ2("mutant-sq2-sweep", "SQ2, who leaves takes one element out, not all", SWEEPS_ONCE),
    SQ2("mutant-sq2-offer-once", "SQ2, one offer to the other in place of two", GIVES_ONCE),
    SQ2("mutant-sq2-blind", "SQ2, leaves before the offer is taken", GIVES_BLINDLY),
    SQ2("mutant-sq2-offer-on", "SQ2, an offer met on leaving is always enqueued again",
        REGIVES_ALWAYS),
    SQ2("mutant-sq2-all", "SQ2, an offer to both met on leaving is lost", LOSES_ALL),
    SQ2("mutant-sq2-eat", "SQ2, leaves as soon as it meets an application", EATS_NONE),
    SQ2("mutant-sq2-eat-on", "SQ2, takes any number of applications out on leaving", EATS_ALL),
};
