/*
 * Decide C2, (r,k)-deadlock-free (1979): with fewer than r processes failing in T or E, the system
 * does not stand still while some seat is neither taken nor allocated and some process in T has no
 * allocation, or while some process in E has no allocation of the remainder.
 *
 * Allocation: G, a set of processes in T, is C-group-enabled if in every schedule in which each of
 * G takes a step at least |G| different processes go from T to C. C-allocation is the size of the
 * largest such G. (In (d1) the report prints |T| >= C-allocation where > is meant.)
 *
 * Computing it takes a search over schedules for every subset of T, so it is done for few states.
 * The critical-enabled processes of T are a group: if they alone fill the seats or are all of T,
 * the condition does not hold. Of the other states only those matter in which the system can stay
 * for ever, among such states, without a change of regions. States that need fewer than r failures
 * to do so come first: they decide C2. The others show for which larger r it holds.
 */
#include "check/decide/property.h"
#include "check/explore/mix.h"

#include <errno.h>
#include <string.h>

/* The limit on steps of all searches together, some seconds: beyond it C2 is not checked. */
#define MOST_WORK 50000000ULL

/* A small exact set of 64-bit words, for the searches below. */
struct word_set {
    uint64_t *slots;
    uint64_t *list;
    size_t mask, count;
};

static int set_init(struct word_set *set)
{
    set->mask = 255;
    set->count = 0;
    set->slots = calloc(set->mask + 1, sizeof *set->slots);
    set->list = malloc((set->mask + 1) * sizeof *set->list);
    return set->slots == NULL || set->list == NULL ? -ENOMEM : 0;
}

static void set_free(struct word_set *set)
{
    free(set->slots);
    free(set->list);
}

static void set_place(struct word_set *set, uint64_t word)
{
    size_t at = (size_t)check_mix(word) & set->mask;
    while (set->slots[at] != 0 && set->slots[at] != word) {
        at = (at + 1) & set->mask;
    }
    if (set->slots[at] == 0) {
        set->slots[at] = word;
        set->list[set->count++] = word;
    }
}

/* Add a word other than 0. 0 or -ENOMEM. */
static int set_add(struct word_set *set, uint64_t word)
{
    if (2 * set->count >= set->mask) {
        size_t size = 2 * (set->mask + 1);
        uint64_t *list = realloc(set->list, size * sizeof *list);
        uint64_t *slots = calloc(size, sizeof *slots);
        if (list != NULL) {
            set->list = list;
        }
        if (list == NULL || slots == NULL) {
            free(slots);
            return -ENOMEM;
        }
        free(set->slots);
        set->slots = slots;
        set->mask = size - 1;
        size_t count = set->count;
        set->count = 0;
        for (size_t i = 0; i < count; i++) {
            set_place(set, set->list[i]);
        }
    }
    set_place(set, word);
    return 0;
}

/*
 * Is `group` group-enabled in `state`? Search for a schedule that refutes it: all of the group step
 * and fewer than |group| different processes go from `from` to `to`. 1, 0, -ENOMEM, or -ECANCELED
 * beyond MOST_WORK.
 */
static int group_enabled(const struct check_graph *graph, uint32_t state, unsigned group,
                         enum step_region from, enum step_region to, uint64_t *work)
{
    unsigned most = (unsigned)__builtin_popcount(group) - 1;
    struct word_set seen;
    int answer = set_init(&seen);
    if (answer == 0) {
        /* the state, the part of the group that has yet to step, the processes that have crossed */
        answer = set_add(&seen, (uint64_t)state << 32 | (uint64_t)group << 16);
    }
    if (answer == 0) {
        answer = 1;
    }
    for (size_t next = 0; next < seen.count && answer == 1; next++) {
        uint64_t word = seen.list[next];
        uint32_t here = (uint32_t)(word >> 32);
        unsigned left = word >> 16 & 0xffff;
        unsigned gone = word & 0xffff;
        if (left == 0) {
            answer = 0;
            break;
        }
        *work += graph->system->n;
        if (*work > MOST_WORK) {
            answer = -ECANCELED;
            break;
        }
        for (unsigned i = 0; i < graph->system->n && answer == 1; i++) {
            uint32_t there = check_edge(graph, here, i);
            bool goes = check_region(graph, here, i) == from && check_region(graph, there, i) == to;
            unsigned went = gone | (unsigned)goes << i;
            if ((unsigned)__builtin_popcount(went) <= most &&
                set_add(&seen,
                        (uint64_t)there << 32 | (uint64_t)(left & ~(1U << i)) << 16 | went) != 0) {
                answer = -ENOMEM;
            }
        }
    }
    set_free(&seen);
    return answer;
}

