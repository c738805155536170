/* Shortest schedules: see search.h. */
#include "check/explore/search.h"

#include <errno.h>
#include <string.h>

int check_schedule_add(struct check_schedule *schedule, unsigned process)
{
    if (schedule->length == schedule->capacity) {
        size_t capacity = 2 * schedule->capacity + 16;
        uint8_t *grown = realloc(schedule->steps, capacity);
        if (grown == NULL) {
            return -ENOMEM;
        }
        schedule->steps = grown;
        schedule->capacity = capacity;
    }
    schedule->steps[schedule->length++] = (uint8_t)process;
    return 0;
}

int check_schedule_join(struct check_schedule *schedule, const struct check_schedule *more)
{
    for (size_t i = 0; i < more->length; i++) {
        if (check_schedule_add(schedule, more->steps[i]) != 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

void check_schedule_free(struct check_schedule *schedule)
{
    free(schedule->steps);
    *schedule = (struct check_schedule){0};
}

void check_schedule_keep_first(struct check_schedule *kept, struct check_schedule *offered)
{
    if (kept->length == 0 || offered->length < kept->length ||
        (offered->length == kept->length &&
         memcmp(offered->steps, kept->steps, kept->length) < 0)) {
        struct check_schedule swap = *kept;
        *kept = *offered;
        *offered = swap;
    }
    check_schedule_free(offered);
}

static void reverse_from(struct check_schedule *schedule, size_t begin)
{
    for (size_t a = begin, b = schedule->length; a + 1 < b; a++) {
        uint8_t step = schedule->steps[a];
        schedule->steps[a] = schedule->steps[--b];
        schedule->steps[b] = step;
    }
}

int check_schedule_to(struct check_graph *graph, uint32_t state, struct check_schedule *schedule)
{
    size_t begin = schedule->length;
    while (state != 0) {
        uint32_t parent = graph->parents[state];
        unsigned label = 0;
        while (check_successor(graph, parent, label) != state) {
            label++;
        }
        if (check_schedule_add(schedule, label) != 0) {
            return -ENOMEM;
        }
        state = parent;
    }
    reverse_from(schedule, begin);
    return 0;
}

/* Append the path from `from` to `to` in the tree of a search. */
static int trace_back(struct check_schedule *schedule, const uint32_t *parents, const uint8_t *via,
                      uint32_t from, uint32_t to, bool at_least_one_step)
{
    size_t begin = schedule->length;
    bool more = at_least_one_step || to != from;
    for (uint32_t at = to; more; at = parents[at], more = at != from) {
        if (check_schedule_add(schedule, via[at]) != 0) {
            return -ENOMEM;
        }
    }
    reverse_from(schedule, begin);
    return 0;
}

int check_search_run(const struct check_search *search, uint32_t from, bool at_least_one_step,
                     struct check_schedule *schedule, uint32_t *found)
{
    uint32_t *parents = malloc((size_t)search->nodes * sizeof *parents);
    uint32_t *queue = malloc(((size_t)search->nodes + 1) * sizeof *queue);
    uint8_t *via = malloc(search->nodes);
    uint32_t head = 0;
    uint32_t tail = 0;
    int error = 0;
    *found = CHECK_NO_STATE;
    if (parents == NULL || queue == NULL || via == NULL) {
        error = -ENOMEM;
    } else {
        memset(parents, 0xff, (size_t)search->nodes * sizeof *parents); /* CHECK_NO_STATE */
        queue[tail++] = from;
        if (!at_least_one_step) {
            parents[from] = from;
            *found = search->goal(search->context, from) ? from : CHECK_NO_STATE;
        }
    }
    while (error == 0 && head < tail && *found == CHECK_NO_STATE) {
        uint32_t node = queue[head++];
        for (unsigned i = 0; i < search->processes && *found == CHECK_NO_STATE; i++) {
            uint32_t to = search->next(search->context, node, i);
            if (to == CHECK_NO_STATE || parents[to] != CHECK_NO_STATE) {
                continue;
            }
            parents[to] = node;
            via[to] = (uint8_t)i;
            if (search->goal(search->context, to)) {
                *found = to;
            } else if (to != from) {
                queue[tail++] = to;
            }
        }
    }
    if (error == 0 && *found != CHECK_NO_STATE) {
        error = trace_back(schedule, parents, via, from, *found, at_least_one_step);
    }
    free(parents);
    free(queue);
    free(via);
    return error;
}

/* A walk inside a component: to a step of a wanted process, or back to its start. */
struct walk {
    const struct check_view *view;
    const struct check_bits *part;
    unsigned wanted; /* processes, one of which must have a step inside */
    uint32_t home;   /* the state to return to, if no process is wanted */
};

static uint32_t walk_next(void *context, uint32_t node, unsigned process)
{
    const struct walk *walk = context;
    uint32_t to = check_edge(walk->view->graph, node, process);
    return check_bits_has(walk->part, to) && check_view_edge(walk->view, node, process, to)
               ? to
               : CHECK_NO_STATE;
}

static unsigned steps_here(const struct walk *walk, uint32_t node)
{
    unsigned steps = 0;
    for (unsigned i = 0; i < walk->view->graph->system->n; i++) {
        struct walk copy = *walk;
        steps |= (unsigned)(walk_next(&copy, node, i) != CHECK_NO_STATE) << i;
    }
    return steps;
}

static bool walk_goal(void *context, uint32_t node)
{
    const struct walk *walk = context;
    return walk->wanted != 0 ? (steps_here(walk, node) & walk->wanted) != 0 : node == walk->home;
}

int check_schedule_loop_via(const struct check_view *view, const struct check_bits *part,
                            uint32_t state, uint32_t via, unsigned process,
                            struct check_schedule *schedule)
{
    struct walk walk = {view, part, 0, via};
    struct check_search search = {&walk, check_states(view->graph), view->graph->system->n,
                                  walk_next, walk_goal};
    uint32_t at;
    int error = check_search_run(&search, state, false, schedule, &at);
    if (error == 0) {
        error = check_schedule_add(schedule, process);
        at = walk_next(&walk, via, process);
        walk.home = state;
    }
    return error != 0 ? error : check_search_run(&search, at, false, schedule, &at);
}

int check_schedule_loop(const struct check_view *view, const struct check_bits *part,
                        uint32_t state, unsigned steppers, struct check_schedule *schedule)
{
    struct walk walk = {view, part, steppers, state};
    struct check_search search = {&walk, check_states(view->graph), view->graph->system->n,
                                  walk_next, walk_goal};
    uint32_t at = state;
    int error = 0;
    while (error == 0 && walk.wanted != 0) {
        size_t begin = schedule->length;
        error = check_search_run(&search, at, false, schedule, &at);
        if (error == 0) {
            unsigned process = (unsigned)__builtin_ctz(steps_here(&walk, at) & walk.wanted);
            error = check_schedule_add(schedule, process);
            at = walk_next(&walk, at, process);
        }
        for (size_t i = begin; i < schedule->length; i++) {
            walk.wanted &= ~(1U << schedule->steps[i]);
        }
    }
    return error != 0 ? error : check_search_run(&search, at, false, schedule, &at);
}
