/*
 * The bucket algorithm (1979, Lemma 4.4): bounded waiting with O(N) shared values, for workers and
 * a supervisor that never fails. The report's l is k here, and its k is r, the robustness. bucket.h
 * describes the shared variable.
 *
 *     property                 promised   decided for k = 1, n <= 4; k = 2, n <= 3; r <= 3
 *                                         (n = 5; n = 4 by make model)
 *     at most k in C           yes        holds
 *     (r,k)-deadlock-free, C2  yes        holds, for max(2, r) and no more
 *     bounded waiting, C4'     yes        holds, at most 1 cycle of another process
 *     FIFO enabling, C5'       no         violated for n >= 2
 *     avoidance of k-deadlock  no         violated for n > k (at r = k): r may stop in main
 *     progress, lockout        no         hold (at r = k)
 *     overtakings              no         at most n-1, by all others together
 *     (R1) to (R8)             yes        hold for k = 1, n <= 7; k = 2, n <= 3; k = 3, n <= 2
 *                                         (12; 8, with r = 3 6; 3 by make model)
 *     c1, c2, c3               of k and r c1 = k max(1,r-1) + 2r-2, c3 = max(2^k, k+3)
 *     shared values            O(N)       296 N - 238 (k = 1, r <= 2, N >= 3),
 *                                         3703 N - 6059 (k = 2, r <= 2, N >= 5)
 *
 * Differences from the print (docs/algorithms.md lists all):
 *
 * - The gate takes all of main if maincount <= r-1; the print says <. With < the supervisor waits
 *   for a move although all r-1 processes in main may have failed.
 * - A bucket holds max(1, r-1) processes, not r-1. With r = 1 it could hold none.
 * - active() counts the larger of bufcount and maincount while main is being filled, not their sum.
 */
#include "papers/bucket.h"
#include "papers/papers.h"

#include <stdio.h>
#include <string.h>

static unsigned colors_of(const struct supervised_size *size)
{
    return size->k + 3;
}

/* max(1, r-1), or the report's r-1 in mutants. */
unsigned bucket_limit(const struct supervised_size *size)
{
    bool printed = bucket_is(size, BUCKET_AS_PRINTED) || bucket_is(size, BUCKET_LIMIT);
    return size->r > 2 || printed ? size->r - 1 : 1;
}

static int prepare(const struct supervised_size *size, char why[STEP_WHY_BYTES])
{
    if (size->k > BUCKET_SEATS || size->r > STEP_MAX_PROCESSES) {
        (void)snprintf(why, STEP_WHY_BYTES, "bucket needs k <= %d and r <= %d", BUCKET_SEATS,
                       STEP_MAX_PROCESSES);
        return -1;
    }
    return 0;
}

static void init(const struct supervised_size *size, void *value, void *supervisor)
{
    struct bucket_value *v = value;
    (void)size;
    *v = (struct bucket_value){.buf = 0, .main = 1, .gate = 2}; /* elig: all are helpers */
    *(struct bucket_supervisor *)supervisor = (struct bucket_supervisor){0};
}

/* A worker's trying protocol: one LOCK .. UNLOCK. */
static void try_once(const struct supervised_size *size, struct bucket_value *v,
                     struct bucket_worker *w)
{
    if (v->enb[w->color] != 0) {
        v->enb[w->color]--;
        v->cscount++;
        *w = (struct bucket_worker){.region = STEP_CRITICAL};
    } else if (v->move && (w->color == v->main || bucket_is(size, BUCKET_ANY_MOVES))) {
        v->move = bucket_is(size, BUCKET_MOVE_STAYS);
        w->color = v->gate;
    }
}

static void work(const struct supervised_size *size, void *value, void *worker, unsigned process)
{
    struct bucket_value *v = value;
    struct bucket_worker *w = worker;
    (void)process;
    if (w->region == STEP_REMAINDER) {
        *w = (struct bucket_worker){.region = STEP_TRYING, .color = v->buf};
        v->bufcount++;
    } else if (w->region == STEP_TRYING) {
        try_once(size, v, w);
    } else { /* the exit protocol is one step, so there is no exit region */
        v->cscount = (uint8_t)(v->cscount - !bucket_is(size, BUCKET_STAYS_INSIDE));
        *w = (struct bucket_worker){.region = STEP_REMAINDER};
    }
}

static enum step_region region(const struct supervised_size *size, const void *worker)
{
    (void)size;
    return (enum step_region)((const struct bucket_worker *)worker)->region;
}

/* Prepare and return the first colour that no bucket has. */
static uint8_t new_color(const struct supervised_size *size, struct bucket_value *v,
                         const struct bucket_supervisor *s)
{
    unsigned taken = 1U << v->buf | 1U << v->main | 1U << v->gate;
    for (unsigned i = 0; i < s->length; i++) {
        taken |= 1U << s->queue[i];
    }
    uint8_t color = 0;
    while (color + 1U < colors_of(size) && (taken >> color & 1)) {
        color++;
    }
    v->enb[color] = 0;
    if (!bucket_is(size, BUCKET_STALE)) {
        v->elig[color] = SUPERVISED_HELPER;
    }
    return color;
}

