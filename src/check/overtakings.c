/*
 * The largest number of overtakings during one wait: while P_i is T-waiting (1989), how often are
 * others, all together, C-enabled after having been in R since the wait began? Each passage of each
 * counts once, when the process is out of R and C-enabled.
 *
 * If FIFO enabling holds the answer is 0. Otherwise look at each i: if somebody leaves R inside a
 * strongly connected component of the states in which i waits, it comes back to R there, so it has
 * been in C, and that without bound. Else count along the longest way, over pairs of a state and
 * the set of the fresh (those who have been in R since).
 */
#include "check/property.h"

#include <errno.h>
#include <string.h>

enum { MOST_PAIRS = 1 << 28 };

struct counting {
    const struct check_enabled *enabled;
    unsigned waiter;
    bool unbounded;
    struct check_witness witness;
    int16_t *most; /* of each pair: the count from there on; -1: not known yet, -2: being counted */
    int error;
};

static bool waits(const struct counting *c, uint32_t state)
{
    return check_t_waiting(c->enabled, state) >> c->waiter & 1;
}

static bool node_waits(const struct check_view *view, uint32_t state)
{
    return waits(view->data, state);
}

/* Whose passage counts at a step to `to`, if those in `fresh` are fresh. */
static unsigned counted(const struct counting *c, unsigned fresh, uint32_t to)
{
    unsigned resting = check_in_region(c->enabled->graph, to, STEP_REMAINDER);
    return fresh & check_c_enabled(c->enabled, to) & ~resting & ~(1U << c->waiter);
}

static void visit(void *context, const struct check_component *component)
{
    struct counting *c = context;
    const struct check_graph *graph = component->view->graph;
    for (uint32_t s = 0; s < component->count; s++) {
        uint32_t from = component->states[s];
        for (unsigned i = 0; i < graph->system->workers; i++) {
            if (check_region(graph, from, i) != STEP_REMAINDER ||
                !check_component_has(component, check_edge(graph, from, i))) {
                continue;
            }
            uint32_t before = c->witness.state;
            c->unbounded = true;
            if (check_witness_offer(&c->witness, component, c->waiter, 0, 0) != 0) {
                c->error = -ENOMEM;
            }
            if (c->witness.state != before) {
                c->witness.edge_from = from;
                c->witness.edge_process = i;
            }
            return;
        }
    }
}

static size_t pair_of(const struct counting *c, uint32_t state, unsigned fresh)
{
    return (size_t)state << c->enabled->graph->system->workers | fresh;
}

/* Who is fresh after a step to `to`. */
static unsigned fresh_after(const struct counting *c, unsigned fresh, uint32_t to)
{
    return (fresh & ~counted(c, fresh, to)) |
           check_in_region(c->enabled->graph, to, STEP_REMAINDER);
}

/* One place on the way: a pair, and the next step to follow from it. */
struct place {
    uint32_t state;
    unsigned fresh, process;
};

static int push(struct counting *c, struct place **way, size_t *capacity, size_t *length,
                struct place place)
{
    if (*length == *capacity) {
        size_t grown = 2 * *capacity + 1024;
        struct place *more = realloc(*way, grown * sizeof *more);
        if (more == NULL) {
            return -ENOMEM;
        }
        *way = more;
        *capacity = grown;
    }
    (*way)[(*length)++] = place;
    c->most[pair_of(c, place.state, place.fresh)] = -2;
    return 0;
}

/*
 * Count from one pair on, depth first without recursion. Steps that count never lie on a cycle
 * (that was looked at before), so a pair that is still being counted adds nothing along the way
 * back to it; running to a fixed point makes that exact for the pairs of one component.
 */
static int count_from(struct counting *c, uint32_t state, unsigned fresh, bool *changed)
{
    const struct check_graph *graph = c->enabled->graph;
    struct place *way = NULL;
    size_t capacity = 0;
    size_t length = 0;
    int error = push(c, &way, &capacity, &length, (struct place){state, fresh, 0});
    while (error == 0 && length > 0) {
        struct place *top = &way[length - 1];
        int best = 0;
        bool deeper = false;
        for (; top->process < graph->system->n && !deeper; top->process++) {
            uint32_t to = check_edge(graph, top->state, top->process);
            unsigned next = fresh_after(c, top->fresh, to);
            if (waits(c, to) && c->most[pair_of(c, to, next)] == -1) {
                error = push(c, &way, &capacity, &length, (struct place){to, next, 0});
                deeper = true;
                break;
            }
        }
        if (deeper) {
            continue;
        }
        for (unsigned i = 0; i < graph->system->n; i++) {
            uint32_t to = check_edge(graph, top->state, i);
            if (waits(c, to)) {
                unsigned next = fresh_after(c, top->fresh, to);
                int there = c->most[pair_of(c, to, next)];
                there = (there < 0 ? 0 : there) + __builtin_popcount(counted(c, top->fresh, to));
                best = there > best ? there : best;
            }
        }
        *changed = true;
        c->most[pair_of(c, top->state, top->fresh)] = (int16_t)best;
        length--;
    }
    free(way);
    return error;
}