/* C-allocation (T to C) or R-allocation (E to R) of a state: the largest group, or -errno. */
static int allocation(const struct check_graph *graph, uint32_t state, enum step_region from,
                      enum step_region to, uint64_t *work)
{
    unsigned members = check_in_region(graph, state, from);
    int best = 0;
    for (unsigned group = members; group != 0; group = (group - 1) & members) {
        if (__builtin_popcount(group) > best) {
            int answer = group_enabled(graph, state, group, from, to, work);
            if (answer < 0) {
                return answer;
            }
            best = answer == 1 ? __builtin_popcount(group) : best;
        }
    }
    return best;
}

struct deciding {
    const struct check_graph *graph;
    /* Of each state: 1 + C-allocation + 32 * R-allocation if (d) of C2 holds, else 0. */
    uint16_t *stands;
    uint8_t *stays; /* 0, MAY_STAND, or MAY_STAY + the failures that staying needs at least */
    struct check_witness witness;
    uint64_t work;
    unsigned fewest; /* failures that standing still needs; UINT_MAX: no such state */
    int error;
};

/* Can (d) hold, judging by the critical-enabled processes alone? */
static bool may_stand(const struct check_graph *graph, const struct check_enabled *enabled,
                      uint32_t state)
{
    unsigned in_t = check_in_region(graph, state, STEP_TRYING);
    unsigned in_e = check_in_region(graph, state, STEP_EXIT);
    unsigned able = ~(unsigned)enabled->not_enabled_1979[state];
    unsigned t = (unsigned)__builtin_popcount(in_t);
    unsigned c = (unsigned)__builtin_popcount(check_in_region(graph, state, STEP_CRITICAL));
    unsigned c_least = (unsigned)__builtin_popcount(in_t & able);
    return (t > c_least && c_least + c < graph->system->k) || (in_e & ~able) != 0;
}

/* Fill in `stands` for one state. 0 or -errno. */
static int note_allocation(struct deciding *d, uint32_t state)
{
    const struct check_graph *graph = d->graph;
    unsigned in_t = check_in_region(graph, state, STEP_TRYING);
    unsigned in_e = check_in_region(graph, state, STEP_EXIT);
    unsigned t = (unsigned)__builtin_popcount(in_t);
    unsigned c = (unsigned)__builtin_popcount(check_in_region(graph, state, STEP_CRITICAL));
    int c_allocation = allocation(graph, state, STEP_TRYING, STEP_CRITICAL, &d->work);
    int r_allocation = allocation(graph, state, STEP_EXIT, STEP_REMAINDER, &d->work);
    if (c_allocation < 0 || r_allocation < 0) {
        return c_allocation < 0 ? c_allocation : r_allocation;
    }
    bool d1 = t > (unsigned)c_allocation && (unsigned)c_allocation + c < graph->system->k;
    bool d2 = __builtin_popcount(in_e) > r_allocation;
    d->stands[state] = (uint16_t)(d1 || d2 ? 1 + c_allocation + 32 * r_allocation : 0);
    return 0;
}

static bool stands_here(const struct check_view *view, uint32_t state)
{
    return ((const struct deciding *)view->data)->stands[state] != 0;
}

static bool nothing_changes(const struct check_view *view, uint32_t from, unsigned process,
                            uint32_t to)
{
    const struct deciding *d = view->data;
    (void)process;
    return view->graph->regions[from] == view->graph->regions[to] &&
           d->stands[from] == d->stands[to];
}

static unsigned in_protocol(const struct check_graph *graph, uint32_t state)
{
    return check_in_region(graph, state, STEP_TRYING) | check_in_region(graph, state, STEP_EXIT);
}

/* Values of `stays`. */
enum { MAY_STAND = 1, MAY_STAY = 2 };

static void mark_stays(void *context, const struct check_component *component)
{
    struct deciding *d = context;
    unsigned steppers = check_component_steppers(component);
    if (steppers != 0 && check_admissible(d->graph->system, steppers)) {
        unsigned failures =
            (unsigned)__builtin_popcount(in_protocol(d->graph, component->states[0]) & ~steppers);
        for (uint32_t i = 0; i < component->count; i++) {
            d->stays[component->states[i]] = (uint8_t)(MAY_STAY + failures);
        }
    }
}

