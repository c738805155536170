/* Tarjan's algorithm without recursion: see scc.h. */
#include "check/decide/scc.h"

#include <errno.h>
#include <stdlib.h>

/* A mark is 0 (not visited), an index (on the stack), or DONE | component. */
#define DONE 0x80000000U

struct frame {
    uint32_t state;
    uint32_t low;
    uint32_t process; /* the next step to follow */
};

struct tarjan {
    const struct check_view *view;
    check_component_visitor *visit;
    void *context;
    uint32_t *marks;
    uint32_t *stack;
    struct frame *frames;
    size_t stack_capacity, frame_capacity;
    uint32_t stack_count, frame_count, indices, components;
    struct check_budget *budget;
};

unsigned check_component_steppers(const struct check_component *component)
{
    const struct check_graph *graph = component->view->graph;
    unsigned steppers = 0;
    for (uint32_t s = 0; s < component->count; s++) {
        uint32_t from = component->states[s];
        for (unsigned i = 0; i < graph->system->n; i++) {
            uint32_t to = check_edge(graph, from, i);
            if (check_component_has(component, to) &&
                check_view_edge(component->view, from, i, to)) {
                steppers |= 1U << i;
            }
        }
    }
    return steppers;
}

static int push(struct tarjan *t, uint32_t state)
{
    if (check_budget_grow(t->budget, (void **)&t->stack, &t->stack_capacity,
                          (size_t)t->stack_count + 1, sizeof *t->stack) != 0 ||
        check_budget_grow(t->budget, (void **)&t->frames, &t->frame_capacity,
                          (size_t)t->frame_count + 1, sizeof *t->frames) != 0) {
        return -ENOMEM;
    }
    t->marks[state] = ++t->indices;
    t->stack[t->stack_count++] = state;
    t->frames[t->frame_count++] = (struct frame){state, t->indices, 0};
    return 0;
}

/* Follow the next step of the frame on top. 1 if it went deeper, 0 if it is done, or -ENOMEM. */
static int advance(struct tarjan *t)
{
    const struct check_graph *graph = t->view->graph;
    struct frame *top = &t->frames[t->frame_count - 1];
    while (top->process < graph->system->n) {
        unsigned process = top->process++;
        uint32_t to = check_edge(graph, top->state, process);
        uint32_t mark = t->marks[to];
        if ((mark & DONE) || !check_view_edge(t->view, top->state, process, to)) {
            continue;
        }
        if (mark == 0) {
            return push(t, to) != 0 ? -ENOMEM : 1;
        }
        if (mark < top->low) {
            top->low = mark;
        }
    }
    return 0;
}

/* The frame on top is done: visit its component if it is the root, and return to the caller. */
static void finish(struct tarjan *t)
{
    struct frame top = t->frames[--t->frame_count];
    if (top.low == t->marks[top.state]) {
        uint32_t mark = DONE | t->components++;
        uint32_t begin = t->stack_count;
        do {
            t->marks[t->stack[--begin]] = mark;
        } while (t->stack[begin] != top.state);
        struct check_component component = {t->view, t->stack + begin, t->stack_count - begin,
                                            t->marks};
        t->visit(t->context, &component);
        t->stack_count = begin;
    }
    if (t->frame_count > 0 && top.low < t->frames[t->frame_count - 1].low) {
        t->frames[t->frame_count - 1].low = top.low;
    }
}

int check_scc(const struct check_view *view, check_component_visitor *visit, void *context)
{
    /* Its own budget: several threads search at once. */
    struct check_budget budget = {.limit = SIZE_MAX};
    struct tarjan t = {.view = view, .visit = visit, .context = context, .budget = &budget};
    uint32_t states = check_states(view->graph);
    int error = 0;
    t.marks = calloc(states, sizeof *t.marks);
    if (t.marks == NULL) {
        return -ENOMEM;
    }
    for (uint32_t root = 0; root < states && error == 0; root++) {
        if (t.marks[root] != 0 || !check_view_node(view, root)) {
            continue;
        }
        error = push(&t, root);
        while (error == 0 && t.frame_count > 0) {
            int deeper = advance(&t);
            if (deeper < 0) {
                error = deeper;
            } else if (deeper == 0) {
                finish(&t);
            }
        }
    }
    free(t.marks);
    free(t.stack);
    free(t.frames);
    return error;
}
