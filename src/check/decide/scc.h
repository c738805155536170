/*
 * Find the strongly connected components of a part of the state graph, and visit each when it is
 * complete.
 *
 * A component is visited after every component that can be reached from it. So a visitor can pass
 * facts backwards along the edges ("a violation can be reached from here").
 */
#ifndef USHER_CHECK_SCC_H
#define USHER_CHECK_SCC_H

#include "check/explore/explore.h"

/* A part of the graph. A NULL test keeps everything. */
struct check_view {
    const struct check_graph *graph;
    const void *data;
    bool (*node)(const struct check_view *view, uint32_t state);
    bool (*edge)(const struct check_view *view, uint32_t from, unsigned process, uint32_t to);
};

static inline bool check_view_node(const struct check_view *view, uint32_t state)
{
    return view->node == NULL || view->node(view, state);
}

/* Does the step of `process` stay in the view? */
static inline bool check_view_edge(const struct check_view *view, uint32_t from, unsigned process,
                                   uint32_t to)
{
    return check_view_node(view, to) && (view->edge == NULL || view->edge(view, from, process, to));
}

struct check_component {
    const struct check_view *view;
    const uint32_t *states;
    uint32_t count;
    const uint32_t *marks; /* equal marks of two completed states: they are in one component */
};

typedef void check_component_visitor(void *context, const struct check_component *component);

/* Is `to`, where a step inside the view leads, in this component? */
static inline bool check_component_has(const struct check_component *component, uint32_t to)
{
    return component->marks[to] == component->marks[component->states[0]];
}

/* The processes that have a step inside the component, as a bit mask. */
unsigned check_component_steppers(const struct check_component *component);

/* 0 or -ENOMEM. */
int check_scc(const struct check_view *view, check_component_visitor *visit, void *context);

#endif