static bool no_region_changes(const struct check_view *view, uint32_t from, unsigned process,
                              uint32_t to)
{
    (void)process;
    return view->graph->regions[from] == view->graph->regions[to];
}

static bool may_stand_here(const struct check_view *view, uint32_t state)
{
    return ((const struct deciding *)view->data)->stays[state] != 0;
}

/* Mark the states in which the system can stay. 0 or -ENOMEM. */
static int note_stays(struct deciding *d, const struct check_enabled *enabled,
                      struct check_result *result)
{
    const struct check_graph *graph = d->graph;
    struct check_view view = {graph, d, may_stand_here, no_region_changes};
    for (uint32_t s = 0; s < check_states(graph); s++) {
        d->stays[s] = may_stand(graph, enabled, s) ? MAY_STAND : 0;
        result->tested += check_waiting_1979(enabled, s) != 0;
    }
    return check_scc(&view, mark_stays, d);
}

static void visit(void *context, const struct check_component *component)
{
    struct deciding *d = context;
    unsigned steppers = check_component_steppers(component);
    if (steppers == 0 || !check_admissible(d->graph->system, steppers)) {
        return;
    }
    unsigned failed = in_protocol(d->graph, component->states[0]) & ~steppers;
    unsigned failures = (unsigned)__builtin_popcount(failed);
    d->fewest = failures < d->fewest ? failures : d->fewest;
    if (failures < d->graph->system->robustness &&
        check_witness_offer(&d->witness, component, 0, steppers, failed) != 0) {
        d->error = -ENOMEM;
    }
}

/* Decide the states that need at least `from` failures, and fewer than `to`. 0 or -errno. */
static int decide_range(struct deciding *d, const struct check_view *view, unsigned from,
                        unsigned to)
{
    for (uint32_t s = 0; s < check_states(d->graph); s++) {
        bool now = d->stays[s] >= MAY_STAY + from && d->stays[s] < MAY_STAY + to;
        int error = now ? note_allocation(d, s) : 0;
        if (error != 0) {
            return error;
        }
    }
    int error = check_scc(view, visit, d);
    return error != 0 ? error : d->error;
}

/* Find the largest r for which C2 holds, after it is decided for `robustness`. 0 or -errno. */
static int find_robust(struct deciding *d, const struct check_view *view,
                       struct check_result *result)
{
    unsigned robustness = d->graph->system->robustness;
    int error = 0;
    result->verdict = d->witness.state == CHECK_NO_STATE ? CHECK_HOLDS : CHECK_VIOLATED;
    result->stopped = d->witness.stopped;
    if (result->verdict == CHECK_HOLDS) {
        error = decide_range(d, view, robustness, CHECK_MAX_PROCESSES + 1);
    }
    if (error == -ECANCELED) { /* it holds for this r at least */
        result->robust = robustness;
        return 0;
    }
    result->robust = d->fewest == UINT32_MAX ? CHECK_UNBOUNDED : (int64_t)d->fewest;
    return error;
}

int check_decide_allocation(struct check_graph *graph, const struct check_enabled *enabled,
                            struct check_report *report)
{
    struct check_result *result = &report->results[STEP_C2];
    struct deciding d = {
        .graph = graph, .witness = {.state = CHECK_NO_STATE}, .fewest = UINT32_MAX};
    struct check_view view = {graph, &d, stands_here, nothing_changes};
    d.stands = calloc(check_states(graph), sizeof *d.stands);
    d.stays = calloc(check_states(graph), sizeof *d.stays);
    int error = d.stands == NULL || d.stays == NULL ? -ENOMEM : note_stays(&d, enabled, result);
    if (error == 0) {
        error = decide_range(&d, &view, 0, graph->system->robustness);
    }
    if (error == 0) {
        error = find_robust(&d, &view, result);
    } else if (error == -ECANCELED) {
        result->why = "the allocations would take too long to compute at this size";
        error = 0;
    }
    if (error == 0 && result->verdict == CHECK_VIOLATED) {
        error = check_schedule_to(graph, d.witness.state, &result->trace);
        if (error == 0) {
            error = check_schedule_loop(&view, &d.witness.part, d.witness.state, d.witness.steppers,
                                        &result->loop);
        }
    }
    check_bits_free(&d.witness.part);
    free(d.stands);
    free(d.stays);
    return error;
}
