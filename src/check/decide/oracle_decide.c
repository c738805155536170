/*
 * The properties as the papers define them, decided by brute force: see oracle.h.
 *
 * An infinite run of a finite system ends among states that lead to each other. So "there is an
 * infinite run in which exactly S step for ever" is equivalent to "some state lies on a closed walk
 * by steps of S in which all of S step". This is decided for every S.
 */
#include "check/decide/oracle.h"

#include <string.h>

static void violated(struct oracle *o, enum step_property property, size_t length)
{
    o->holds[property] = false;
    if (length < o->shortest[property]) {
        o->shortest[property] = length;
    }
}

static void decide_exclusion(struct oracle *o)
{
    for (uint32_t q = 0; q < o->states; q++) {
        if (oracle_size(o->at[q].in[STEP_CRITICAL]) > o->k) {
            violated(o, STEP_EXCLUSION, o->at[q].distance);
            violated(o, STEP_C1, o->at[q].distance);
        }
    }
}

static void decide_invariant(struct oracle *o)
{
    for (uint32_t q = 0; q < o->states; q++) {
        if (o->at[q].wrong) {
            violated(o, STEP_INVARIANT, o->at[q].distance);
        }
    }
}

static void decide_deadlock(struct oracle *o)
{
    static struct oracle_steps still;
    for (uint32_t s = 0; s < o->states; s++) {
        for (unsigned p = 0; p < o->n; p++) {
            still.may[s][p] = oracle_no_progress(&o->at[s], &o->at[o->at[s].next[p]]);
        }
    }
    oracle_close(o, &still);
    for (uint32_t s = 0; s < o->states; s++) {
        for (uint32_t q = 0; q < o->states && oracle_laps(o, &still, s, o->supervisor); q++) {
            if (oracle_reaches(&still, q, s) && oracle_hangs(o, &o->at[q])) {
                violated(o, STEP_DEADLOCK, ORACLE_NEVER);
            }
        }
    }
}

/* Shorten `way` (steps from the start to each state) along the allowed steps, to the fixed point.
   */
static void relax(const struct oracle *o, const struct oracle_steps *steps, size_t *way)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t s = 0; s < o->states; s++) {
            for (unsigned p = 0; p < o->n; p++) {
                uint32_t to = o->at[s].next[p];
                if (steps->may[s][p] && way[s] != ORACLE_NEVER && way[s] + 1 < way[to]) {
                    way[to] = way[s] + 1;
                    changed = true;
                }
            }
        }
    }
}

/* P_j overtakes P_i: i T-waiting throughout, j in R first and C-enabled last; or E, C, R-enabled.
   */
static void decide_overtaking(struct oracle *o, unsigned i, unsigned j, bool leaving)
{
    static struct oracle_steps waiting;
    static size_t way[ORACLE_STATES];
    for (uint32_t s = 0; s < o->states; s++) {
        const struct oracle_state *q = &o->at[s];
        bool waits = oracle_has(leaving ? q->e_waiting : q->t_waiting, i);
        bool begins = waits && oracle_has(q->in[leaving ? STEP_CRITICAL : STEP_REMAINDER], j);
        way[s] = begins ? q->distance : ORACLE_NEVER;
        for (unsigned p = 0; p < o->n; p++) {
            const struct oracle_state *then = &o->at[q->next[p]];
            waiting.may[s][p] = waits && oracle_has(leaving ? then->e_waiting : then->t_waiting, i);
        }
    }
    relax(o, &waiting, way);
    for (uint32_t s = 0; s < o->states; s++) {
        unsigned enabled = leaving ? o->at[s].r_enabled : o->at[s].c_enabled;
        if (way[s] != ORACLE_NEVER && oracle_has(enabled, j)) {
            violated(o, STEP_FIFO, way[s]);
        }
    }
}

/* 1994: i has been in the waiting room since before j left R, and is not C-enabled; may j be where
   it is? */
