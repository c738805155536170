/*
 * No process is stuck: a process inside an operation of the core (take, leave, give up, resize,
 * reap) completes it when it runs alone, whatever the others are in the middle of. Decided on the
 * graph: every process has one step from every state. So running alone means following one edge
 * after the other, and a process that never completes its operation follows a loop.
 */
#ifndef USHER_TESTS_ALONE_H
#define USHER_TESTS_ALONE_H

#include "check/explore/explore.h"
#include "model/pool_machine.h"
#include "test.h"

#include <stdlib.h>

enum { ALONE_FOR_EVER = -1 };

static bool alone__busy(const struct check_graph *graph, const bool *busy, uint32_t state,
                        unsigned process)
{
    const struct check_seen *seen = &graph->seen;
    return busy[check_seen_part(seen, check_seen_key(seen, state), 1 + process)];
}

/* How many steps the process needs at most to complete its operation alone; or ALONE_FOR_EVER. */
static int64_t alone__longest(const struct check_graph *graph, const bool *busy, unsigned process)
{
    const uint32_t on_the_way = UINT32_MAX;
    uint32_t *steps = calloc(check_states(graph), sizeof *steps); /* 0: not known, or none */
    int64_t longest = 0;
    EXPECT(steps != NULL);
    for (uint32_t first = 0; first < check_states(graph) && longest >= 0; first++) {
        uint32_t state = first;
        uint32_t count = 0;
        for (; steps[state] == 0 && alone__busy(graph, busy, state, process); count++) {
            steps[state] = on_the_way;
            state = check_edge(graph, state, process);
        }
        if (steps[state] == on_the_way) {
            longest = ALONE_FOR_EVER;
            break;
        }
        uint32_t rest = steps[state];
        for (state = first; steps[state] == on_the_way; count--) {
            steps[state] = rest + count;
            longest = steps[state] > longest ? steps[state] : longest;
            state = check_edge(graph, state, process);
        }
    }
    free(steps);
    return longest;
}

/* The same for the process that needs most. The graph is complete, and has edges. */
static int64_t alone_longest(const struct check_graph *graph)
{
    const struct check_parts *parts = &graph->seen.private;
    int64_t longest = 0;
    bool *busy = calloc(parts->count, sizeof *busy);
    EXPECT(busy != NULL);
    for (uint32_t part = 0; part < parts->count; part++) {
        busy[part] = model_pool_busy(parts->values + part * parts->bytes);
    }
    for (unsigned process = 0; process < graph->system->n && longest >= 0; process++) {
        int64_t own = alone__longest(graph, busy, process);
        longest = own < 0 || own > longest ? own : longest;
    }
    free(busy);
    return longest;
}

#endif
