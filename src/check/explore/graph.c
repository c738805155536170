/* Queries on a graph, and freeing it: see explore.h. */
#include "check/explore/explore.h"

#include <string.h>

unsigned check_in_region(const struct check_graph *graph, uint32_t state, enum step_region region)
{
    unsigned mask = 0;
    for (unsigned i = 0; i < graph->system->workers; i++) {
        mask |= (unsigned)(check_region(graph, state, i) == region) << i;
    }
    return mask;
}

char *check_process_name(const struct step_system *system, unsigned process,
                         char out[CHECK_PROCESS_NAME])
{
    if (check_supervises(system, process)) {
        (void)snprintf(out, CHECK_PROCESS_NAME, "S");
    } else {
        (void)snprintf(out, CHECK_PROCESS_NAME, "%u", process + 1);
    }
    return out;
}

uint32_t check_depth(const struct check_graph *graph, uint32_t state)
{
    uint32_t low = 0;
    uint32_t high = graph->level_count - 1;
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        *(graph->levels[middle] <= state ? &low : &high) = middle;
    }
    return low;
}

void check_graph_free(struct check_graph *graph)
{
    check_budget_free(&graph->budget, graph->parents, graph->parent_capacity, sizeof(uint32_t));
    check_budget_free(&graph->budget, graph->edges, graph->edge_capacity, sizeof(uint32_t));
    check_budget_free(&graph->budget, graph->regions, graph->region_capacity, sizeof(uint32_t));
    check_budget_free(&graph->budget, graph->levels, graph->level_capacity, sizeof(uint32_t));
    check_seen_free(&graph->seen);
    memset(graph, 0, sizeof *graph);
}
