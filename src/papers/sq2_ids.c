/* The ids of SQ2's offers: their canonical form, their invariant, and printing. See sq2.h. */
#include "papers/sq2.h"

#include <stdio.h>

/* All ids of a state: those of offers in the queue, of offers just dequeued, and the idmakers. */
enum { MOST_IDS = 12 };

struct ids {
    uint32_t id[MOST_IDS];
    unsigned count;
};

static void add_id(struct ids *ids, uint32_t id)
{
    ids->id[ids->count++] = id;
}

static struct ids all_ids(uint64_t queue, const struct sq2_state *x)
{
    struct ids ids = {.count = 0};
    for (; shared_queue_has_any(queue); queue >>= sq2_width(NULL, queue)) {
        if (sq2_is_offer(queue)) {
            add_id(&ids, sq2_id_of(queue));
        }
    }
    for (unsigned i = 0; i < 2; i++) {
        add_id(&ids, x[i].idmaker);
        if (sq2_is_offer(x[i].t)) {
            add_id(&ids, sq2_id_of(x[i].t));
        }
    }
    return ids;
}

/* The number of different ids below this one. */
static uint32_t rank_of(const struct ids *ids, uint32_t id)
{
    uint32_t rank = 0;
    for (unsigned i = 0; i < ids->count; i++) {
        bool counted = sq2_beyond(ids->id[i], id) >= 0;
        for (unsigned j = 0; j < i; j++) {
            counted = counted || ids->id[j] == ids->id[i];
        }
        rank += !counted;
    }
    return rank;
}

static uint32_t with_rank(const struct ids *ids, uint32_t element)
{
    return sq2_is_offer(element) ? sq2_offer(sq2_name_of(element), sq2_version_of(element),
                                             rank_of(ids, sq2_id_of(element)))
                                 : element;
}

/*
 * Canonical form: replace each id by its rank among the ids of the state. Sound: ids are only
 * compared, except that the process that takes an offer computes its id + 1. The id of a taken
 * offer is the highest of all (`wrong` checks this). So id + 1 is a new highest id, in the state
 * and in its canonical form.
 */
void sq2_rebase(const struct step_system *system, uint64_t *words, void *states)
{
    struct sq2_state *x = states;
    struct ids ids = all_ids(words[0], x);
    uint64_t queue = SHARED_QUEUE_EMPTY;
    for (uint64_t from = words[0]; shared_queue_has_any(from); from >>= sq2_width(system, from)) {
        uint32_t element = (uint32_t)shared_queue_first(from, sq2_width(system, from));
        queue = shared_queue_append(queue, with_rank(&ids, element), sq2_width(system, from));
    }
    words[0] = words[0] == SHARED_QUEUE_SPOILT ? SHARED_QUEUE_SPOILT : queue;
    for (unsigned i = 0; i < 2; i++) {
        x[i].idmaker = rank_of(&ids, x[i].idmaker);
        x[i].t = with_rank(&ids, x[i].t);
    }
}

const char *sq2_wrong(const struct step_system *system, const uint64_t *words, const void *states)
{
    const struct sq2_state *x = states;
    struct ids ids = all_ids(words[0], x);
    (void)system;
    if (words[0] == SHARED_QUEUE_SPOILT) {
        return "the queue holds more than fits a word";
    }
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned j = 0; x[i].stage == SQ2_INSIDE && j < ids.count; j++) {
            if (sq2_beyond(ids.id[j], sq2_id_of(x[i].t)) > 0) {
                return "the offer that was taken is not the newest";
            }
        }
    }
    return NULL;
}

/* apply 1/2 is process 1's second application, offer 2/1 #7 the first offer to 2, of id 7. */
static int show(const struct step_system *system, uint64_t element, char *out, size_t size)
{
    unsigned name = sq2_name_of(element);
    unsigned version = sq2_version_of(element);
    (void)system;
    if (!sq2_is_offer(element)) {
        return snprintf(out, size, "apply %u/%u", name + 1, version);
    }
    if (name == SQ2_ALL) {
        return snprintf(out, size, "offer all #%u", sq2_id_of(element));
    }
    return snprintf(out, size, "offer %u/%u #%u", name + 1, version, sq2_id_of(element));
}

int sq2_print_word(const struct step_system *system, unsigned word, uint64_t value, char *out,
                   size_t size)
{
    (void)word;
    return shared_queue_print(system, value, sq2_width, show, ", ", out, size);
}