static void decide_first_in(struct oracle *o, unsigned i, unsigned j)
{
    static struct oracle_steps waiting;
    static size_t way[ORACLE_STATES];
    for (uint32_t s = 0; s < o->states; s++) {
        way[s] = ORACLE_NEVER;
        for (unsigned p = 0; p < o->n; p++) {
            waiting.may[s][p] = oracle_has(o->at[s].rooms & o->at[o->at[s].next[p]].rooms, i);
        }
    }
    for (uint32_t s = 0; s < o->states; s++) {
        size_t *there = &way[o->at[s].next[j]];
        if (waiting.may[s][j] && oracle_has(o->at[s].in[STEP_REMAINDER], j) &&
            o->at[s].distance + 1 < *there) {
            *there = o->at[s].distance + 1;
        }
    }
    relax(o, &waiting, way);
    for (uint32_t s = 0; s < o->states; s++) {
        const struct oracle_state *q = &o->at[s];
        if (way[s] == ORACLE_NEVER || oracle_has(q->c_enabled, i)) {
            continue;
        }
        if (oracle_has(q->in[STEP_CRITICAL], j)) {
            violated(o, STEP_FIRST_IN, way[s]);
        }
        if (oracle_has(q->rooms & q->c_enabled, j)) {
            violated(o, STEP_FIRST_ENABLED, way[s]);
        }
    }
}

static void decide_order(struct oracle *o)
{
    for (unsigned i = 0; i < o->n; i++) {
        for (unsigned j = 0; j < o->n; j++) {
            decide_overtaking(o, i, j, false);
            decide_overtaking(o, i, j, true);
            decide_first_in(o, i, j);
        }
    }
}

/* All runs in which exactly `steppers` step for ever and fewer than k others have stopped outside
   R. */
static void decide_live(struct oracle *o, unsigned steppers)
{
    static struct oracle_steps steps;
    for (unsigned i = 0; i <= o->n; i++) { /* i stays in T for ever; n: no process enters C */
        for (uint32_t s = 0; s < o->states; s++) {
            for (unsigned p = 0; p < o->n; p++) {
                const struct oracle_state *to = &o->at[o->at[s].next[p]];
                bool kept = i < o->n ? oracle_has(o->at[s].in[STEP_TRYING] & to->in[STEP_TRYING], i)
                                     : !oracle_enters(o, s, p);
                steps.may[s][p] = kept && oracle_has(steppers, p);
            }
        }
        oracle_close(o, &steps);
        for (uint32_t s = 0; s < o->states; s++) {
            unsigned outside =
                o->at[s].in[STEP_TRYING] | o->at[s].in[STEP_CRITICAL] | o->at[s].in[STEP_EXIT];
            unsigned stopped = outside & ~steppers;
            unsigned trying = steppers & o->at[s].in[STEP_TRYING];
            bool tries = i < o->n ? oracle_has(trying, i) : trying != 0;
            if (!tries || oracle_size(stopped) >= o->k || !oracle_laps(o, &steps, s, steppers)) {
                continue;
            }
            violated(o, i < o->n ? STEP_LOCKOUT : STEP_PROGRESS, ORACLE_NEVER);
            if (i < o->n && stopped == 0) {
                violated(o, STEP_STARVATION, ORACLE_NEVER);
            }
        }
    }
}

/* (r,k)-deadlock in which exactly `steppers` step for ever: the fewest failures. */
static void decide_stand(struct oracle *o, unsigned steppers)
{
    static struct oracle_steps steps;
    for (uint32_t s = 0; s < o->states; s++) {
        for (unsigned p = 0; p < o->n; p++) {
            const struct oracle_state *a = &o->at[s];
            const struct oracle_state *b = &o->at[a->next[p]];
            steps.may[s][p] = oracle_has(steppers, p) && oracle_same_regions(a, b) &&
                              a->c_allocation == b->c_allocation &&
                              a->r_allocation == b->r_allocation;
        }
    }
    oracle_close(o, &steps);
    for (uint32_t s = 0; s < o->states; s++) {
        const struct oracle_state *q = &o->at[s];
        int64_t failed = oracle_size((q->in[STEP_TRYING] | q->in[STEP_EXIT]) & ~steppers);
        if (oracle_stands(o, q) && oracle_laps(o, &steps, s, steppers) &&
            (o->robust == CHECK_UNBOUNDED || failed < o->robust)) {
            o->robust = failed;
        }
    }
}

static void decide_c2(struct oracle *o)
{
    o->robust = CHECK_UNBOUNDED;
    for (unsigned steppers = 1; steppers < 1U << o->n; steppers++) {
        if ((o->supervisor & ~steppers) == 0) {
            decide_stand(o, steppers);
        }
    }
    o->holds[STEP_C2] = o->robust == CHECK_UNBOUNDED || o->robust >= (int64_t)o->r;
}

/* States that a wait can be in after a number of cycles of the other; [1]: the other has been in R
   since. */
struct layer {
    bool in[ORACLE_STATES][2];
};