/* The empty buckets among those that are fully enabled: bit j for the j-th of them. */
static unsigned empty_buckets(const struct supervised_size *size, const struct bucket_value *v,
                              const struct bucket_supervisor *s)
{
    unsigned mask = 0;
    unsigned j = 0;
    for (unsigned i = 0; i < s->length; i++) {
        if (s->count[i] == 0) {
            bool empty = v->enb[s->queue[i]] == 0 || bucket_is(size, BUCKET_ELIMINATES);
            mask |= (unsigned)empty << j++;
        }
    }
    return mask;
}

static void eliminate(struct bucket_supervisor *s, unsigned mask)
{
    unsigned kept = 0;
    unsigned j = 0;
    for (unsigned i = 0; i < s->length; i++) {
        if (s->count[i] == 0 && (mask >> j++ & 1)) {
            continue;
        }
        s->queue[kept] = s->queue[i];
        s->count[kept++] = s->count[i];
    }
    for (unsigned i = kept; i < s->length; i++) {
        s->queue[i] = s->count[i] = 0;
    }
    s->length = (uint8_t)kept;
}

/* Does all of main fit into the gate? */
static bool main_is_small(const struct supervised_size *size, const struct bucket_supervisor *s)
{
    if (bucket_is(size, BUCKET_AS_PRINTED) || bucket_is(size, BUCKET_STRICT)) {
        return s->maincount < bucket_limit(size);
    }
    return s->maincount <= bucket_limit(size) || bucket_is(size, BUCKET_WHOLE);
}

/* The first bucket of the queue that is not fully enabled; `length` if all are. */
static unsigned first_to_enable(const struct supervised_size *size,
                                const struct bucket_supervisor *s)
{
    unsigned found = s->length;
    for (unsigned i = s->length; i-- > 0;) {
        bool last = bucket_is(size, BUCKET_LAST_FIRST) && found < s->length;
        found = s->count[i] != 0 && !last ? i : found;
    }
    return found;
}

static bool may_enable(const struct supervised_size *size, const struct bucket_value *v,
                       const struct bucket_supervisor *s)
{
    unsigned taken = v->cscount;
    for (unsigned i = 0; i < s->length && !bucket_is(size, BUCKET_FORGETS); i++) {
        taken += v->enb[s->queue[i]];
    }
    return taken < size->k + bucket_is(size, BUCKET_ONE_MORE) &&
           first_to_enable(size, s) < s->length;
}

/* Apply the supervisor's step to the value, and return the number of the transition. */
static unsigned transition(const struct supervised_size *size, void *value, const void *supervisor)
{
    struct bucket_value *v = value;
    const struct bucket_supervisor *s = supervisor;
    uint8_t color;
    switch ((enum bucket_place)s->place) {
    case BUCKET_ELIMINATE:
        return empty_buckets(size, v, s);
    case BUCKET_FILL_MAIN:
        if (v->bufcount != s->maincount && !bucket_is(size, BUCKET_UNCOUNTED)) {
            return 0;
        }
        v->main = v->buf;
        v->buf = new_color(size, v, s);
        v->bufcount = 0;
        return 1;
    case BUCKET_FILL_GATE:
        if (main_is_small(size, s)) {
            v->gate = v->main;
            v->main = new_color(size, v, s);
        } else {
            v->move = 1;
        }
        return 0;
    case BUCKET_AWAIT_MOVE:
        return !v->move;
    case BUCKET_QUEUE_GATE:
        color = v->gate;
        v->enb[color] = 0;
        v->elig[color] =
            bucket_is(size, BUCKET_NO_QUITTERS) ? SUPERVISED_HELPER : SUPERVISED_QUITTER;
        v->gate = new_color(size, v, s); /* the old gate colour is still in use here */
        return color;
    case BUCKET_ENABLE:
        if (!may_enable(size, v, s)) {
            return 0;
        }
        color = s->queue[first_to_enable(size, s)];
        v->elig[color] = bucket_is(size, BUCKET_NO_DRONES) ? SUPERVISED_QUITTER : SUPERVISED_DRONE;
        v->enb[color]++;
        return 1;
    case BUCKET_PLACES:
        break;
    }
    return 0;
}

/* The supervisor's next place after its step at `place`. */
static uint8_t place_after(const struct supervised_size *size, const struct bucket_supervisor *s,
                           enum bucket_place place)
{
    unsigned most = size->k + bucket_is(size, BUCKET_LONGER);
    if (place < BUCKET_FILL_MAIN && (s->maincount == 0 || bucket_is(size, BUCKET_MAIN_TAKEN))) {
        return BUCKET_FILL_MAIN;
    }
    if (place < BUCKET_FILL_GATE && (s->gatecount == 0 || bucket_is(size, BUCKET_GATE_TAKEN))) {
        return BUCKET_FILL_GATE;
    }
    if (place < BUCKET_QUEUE_GATE && s->length < most) {
        return BUCKET_QUEUE_GATE;
    }
    return place < BUCKET_ENABLE ? BUCKET_ENABLE : BUCKET_ELIMINATE;
}