/* Raise the counts until none rises any more. */
static void settle(struct counting *c)
{
    const struct check_graph *graph = c->enabled->graph;
    unsigned n = graph->system->n;
    unsigned workers = graph->system->workers;
    bool changed = true;
    while (changed) {
        changed = false;
        for (size_t pair = 0; pair < (size_t)check_states(graph) << workers; pair++) {
            if (c->most[pair] < 0) {
                continue;
            }
            uint32_t state = (uint32_t)(pair >> workers);
            unsigned fresh = (unsigned)pair & ((1U << workers) - 1);
            for (unsigned i = 0; i < n; i++) {
                uint32_t to = check_edge(graph, state, i);
                int there = waits(c, to) ? c->most[pair_of(c, to, fresh_after(c, fresh, to))] : -1;
                int count = there < 0 ? 0 : there + __builtin_popcount(counted(c, fresh, to));
                if (count > c->most[pair]) {
                    c->most[pair] = (int16_t)count;
                    changed = true;
                }
            }
        }
    }
}

static int count_waiter(struct counting *c, int64_t *bound)
{
    const struct check_graph *graph = c->enabled->graph;
    size_t pairs = (size_t)check_states(graph) << graph->system->workers;
    int error = 0;
    bool changed = false;
    c->most = malloc(pairs * sizeof *c->most);
    if (c->most == NULL) {
        return -ENOMEM;
    }
    memset(c->most, 0xff, pairs * sizeof *c->most);
    for (uint32_t s = 0; s < check_states(graph) && error == 0; s++) {
        unsigned fresh = check_in_region(graph, s, STEP_REMAINDER);
        if (waits(c, s) && c->most[pair_of(c, s, fresh)] == -1) {
            error = count_from(c, s, fresh, &changed);
        }
    }
    settle(c);
    for (size_t pair = 0; pair < pairs && error == 0; pair++) {
        *bound = c->most[pair] > *bound ? c->most[pair] : *bound;
    }
    free(c->most);
    return error;
}

int check_decide_overtakings(struct check_graph *graph, const struct check_enabled *enabled,
                             struct check_report *report)
{
    struct check_result *result = &report->results[STEP_OVERTAKINGS];
    struct counting c = {.enabled = enabled, .witness = {.state = CHECK_NO_STATE}};
    struct check_view view = {.graph = graph, .data = &c, .node = node_waits};
    int error = 0;
    result->tested = report->results[STEP_FIFO].tested;
    result->verdict = CHECK_HOLDS;
    result->has_bound = true;
    if (report->results[STEP_FIFO].verdict == CHECK_HOLDS) {
        return 0;
    }
    for (c.waiter = 0; c.waiter < graph->system->workers && error == 0; c.waiter++) {
        error = check_scc(&view, visit, &c);
    }
    if (error == 0 && c.unbounded) {
        struct check_view all = {.graph = graph};
        result->verdict = CHECK_VIOLATED;
        result->bound = CHECK_UNBOUNDED;
        error = check_schedule_to(graph, c.witness.state, &result->trace);
        if (error == 0) {
            error =
                check_schedule_loop_via(&all, &c.witness.part, c.witness.state, c.witness.edge_from,
                                        c.witness.edge_process, &result->loop);
        }
    } else if (((uint64_t)check_states(graph) << graph->system->workers) > MOST_PAIRS) {
        result->verdict = CHECK_NOT_CHECKED;
        result->has_bound = false;
        result->why = "too many states to count overtakings in";
    } else {
        for (c.waiter = 0; c.waiter < graph->system->workers && error == 0; c.waiter++) {
            error = count_waiter(&c, &result->bound);
        }
    }
    check_bits_free(&c.witness.part);
    return error != 0 ? error : c.error;
}