/* Complete a layer by steps during which i keeps waiting; put the states after one more cycle into
   *next. */
static bool fill_layer(const struct oracle *o, unsigned i, unsigned j, struct layer *layer,
                       struct layer *next)
{
    bool cycles = false;
    bool changed = true;
    memset(next, 0, sizeof *next);
    while (changed) {
        changed = false;
        for (uint32_t node = 0; node < 2 * o->states; node++) {
            uint32_t s = node / 2;
            bool rested = node & 1;
            for (unsigned p = 0; p < o->n && layer->in[s][rested]; p++) {
                uint32_t to = o->at[s].next[p];
                bool cycle = rested && p == j && oracle_enters(o, s, j);
                bool rests = !cycle && (rested || oracle_has(o->at[to].in[STEP_REMAINDER], j));
                cycles = cycles || cycle; /* even if i makes progress by this step */
                if (oracle_waits_on(o, i, s, to)) {
                    bool *there = &(cycle ? next : layer)->in[to][rests];
                    changed = changed || (!cycle && !*there);
                    *there = true;
                }
            }
        }
    }
    return cycles;
}

/* The most cycles of j during one wait of i; more than there are states: no bound. */
static int64_t most_cycles(const struct oracle *o, unsigned i, unsigned j)
{
    static struct layer layers[2];
    int64_t cycles = 0;
    memset(layers, 0, sizeof layers);
    for (uint32_t s = 0; s < o->states; s++) {
        layers[0].in[s][oracle_has(o->at[s].in[STEP_REMAINDER], j)] =
            oracle_has(o->at[s].waiting, i);
    }
    while (fill_layer(o, i, j, &layers[cycles % 2], &layers[(cycles + 1) % 2])) {
        if (++cycles > (int64_t)o->states) {
            return CHECK_UNBOUNDED;
        }
    }
    return cycles;
}

/* C5': can j enter C while i waits, and after how many steps? */
static void decide_cycle(struct oracle *o, unsigned i, unsigned j)
{
    static struct oracle_steps waiting;
    static size_t way[ORACLE_STATES];
    for (uint32_t s = 0; s < o->states; s++) {
        bool begins = oracle_has(o->at[s].waiting, i) && oracle_has(o->at[s].in[STEP_REMAINDER], j);
        way[s] = begins ? o->at[s].distance : ORACLE_NEVER;
        for (unsigned p = 0; p < o->n; p++) {
            waiting.may[s][p] = oracle_waits_on(o, i, s, o->at[s].next[p]);
        }
    }
    relax(o, &waiting, way);
    for (uint32_t s = 0; s < o->states; s++) {
        if (way[s] != ORACLE_NEVER && oracle_enters(o, s, j)) {
            violated(o, STEP_C5, way[s] + 1);
        }
    }
}

static void decide_waiting(struct oracle *o)
{
    int64_t *bound = &o->bounds[STEP_C4];
    for (unsigned i = 0; i < o->n; i++) {
        for (unsigned j = 0; j < o->n; j++) {
            int64_t cycles = most_cycles(o, i, j);
            if (*bound != CHECK_UNBOUNDED && (cycles == CHECK_UNBOUNDED || cycles > *bound)) {
                *bound = cycles;
            }
            decide_cycle(o, i, j);
        }
    }
    o->holds[STEP_C4] = *bound != CHECK_UNBOUNDED;
}

static void decide_c6(struct oracle *o)
{
    o->holds[STEP_C6] = o->holds[STEP_EXCLUSION] && o->holds[STEP_C5];
    for (uint32_t s = 0; s < o->states; s++) {
        o->holds[STEP_C6] = o->holds[STEP_C6] && oracle_queue_state(o, &o->at[s]);
    }
}

bool oracle_decide(struct oracle *o, const struct check_graph *graph)
{
    if (!oracle_learn(o, graph)) {
        return false;
    }
    for (unsigned p = 0; p < STEP_PROPERTIES; p++) {
        o->holds[p] = true;
        o->shortest[p] = ORACLE_NEVER;
    }
    decide_exclusion(o);
    decide_invariant(o);
    decide_deadlock(o);
    decide_order(o);
    for (unsigned steppers = 1; steppers < 1U << o->n; steppers++) {
        if ((o->supervisor & ~steppers) == 0) {
            decide_live(o, steppers);
        }
    }
    decide_c2(o);
    decide_waiting(o);
    decide_c6(o);
    oracle_decide_overtakings(o);
    return true;
}
