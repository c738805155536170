/*
 * What never decreases in the model, and which processes are symmetric: for an exploration that
 * forgets finished groups of states (check/sweep/sweep.h). The sweep checks that these never
 * decrease.
 */
#include "model/pool_machine.h"
#include "model/pool_parts.h"

/* ISSUE, VALID and the number of events since the start: a byte each. */
uint32_t model__stage(const struct step_system *system, const uint64_t *words)
{
    const struct step_limits *limits = &system->limits;
    uint32_t first = limits->stale != 0 ? CORE_TICKET_MASK - 1 : 0;
    uint32_t issued = core_i_issue(words[AT_I]) - first;
    uint32_t valid = (core_v_valid(words[AT_V]) - first - system->k) & CORE_TICKET_MASK;
    uint32_t happened = limits->crashes + limits->gives_up + limits->grows + limits->shrinks;
    for (unsigned event = CRASH; event <= SHRINK; event++) {
        happened -= world__left(words[AT_WORLD], event);
    }
    return (issued & 0xff) | (valid & 0xff) << 8 | happened << 16;
}

/* Four values for each cycle: tries; holds; leaves; rests or is dead. */
uint8_t model__phase(const struct step_system *system, const void *state)
{
    const struct process *p = state;
    unsigned within = 4;
    switch ((enum mode)p->mode) {
    case TAKING:
    case LOOKING:
    case HELPING:
    case WATCHING:
    case PROVING:
    case REAPING:
    case CLAIMING:
    case COUNTING:
    case REPEAT_ENTERING:
    case REPEAT_SITTING:
    case GIVING_UP: /* the grant may come first */
        within = 1;
        break;
    case HOLDING:
        within = 2;
        break;
    case RELEASING:
    case REPEAT_LEAVING:
    case LEAVING_SLOWLY:
        within = 3;
        break;
    case RESTING:
    case RESIZING:
    case CLEANING:
    case DEAD:
        break;
    }
    (void)system;
    return (uint8_t)(4U * p->cycles + within);
}

uint64_t model__judged(const struct step_system *system, const void *state)
{
    const struct process *p = state;
    (void)system;
    if (p->mode == HOLDING) {
        return p->k << 8 | (uint64_t)p->seat << 2 | 1;
    }
    return p->mode == RESTING || p->mode == DEAD ? 2 : 0;
}

/*
 * The first and the last of the processes that take the repeat path are symmetric, if both enter
 * equally often. They are not if one of them has a special part at the start, or if two processes
 * can be dead, because then the order in which they are reaped matters.
 */
unsigned model__mirror(const struct step_system *system, unsigned process)
{
    const struct step_limits *limits = &system->limits;
    unsigned last = (system->n - 1) / 2 * 2;
    unsigned only = limits->fewer_only;
    bool equally = limits->fewer == 0 || (only > 1 && only != last + 1);
    bool alike = equally && limits->queue == 0 && limits->stale != 3 && limits->crashes < 2;
    if (!alike || (process != 0 && process != last)) {
        return process;
    }
    return last - process;
}
