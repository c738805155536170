/*
 * Count the most overtakings during one wait: while P_i is T-waiting (1989), the number of times
 * that other processes, taken together, become C-enabled after being in R since the wait began.
 * Each passage of a process counts once, when the process is out of R and C-enabled. This is
 * decided twice: for any schedule, in which P_i may be slow, and for schedules that are prompt for
 * P_i (prompt.h).
 *
 * If FIFO enabling holds, the number is 0. Otherwise, for each i: if a process leaves R inside a
 * strongly connected component of the states in which i waits, it returns to R there after being in
 * C, again and again: there is no bound. If none does, count along the longest path over pairs of a
 * state and the set of the fresh (processes that have been in R since the wait began).
 */
#include "check/decide/property.h"

#include <errno.h>
#include <string.h>

enum { MOST_PAIRS = 1 << 28 };

struct counting {
    const struct check_enabled *enabled;
    const struct check_prompt *prompt; /* of the waiter; NULL: any schedule */
    unsigned waiter;
    struct check_witness witness;
    int16_t *most; /* of each pair: the most overtakings on a path to it; -1: not reached yet */
    size_t *stack; /* pairs with a larger count than before */
    size_t length, capacity;
    int error;
};

static bool waits(const struct counting *c, uint32_t state)
{
    return (check_t_waiting(c->enabled, state) >> c->waiter & 1) &&
           check_prompt_reached(c->prompt, state);
}

static bool node_waits(const struct check_view *view, uint32_t state)
{
    return waits(view->data, state);
}

static bool edge_let(const struct check_view *view, uint32_t from, unsigned process, uint32_t to)
{
    (void)to;
    return check_prompt_lets(((const struct counting *)view->data)->prompt, from, process);
}

static struct check_view view_of(const struct counting *c)
{
    return (struct check_view){
        .graph = c->enabled->graph, .data = c, .node = node_waits, .edge = edge_let};
}

/* The fresh processes whose passage counts at a step to `to`. */
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
            uint32_t to = check_edge(graph, from, i);
            if (check_region(graph, from, i) != STEP_REMAINDER ||
                !check_view_edge(component->view, from, i, to) ||
                !check_component_has(component, to)) {
                continue;
            }
            uint32_t before = c->witness.state;
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

/* Record that a pair is reached after `count` overtakings. 0 or -ENOMEM. */
static int raise(struct counting *c, size_t pair, int count)
{
    if (count <= c->most[pair]) {
        return 0;
    }
    if (c->length == c->capacity) {
        size_t grown = 2 * c->capacity + 1024;
        size_t *more = realloc(c->stack, grown * sizeof *more);
        if (more == NULL) {
            return -ENOMEM;
        }
        c->stack = more;
        c->capacity = grown;
    }
    c->most[pair] = (int16_t)count;
    c->stack[c->length++] = pair;
    return 0;
}

/* Follow each step from a pair. */
static int go_on(struct counting *c, size_t pair)
{
    const struct check_graph *graph = c->enabled->graph;
    uint32_t state = (uint32_t)(pair >> graph->system->workers);
    unsigned fresh = (unsigned)pair & check_workers(graph->system);
    int error = 0;
    for (unsigned p = 0; p < graph->system->n && error == 0; p++) {
        uint32_t to = check_edge(graph, state, p);
        if (check_prompt_lets(c->prompt, state, p) && waits(c, to)) {
            unsigned passing = counted(c, fresh, to);
            unsigned next = (fresh & ~passing) | check_in_region(graph, to, STEP_REMAINDER);
            error = raise(c, pair_of(c, to, next), c->most[pair] + __builtin_popcount(passing));
        }
    }
    return error;
}

/* Count along all paths until no count rises; this ends, because there is a bound. */
static int count_waiter(struct counting *c, int64_t *bound)
{
    const struct check_graph *graph = c->enabled->graph;
    size_t pairs = (size_t)check_states(graph) << graph->system->workers;
    int error = 0;
    c->most = malloc(pairs * sizeof *c->most);
    if (c->most == NULL) {
        return -ENOMEM;
    }
    memset(c->most, 0xff, pairs * sizeof *c->most);
    for (uint32_t s = 0; s < check_states(graph) && error == 0; s++) {
        if (waits(c, s)) { /* a wait that began before counts no less */
            error = raise(c, pair_of(c, s, check_in_region(graph, s, STEP_REMAINDER)), 0);
        }
        while (c->length > 0 && error == 0) {
            size_t pair = c->stack[--c->length];
            *bound = c->most[pair] > *bound ? c->most[pair] : *bound;
            error = go_on(c, pair);
        }
    }
    free(c->most);
    free(c->stack);
    c->stack = NULL;
    c->length = c->capacity = 0;
    return error;
}

/* Nodes of the search for a trace to a prompt wait: 2s before the try has begun in state s, 2s+1
   after. Label n is the step of the waiter that begins the try. */
static uint32_t pair_next(void *context, uint32_t node, unsigned label)
{
    const struct counting *c = context;
    const struct check_graph *graph = c->enabled->graph;
    uint32_t from = node / 2;
    bool begins = label == graph->system->n;
    unsigned process = begins ? c->waiter : label;
    uint32_t to = check_edge(graph, from, process);
    if (begins) {
        bool may = (node & 1) == 0 && check_region(graph, from, c->waiter) == STEP_REMAINDER;
        return may ? 2 * to + 1 : CHECK_NO_STATE;
    }
    if (node & 1) {
        bool may = check_prompt_lets(c->prompt, from, process) &&
                   check_region(graph, to, c->waiter) == STEP_TRYING;
        return may ? 2 * to + 1 : CHECK_NO_STATE;
    }
    return 2 * to;
}

