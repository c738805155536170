/*
 * The hidden queue (1979, Lemma 4.5) as a system of workers and a supervisor: see hidden_queue.h.
 */
#include "papers/hidden_queue.h"

#include <stdio.h>

static int prepare(const struct supervised_size *size, char why[STEP_WHY_BYTES])
{
    if (size->n > HIDDEN_QUEUE_WORKERS || size->k > HIDDEN_QUEUE_SEATS ||
        size->r > HIDDEN_QUEUE_R) {
        (void)snprintf(why, STEP_WHY_BYTES, "hidden-queue needs n <= %d, k <= %d and r <= %d",
                       HIDDEN_QUEUE_WORKERS, HIDDEN_QUEUE_SEATS, HIDDEN_QUEUE_R);
        return -1;
    }
    return 0;
}

static void init(const struct supervised_size *size, void *value, void *supervisor)
{
    (void)size;
    *(struct hidden_queue_value *)value = (struct hidden_queue_value){0};
    *(struct hidden_queue_supervisor *)supervisor = (struct hidden_queue_supervisor){0};
}

/* Every process in T is in a cell, in the hidden queue, or not yet noticed. */
static unsigned active(const struct supervised_size *size, const void *value,
                       const void *supervisor)
{
    const struct hidden_queue_value *v = value;
    const struct hidden_queue_supervisor *s = supervisor;
    unsigned all = s->length + (unsigned)v->issued - s->noticed;
    for (unsigned i = 0; i < hidden_queue_cells(size); i++) {
        all += v->cells[i].state == HIDDEN_QUEUE_WAITS;
    }
    return all;
}

/* At most k drones and one quitter are in T. If more processes than this are in T, 2r-1 are
   helpers. */
static unsigned threshold(const struct supervised_size *size)
{
    return size->k + 2 * size->r - 1;
}

const struct supervised papers_hidden_queue_system = {
    .prepare = prepare,
    .value_bytes = sizeof(struct hidden_queue_value),
    .worker_bytes = sizeof(struct hidden_queue_worker),
    .supervisor_bytes = sizeof(struct hidden_queue_supervisor),
    .claims = STEP_CLAIM(STEP_EXCLUSION) | STEP_CLAIM(STEP_C1) | STEP_CLAIM(STEP_C2) |
              STEP_CLAIM(STEP_C4) | STEP_CLAIM(STEP_C5) | STEP_CLAIM(STEP_INVARIANT),
    .init = init,
    .work = hidden_queue_work,
    .region = hidden_queue_region,
    .transition = hidden_queue_transition,
    .follow = hidden_queue_follow,
    .transitions = hidden_queue_transitions,
    .eligibility = hidden_queue_eligibility,
    .active = active,
    .threshold = threshold,
    .encode = hidden_queue_encode,
    .decode = hidden_queue_decode,
    .most_bits = hidden_queue_most_bits,
    .wrong = hidden_queue_wrong,
    .print = hidden_queue_print,
};
