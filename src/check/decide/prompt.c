/* The states in which a process rests, and those of prompt tries: see prompt.h. */
#include "check/decide/prompt.h"

#include <errno.h>

static bool tries(const struct check_graph *graph, uint32_t state, unsigned process)
{
    return check_region(graph, state, process) == STEP_TRYING;
}

/* Follow the steps of the process alone, from each state once. A walk that meets itself has found a
   cycle; a walk that meets an earlier one, or leaves T, has not. */
static int find_resting(struct check_prompt *prompt, const struct check_graph *graph)
{
    uint32_t states = check_states(graph);
    unsigned i = prompt->process;
    uint32_t *walks =
        calloc(states, sizeof *walks); /* the first state of the walk that passed, + 1 */
    if (walks == NULL) {
        return -ENOMEM;
    }
    for (uint32_t first = 0; first < states; first++) {
        uint32_t at = first;
        while (walks[at] == 0 && tries(graph, at, i)) {
            walks[at] = first + 1;
            at = check_edge(graph, at, i);
        }
        while (walks[at] == first + 1 && !check_bits_has(&prompt->resting, at)) {
            check_bits_add(&prompt->resting, at);
            at = check_edge(graph, at, i);
        }
    }
    free(walks);
    return 0;
}

static int find_reached(struct check_prompt *prompt, const struct check_graph *graph)
{
    uint32_t states = check_states(graph);
    unsigned i = prompt->process;
    uint32_t *stack = malloc(((size_t)states + 1) * sizeof *stack);
    uint32_t count = 0;
    if (stack == NULL) {
        return -ENOMEM;
    }
    for (uint32_t s = 0; s < states; s++) {
        uint32_t to = check_edge(graph, s, i);
        if (check_region(graph, s, i) == STEP_REMAINDER && tries(graph, to, i) &&
            !check_bits_has(&prompt->reached, to)) {
            check_bits_add(&prompt->reached, to);
            stack[count++] = to;
        }
    }
    while (count > 0) {
        uint32_t s = stack[--count];
        for (unsigned p = 0; p < graph->system->n; p++) {
            uint32_t to = check_edge(graph, s, p);
            if (check_prompt_lets(prompt, s, p) && tries(graph, to, i) &&
                !check_bits_has(&prompt->reached, to)) {
                check_bits_add(&prompt->reached, to);
                stack[count++] = to;
            }
        }
    }
    free(stack);
    return 0;
}

int check_prompt_init(struct check_prompt *prompt, const struct check_graph *graph,
                      unsigned process)
{
    *prompt = (struct check_prompt){.process = process};
    if (check_bits_init(&prompt->resting, check_states(graph)) != 0 ||
        check_bits_init(&prompt->reached, check_states(graph)) != 0) {
        return -ENOMEM;
    }
    int error = find_resting(prompt, graph);
    return error != 0 ? error : find_reached(prompt, graph);
}

void check_prompt_free(struct check_prompt *prompt)
{
    check_bits_free(&prompt->resting);
    check_bits_free(&prompt->reached);
}