static bool pair_goal(void *context, uint32_t node)
{
    const struct counting *c = context;
    return (node & 1) && check_bits_has(&c->witness.part, node / 2);
}

/* A schedule to the witness; if c->prompt is set, the last try of the waiter on it is prompt. */
static int schedule_to(struct check_graph *graph, struct counting *c,
                       struct check_schedule *schedule, uint32_t *at)
{
    unsigned n = graph->system->n;
    struct check_search search = {c, 2 * check_states(graph), n + 1, pair_next, pair_goal};
    uint32_t node;
    *at = c->witness.state;
    if (c->prompt == NULL) {
        return check_schedule_to(graph, *at, schedule);
    }
    int error = check_search_run(&search, 0, false, schedule, &node);
    for (size_t s = 0; s < schedule->length; s++) {
        schedule->steps[s] = (uint8_t)(schedule->steps[s] == n ? c->waiter : schedule->steps[s]);
    }
    *at = node / 2;
    return error;
}

/* Show that there is no bound, if this witness is nearer than the one shown. */
static int show_unbounded(struct check_graph *graph, struct counting *c,
                          struct check_result *result)
{
    struct check_view view = view_of(c);
    uint32_t at;
    result->verdict = CHECK_VIOLATED;
    result->bound = CHECK_UNBOUNDED;
    int error = schedule_to(graph, c, &result->trace, &at);
    return error != 0 ? error
                      : check_schedule_loop_via(&view, &c->witness.part, at, c->witness.edge_from,
                                                c->witness.edge_process, &result->loop);
}

/* Find whether there is a bound, then the largest count of any waiter. */
static int count(struct check_graph *graph, struct counting *c, const struct check_prompt *prompts,
                 struct check_result *result)
{
    unsigned workers = graph->system->workers;
    int error = 0;
    for (c->waiter = 0; c->waiter < workers && error == 0; c->waiter++) {
        struct check_view view = view_of(c);
        c->prompt = prompts == NULL ? NULL : &prompts[c->waiter];
        error = check_scc(&view, visit, c);
        error = error != 0 ? error : c->error;
    }
    if (error == 0 && c->witness.state != CHECK_NO_STATE) {
        c->waiter = c->witness.process;
        c->prompt = prompts == NULL ? NULL : &prompts[c->waiter];
        return show_unbounded(graph, c, result);
    }
    if (((uint64_t)check_states(graph) << workers) > MOST_PAIRS) {
        result->verdict = CHECK_NOT_CHECKED;
        result->has_bound = false;
        result->why = "too many states to count overtakings in";
        return error;
    }
    for (c->waiter = 0; c->waiter < workers && error == 0; c->waiter++) {
        c->prompt = prompts == NULL ? NULL : &prompts[c->waiter];
        error = count_waiter(c, &result->bound);
    }
    return error;
}

/* The same for entries of others. If overtakings have no bound, neither have entries. */
static int count_entries(const struct check_graph *graph, const struct check_prompt *prompts,
                         struct check_result *result)
{
    int error = 0;
    result->entries = result->bound == CHECK_UNBOUNDED ? CHECK_UNBOUNDED : 0;
    for (unsigned i = 0;
         i < graph->system->workers && error == 0 && result->entries != CHECK_UNBOUNDED; i++) {
        int64_t entries;
        error = check_count_entries(graph, prompts == NULL ? NULL : &prompts[i], i, &entries);
        bool more = entries == CHECK_UNBOUNDED || entries > result->entries;
        result->entries = more ? entries : result->entries;
    }
    return error;
}

static int decide(struct check_graph *graph, const struct check_enabled *enabled,
                  const struct check_prompt *prompts, bool fifo, struct check_result *result)
{
    struct counting c = {.enabled = enabled, .witness = {.state = CHECK_NO_STATE}};
    int error = 0;
    result->verdict = CHECK_HOLDS;
    result->has_bound = true;
    if (!fifo) {
        error = count(graph, &c, prompts, result);
        check_bits_free(&c.witness.part);
    }
    return error != 0 ? error : count_entries(graph, prompts, result);
}

/* States in which the prompt process rests and another is in R: these test the property. */
static uint64_t count_tests(const struct check_graph *graph, const struct check_prompt *prompt)
{
    uint64_t tests = 0;
    for (uint32_t s = 0; s < check_states(graph); s++) {
        tests += check_bits_has(&prompt->resting, s) && check_bits_has(&prompt->reached, s) &&
                 check_in_region(graph, s, STEP_REMAINDER) != 0;
    }
    return tests;
}

int check_decide_overtakings(struct check_graph *graph, const struct check_enabled *enabled,
                             struct check_report *report)
{
    struct check_prompt prompts[CHECK_MAX_PROCESSES] = {0};
    struct check_result *prompt = &report->results[STEP_PROMPT];
    bool fifo = report->results[STEP_FIFO].verdict == CHECK_HOLDS;
    report->results[STEP_OVERTAKINGS].tested = report->results[STEP_FIFO].tested;
    int error = decide(graph, enabled, NULL, fifo, &report->results[STEP_OVERTAKINGS]);
    for (unsigned i = 0; i < graph->system->workers && error == 0; i++) {
        error = check_prompt_init(&prompts[i], graph, i);
        prompt->tested += error == 0 ? count_tests(graph, &prompts[i]) : 0;
    }
    if (error == 0) {
        error = decide(graph, enabled, prompts, fifo, prompt);
    }
    for (unsigned i = 0; i < graph->system->workers; i++) {
        check_prompt_free(&prompts[i]);
    }
    return error;
}