static void follow_move(struct bucket_supervisor *s)
{
    s->maincount--;
    s->gatecount = 1;
}

static void follow(const struct supervised_size *size, void *supervisor, unsigned way)
{
    struct bucket_supervisor *s = supervisor;
    enum bucket_place place = (enum bucket_place)s->place;
    bool stays = false;
    switch (place) {
    case BUCKET_ELIMINATE:
        eliminate(s, way);
        break;
    case BUCKET_FILL_MAIN:
        stays = way == 0;
        s->maincount = (uint8_t)(s->maincount + stays);
        break;
    case BUCKET_FILL_GATE:
        if (!main_is_small(size, s)) {
            s->place = BUCKET_AWAIT_MOVE;
            return;
        }
        s->gatecount = s->maincount;
        s->maincount = 0;
        break;
    case BUCKET_AWAIT_MOVE:
        stays = way == 0;
        if (!stays) {
            follow_move(s);
        }
        break;
    case BUCKET_QUEUE_GATE:
        s->queue[s->length] = (uint8_t)way;
        s->count[s->length++] = s->gatecount;
        s->gatecount = 0;
        break;
    case BUCKET_ENABLE:
        if (way == 1 && !bucket_is(size, BUCKET_ENABLES_TWICE)) {
            s->count[first_to_enable(size, s)]--;
        }
        break;
    case BUCKET_PLACES:
        break;
    }
    if (!stays) {
        s->place = place_after(size, s, place);
        if (s->place == BUCKET_FILL_MAIN) {
            s->maincount = 0; /* it differs from 0 only in mutants */
        }
    }
}

static unsigned transitions(const struct supervised_size *size, const void *supervisor)
{
    const struct bucket_supervisor *s = supervisor;
    unsigned enabled = 0;
    switch ((enum bucket_place)s->place) {
    case BUCKET_ELIMINATE:
        for (unsigned i = 0; i < s->length; i++) {
            enabled += s->count[i] == 0;
        }
        return 1U << enabled;
    case BUCKET_QUEUE_GATE:
        return colors_of(size);
    case BUCKET_FILL_MAIN:
    case BUCKET_AWAIT_MOVE:
        return 2;
    case BUCKET_ENABLE:
        return first_to_enable(size, s) < s->length ? 2 : 1;
    case BUCKET_FILL_GATE:
    case BUCKET_PLACES:
        break;
    }
    return 1;
}

static enum supervised_eligibility eligibility(const struct supervised_size *size,
                                               const void *value, const void *worker)
{
    const struct bucket_value *v = value;
    const struct bucket_worker *w = worker;
    (void)size;
    return w->region == STEP_TRYING ? (enum supervised_eligibility)v->elig[w->color]
                                    : SUPERVISED_DRONE;
}

static unsigned active(const struct supervised_size *size, const void *value,
                       const void *supervisor)
{
    const struct bucket_value *v = value;
    const struct bucket_supervisor *s = supervisor;
    bool filling = s->place == BUCKET_FILL_MAIN && !bucket_is(size, BUCKET_ACTIVE);
    unsigned all = v->bufcount + s->maincount;
    if (filling) {
        /* The processes counted into main are still in buf, so bufcount would be right. But (R7)
           also asks about values that do not go with this state, and there maincount must not be
           large. */
        all = v->bufcount > s->maincount ? v->bufcount : s->maincount;
    }
    all += s->gatecount;
    for (unsigned i = 0; i < s->length; i++) {
        all += s->count[i] + v->enb[s->queue[i]];
    }
    return all;
}

static unsigned threshold(const struct supervised_size *size)
{
    return size->k * bucket_limit(size) + 2 * size->r - 2;
}

const struct supervised papers_bucket_system = {
    .prepare = prepare,
    .value_bytes = sizeof(struct bucket_value),
    .worker_bytes = sizeof(struct bucket_worker),
    .supervisor_bytes = sizeof(struct bucket_supervisor),
    .claims = STEP_CLAIM(STEP_EXCLUSION) | STEP_CLAIM(STEP_C1) | STEP_CLAIM(STEP_C2) |
              STEP_CLAIM(STEP_C4) | STEP_CLAIM(STEP_INVARIANT),
    .init = init,
    .work = work,
    .region = region,
    .transition = transition,
    .follow = follow,
    .transitions = transitions,
    .eligibility = eligibility,
    .active = active,
    .threshold = threshold,
    .encode = bucket_encode,
    .decode = bucket_decode,
    .most_bits = bucket_most_bits,
    .wrong = bucket_wrong,
    .print = bucket_print,
};

const struct step_machine papers_bucket = {
    .name = "bucket",
    .title = "Buckets, with a supervisor (1979, Lemma 4.4)",
    .subject = &papers_bucket_system,
    .wide = true,
    .supervised = true,
    .prepare = supervised_prepare,
    .init = supervised_init,
    .step = supervised_step,
    .region = supervised_region,
    .wrong = supervised_wrong,
    .print_all = supervised_print_all,
    .bound = bucket_bound,
    .space = &bucket_space,
};
