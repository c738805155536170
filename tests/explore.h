/* Exploring a machine completely, for tests. */
#ifndef USHER_TESTS_EXPLORE_H
#define USHER_TESTS_EXPLORE_H

#include "check/explore/explore.h"
#include "test.h"

/* Explore a machine at a size. False: it does not take that size. */
static inline bool explore_at(const struct step_machine *machine, unsigned n, unsigned k,
                              unsigned robustness, struct step_system *system,
                              struct check_graph *graph)
{
    char why[STEP_WHY_BYTES];
    struct check_options options = {0};
    if (step_system_init(system, machine, n, k, robustness, why) != 0) {
        return false;
    }
    EXPECT_EQ(check_explore(graph, system, &options), 0);
    EXPECT(graph->complete);
    EXPECT(graph->broken == NULL);
    return true;
}

/* Explore the states of a machine that is judged by its `wrong` alone. */
static inline void explore_states(const struct step_machine *machine, unsigned n,
                                  struct step_system *system, struct check_graph *graph)
{
    char why[STEP_WHY_BYTES];
    struct check_options options = {.only_exclusion = true};
    EXPECT_EQ(step_system_init(system, machine, n, 1, 0, why), 0);
    EXPECT_EQ(check_explore(graph, system, &options), 0);
    EXPECT(graph->complete);
    EXPECT(graph->broken == NULL);
}

/* The steps to the first wrong state; 0: there is none. */
static inline unsigned explore_depth(const struct check_graph *graph)
{
    return graph->wrong == NULL ? 0 : check_depth(graph, graph->first_wrong);
}

/* step_machine.region of a machine without regions. */
static inline enum step_region explore_no_region(const struct step_system *system,
                                                 const void *state)
{
    (void)system;
    (void)state;
    return STEP_REMAINDER;
}

/* step_machine.print_word for words that are shown as numbers. */
static inline int explore_print_word(const struct step_system *system, unsigned word,
                                     uint64_t value, char *out, size_t size)
{
    (void)system;
    return snprintf(out, size, "%u:%llx", word, (unsigned long long)value);
}

#endif
