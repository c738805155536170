/*
 * Decide first-in and first-enabled (1994) for machines with a doorway and a waiting room.
 *
 *     first-in (Definition 2.5):       if i last left the doorway before j last entered it, i is
 *                                      in the waiting room and j in C, then i is C-enabled.
 *     first-enabled (Definition 5.1):  the same if j is in the waiting room and C-enabled.
 *
 * "Enabled" there is C-enabled here. i left the doorway before j entered it if i was in the waiting
 * room when j left R, and has been there since: a process returns to the waiting room only through
 * C and the doorway. So for each i, while i is in the waiting room, pass on from state to state the
 * set of processes that have left R since: the late.
 */
#include "check/decide/property.h"

#include <errno.h>

struct order {
    const struct check_enabled *enabled;
    const uint16_t *rooms;  /* of each state: the processes in the waiting room */
    bool of_enabled;        /* first-enabled, not first-in */
    unsigned first, second; /* i and j, for the trace */
};

/* The processes that, if late, may be where they are only if `first` is C-enabled. */
static unsigned ahead(const struct order *o, uint32_t state)
{
    return o->of_enabled ? o->rooms[state] & check_c_enabled(o->enabled, state)
                         : check_in_region(o->enabled->graph, state, STEP_CRITICAL);
}

static bool in_room(const struct order *o, uint32_t state)
{
    return o->rooms[state] >> o->first & 1;
}

static bool first_is_enabled(const struct order *o, uint32_t state)
{
    return check_c_enabled(o->enabled, state) >> o->first & 1;
}

/* The late after a step of `process`; `late` are those before it. */
static unsigned late_after(const struct order *o, uint32_t from, unsigned process, unsigned late)
{
    bool leaves = check_region(o->enabled->graph, from, process) == STEP_REMAINDER &&
                  !check_supervises(o->enabled->graph->system, process);
    return late | (unsigned)leaves << process;
}

/* The late processes ahead of `first` anywhere, as a mask; *tested counts the states tested. */
static int find_ahead(const struct order *o, unsigned *mask, uint64_t *tested)
{
    const struct check_graph *graph = o->enabled->graph;
    uint32_t states = check_states(graph);
    uint16_t *late = calloc(states, sizeof *late);
    uint32_t *stack = malloc(((size_t)states + 1) * sizeof *stack);
    struct check_bits queued = {0};
    uint32_t count = 0;
    if (late == NULL || stack == NULL || check_bits_init(&queued, states) != 0) {
        free(late);
        free(stack);
        return -ENOMEM;
    }
    for (uint32_t s = 0; s < states; s++) {
        if (in_room(o, s)) { /* a wait may begin in any of its states */
            stack[count++] = s;
            check_bits_add(&queued, s);
        }
    }
    while (count > 0) {
        uint32_t s = stack[--count];
        queued.words[s / 64] &= ~(1ULL << s % 64);
        for (unsigned p = 0; p < graph->system->n; p++) {
            uint32_t to = check_edge(graph, s, p);
            unsigned then = late_after(o, s, p, late[s]);
            if ((then & ~(unsigned)late[to]) == 0 || !in_room(o, to)) {
                continue;
            }
            late[to] = (uint16_t)(late[to] | then);
            if (!check_bits_has(&queued, to)) {
                check_bits_add(&queued, to);
                stack[count++] = to;
            }
        }
    }
    for (uint32_t s = 0; s < states; s++) {
        *tested += late[s] != 0;
        *mask |= first_is_enabled(o, s) ? 0 : late[s] & ahead(o, s);
    }
    free(late);
    free(stack);
    check_bits_free(&queued);
    return 0;
}

/* Nodes of the search for a trace: 2s before `second` is late in state s, 2s+1 after. */
static uint32_t pair_next(void *context, uint32_t node, unsigned process)
{
    const struct order *o = context;
    uint32_t to = check_edge(o->enabled->graph, node / 2, process);
    unsigned late = late_after(o, node / 2, process, (node & 1) << o->second);
    bool waited = in_room(o, node / 2) && in_room(o, to);
    return 2 * to + (waited && (late >> o->second & 1));
}

static bool pair_goal(void *context, uint32_t node)
{
    const struct order *o = context;
    return (node & 1) && (ahead(o, node / 2) >> o->second & 1) && !first_is_enabled(o, node / 2);
}

static int decide(struct order *o, struct check_result *result)
{
    unsigned n = o->enabled->graph->system->n;
    int error = 0;
    result->verdict = CHECK_HOLDS;
    for (o->first = 0; o->first < n && error == 0; o->first++) {
        unsigned mask = 0;
        error = find_ahead(o, &mask, &result->tested);
        for (o->second = 0; o->second < n && error == 0; o->second++) {
            struct check_schedule schedule = {0};
            struct check_search search = {o, 2 * check_states(o->enabled->graph), n, pair_next,
                                          pair_goal};
            uint32_t found;
            if (mask >> o->second & 1) {
                error = check_search_run(&search, 0, false, &schedule, &found);
                result->verdict = CHECK_VIOLATED;
                check_schedule_keep_first(&result->trace, &schedule);
            }
        }
    }
    return error;
}

static uint16_t *find_rooms(const struct check_graph *graph)
{
    const struct step_system *system = graph->system;
    const struct check_parts *parts = &graph->seen.private;
    uint16_t *rooms = calloc(check_states(graph), sizeof *rooms);
    bool *inside = calloc(parts->count, sizeof *inside); /* of each private state */
    if (rooms == NULL || inside == NULL) {
        free(rooms);
        free(inside);
        return NULL;
    }
    for (uint32_t x = 0; x < parts->count; x++) {
        inside[x] = system->machine->waiting_room(system, parts->values + x * parts->bytes);
    }
    for (uint32_t s = 0; s < check_states(graph); s++) {
        const uint64_t *key = check_seen_key(&graph->seen, s);
        for (unsigned i = 0; i < system->workers; i++) {
            unsigned is_inside = inside[check_seen_part(&graph->seen, key, 1 + i)];
            rooms[s] = (uint16_t)(rooms[s] | is_inside << i);
        }
    }
    free(inside);
    return rooms;
}

int check_decide_first_in(struct check_graph *graph, const struct check_enabled *enabled,
                          struct check_report *report)
{
    struct check_result *first_in = &report->results[STEP_FIRST_IN];
    struct check_result *first_enabled = &report->results[STEP_FIRST_ENABLED];
    if (graph->system->machine->waiting_room == NULL) {
        first_in->why = first_enabled->why = "the machine has no doorway";
        return 0;
    }
    uint16_t *rooms = find_rooms(graph);
    struct order in = {.enabled = enabled, .rooms = rooms};
    struct order of_enabled = {.enabled = enabled, .rooms = rooms, .of_enabled = true};
    int error = rooms == NULL ? -ENOMEM : decide(&in, first_in);
    if (error == 0) {
        error = decide(&of_enabled, first_enabled);
    }
    free(rooms);
    return error;
}
