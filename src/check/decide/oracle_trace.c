/*
 * Does a reported trace show the violation? The trace is executed on the oracle's copy of the graph
 * and compared with the definition of the property: see oracle.h.
 */
#include "check/decide/oracle.h"

enum { MOST_STEPS = 100000 };

/* The states of a trace from the start, then those of its loop. */
struct replay {
    const struct oracle *oracle;
    const struct check_result *result;
    uint32_t way[MOST_STEPS + 1];
    size_t end;      /* way[end] is where the trace ends and the loop begins */
    size_t loop_end; /* way[loop_end] is where the loop ends */
    unsigned steppers;
};

static bool execute(struct replay *r)
{
    const struct check_schedule *parts[] = {&r->result->trace, &r->result->loop};
    size_t at = 0;
    r->way[0] = 0;
    r->steppers = 0;
    for (unsigned part = 0; part < 2; part++) {
        for (size_t i = 0; i < parts[part]->length; i++) {
            unsigned process = parts[part]->steps[i];
            if (process >= r->oracle->n || at == MOST_STEPS) {
                return false;
            }
            r->way[at + 1] = r->oracle->at[r->way[at]].next[process];
            at++;
            r->steppers |= part == 1 ? 1U << process : 0;
        }
        *(part == 0 ? &r->end : &r->loop_end) = at;
    }
    return true;
}

static const struct oracle_state *state_at(const struct replay *r, size_t at)
{
    return &r->oracle->at[r->way[at]];
}

/* FIFO: a process waits from some point to the end; another is in R (C) there and ends enabled. */
static bool shows_overtaking(const struct replay *r)
{
    const struct oracle_state *last = state_at(r, r->end);
    unsigned n = r->oracle->n;
    for (unsigned i = 0; i < n; i++) {
        for (size_t at = r->end + 1; at-- > 0 && oracle_has(state_at(r, at)->t_waiting, i);) {
            if ((state_at(r, at)->in[STEP_REMAINDER] & last->c_enabled) != 0) {
                return true;
            }
        }
        for (size_t at = r->end + 1; at-- > 0 && oracle_has(state_at(r, at)->e_waiting, i);) {
            if ((state_at(r, at)->in[STEP_CRITICAL] & last->r_enabled) != 0) {
                return true;
            }
        }
    }
    return false;
}

/* 1994: a process that is not C-enabled has been in the waiting room since another left R, which is
   now in C, or in the waiting room and C-enabled. */
static bool shows_late_first(const struct replay *r, bool of_enabled)
{
    const struct oracle_state *last = state_at(r, r->end);
    unsigned ahead = of_enabled ? last->rooms & last->c_enabled : last->in[STEP_CRITICAL];
    for (unsigned i = 0; i < r->oracle->n; i++) {
        bool waited = oracle_has(last->rooms & ~last->c_enabled, i);
        for (size_t at = r->end; at-- > 0 && waited && oracle_has(state_at(r, at)->rooms, i);) {
            unsigned mover = r->result->trace.steps[at];
            if (oracle_has(ahead & state_at(r, at)->in[STEP_REMAINDER], mover)) {
                return true;
            }
        }
    }
    return false;
}

/* C5': the last step takes a process into C that was in R during another's wait, which lasts until
   then. */
static bool shows_cycle(const struct replay *r)
{
    const struct check_schedule *trace = &r->result->trace;
    if (trace->length == 0) {
        return false;
    }
    unsigned j = trace->steps[trace->length - 1];
    if (!oracle_enters(r->oracle, r->way[r->end - 1], j)) {
        return false;
    }
    for (unsigned i = 0; i < r->oracle->n; i++) {
        for (size_t at = r->end - 1; oracle_has(state_at(r, at)->waiting, i); at--) {
            if (oracle_has(state_at(r, at)->in[STEP_REMAINDER], j)) {
                return true;
            }
            if (at == 0 || !oracle_waits_on(r->oracle, i, r->way[at - 1], r->way[at])) {
                break;
            }
        }
    }
    return false;
}

/* The system hangs at some point of the trace, and no process makes progress after it. */
static bool shows_deadlock(const struct replay *r)
{
    for (size_t at = r->loop_end; at > r->end; at--) {
        if (!oracle_no_progress(state_at(r, at - 1), state_at(r, at))) {
            return false;
        }
    }
    for (size_t at = r->end;; at--) {
        if (oracle_hangs(r->oracle, state_at(r, at))) {
            return true;
        }
        if (at == 0 || !oracle_no_progress(state_at(r, at - 1), state_at(r, at))) {
            return false;
        }
    }
}

/* Are the stopped processes exactly those of `outside` that do not step? */
static bool stopped_rightly(const struct replay *r, unsigned outside, unsigned fewer_than)
{
    unsigned stopped = outside & ~r->steppers;
    return r->result->stopped == stopped && oracle_size(stopped) < fewer_than;
}

static bool shows_stand(const struct replay *r)
{
    const struct oracle_state *home = state_at(r, r->end);
    for (size_t at = r->end; at <= r->loop_end; at++) {
        const struct oracle_state *q = state_at(r, at);
        if (!oracle_same_regions(q, home) || q->c_allocation != home->c_allocation ||
            q->r_allocation != home->r_allocation || !oracle_stands(r->oracle, q)) {
            return false;
        }
    }
    return stopped_rightly(r, home->in[STEP_TRYING] | home->in[STEP_EXIT], r->oracle->r);
}

/* A process steps in the loop and stays in T; for `progress` no process enters C in the loop. */
static bool shows_lockout(const struct replay *r, bool progress, unsigned fewer_than)
{
    const struct oracle_state *home = state_at(r, r->end);
    unsigned stuck = r->steppers & home->in[STEP_TRYING];
    for (size_t at = r->end; at < r->loop_end; at++) {
        unsigned before = state_at(r, at)->in[STEP_CRITICAL];
        unsigned after = state_at(r, at + 1)->in[STEP_CRITICAL];
        if (progress && (after & ~before) != 0) {
            return false;
        }
        stuck &= state_at(r, at + 1)->in[STEP_TRYING];
    }
    unsigned everyone = (1U << r->oracle->n) - 1 - r->oracle->supervisor;
    return stuck != 0 && stopped_rightly(r, everyone & ~home->in[STEP_REMAINDER], fewer_than);
}

/* C4': a process waits throughout the loop, in which another enters C. */
static bool shows_unbounded_waiting(const struct replay *r)
{
    unsigned waiting = state_at(r, r->end)->waiting;
    bool entered = false;
    for (size_t at = r->end; at < r->loop_end; at++) {
        for (unsigned i = 0; i < r->oracle->n; i++) {
            if (!oracle_waits_on(r->oracle, i, r->way[at], r->way[at + 1])) {
                waiting &= ~(1U << i);
            }
        }
        entered =
            entered || oracle_enters(r->oracle, r->way[at], r->result->loop.steps[at - r->end]);
    }
    return waiting != 0 && entered;
}

/* The processes that are prompt from their last step out of R to the end of the loop. */
static unsigned prompt_ones(const struct replay *r)
{
    const struct check_schedule *trace = &r->result->trace;
    const struct check_schedule *loop = &r->result->loop;
    unsigned prompt = (1U << r->oracle->n) - 1;
    unsigned rested = 0; /* processes back in R, seen from the end */
    for (size_t at = r->loop_end; at-- > 0;) {
        unsigned process = at >= r->end ? loop->steps[at - r->end] : trace->steps[at];
        rested |= state_at(r, at)->in[STEP_REMAINDER];
        prompt &= state_at(r, at)->rests | 1U << process | rested;
    }
    return prompt;
}

/* A process is T-waiting throughout the loop, in which another leaves R and becomes C-enabled. */
static bool shows_unbounded_overtaking(const struct replay *r, unsigned of_whom)
{
    unsigned waiting = state_at(r, r->end)->t_waiting & of_whom;
    unsigned leaving = 0;
    unsigned passing = 0;
    for (size_t at = r->end; at < r->loop_end; at++) {
        const struct oracle_state *then = state_at(r, at + 1);
        waiting &= then->t_waiting;
        leaving |= state_at(r, at)->in[STEP_REMAINDER] & ~then->in[STEP_REMAINDER];
        passing |= then->c_enabled & ~then->in[STEP_REMAINDER];
    }
    return waiting != 0 && (leaving & passing) != 0;
}

static bool shows(const struct replay *r, enum step_property property)
{
    const struct oracle_state *last = state_at(r, r->end);
    switch (property) {
    case STEP_EXCLUSION:
    case STEP_C1:
        return oracle_size(last->in[STEP_CRITICAL]) > r->oracle->k;
    case STEP_INVARIANT:
        return last->wrong;
    case STEP_DEADLOCK:
        return shows_deadlock(r);
    case STEP_FIFO:
        return shows_overtaking(r);
    case STEP_C2:
        return shows_stand(r);
    case STEP_C4:
        return shows_unbounded_waiting(r);
    case STEP_C5:
        return shows_cycle(r);
    case STEP_C6:
        return !oracle_queue_state(r->oracle, last) || shows_cycle(r);
    case STEP_PROGRESS:
        return shows_lockout(r, true, r->oracle->k);
    case STEP_LOCKOUT:
        return shows_lockout(r, false, r->oracle->k);
    case STEP_STARVATION:
        return shows_lockout(r, false, 1);
    case STEP_OVERTAKINGS:
        return shows_unbounded_overtaking(r, ~0U);
    case STEP_PROMPT:
        return shows_unbounded_overtaking(r, prompt_ones(r));
    case STEP_FIRST_IN:
        return shows_late_first(r, false);
    case STEP_FIRST_ENABLED:
        return shows_late_first(r, true);
    case STEP_PROPERTIES:
        break;
    }
    return false;
}

const char *oracle_trace_fault(const struct oracle *oracle, enum step_property property,
                               const struct check_result *result)
{
    static struct replay r;
    bool finite = property == STEP_EXCLUSION || property == STEP_C1 || property == STEP_FIFO ||
                  property == STEP_C5 || property == STEP_C6 || property == STEP_INVARIANT ||
                  property == STEP_FIRST_IN || property == STEP_FIRST_ENABLED;
    r.oracle = oracle;
    r.result = result;
    if (!execute(&r)) {
        return "the trace cannot be executed";
    }
    if (finite != (r.loop_end == r.end)) {
        return finite ? "a finite violation has a loop" : "an infinite violation has no loop";
    }
    if (r.way[r.loop_end] != r.way[r.end]) {
        return "the loop does not end where it begins";
    }
    bool unbounded = property == STEP_C4 || property == STEP_OVERTAKINGS ||
                     property == STEP_PROMPT; /* but finite each time */
    if (!finite && !unbounded && (oracle->supervisor & ~r.steppers) != 0) {
        return "the supervisor has stopped";
    }
    if (!shows(&r, property)) {
        return "the trace does not show the violation";
    }
    if (oracle->shortest[property] != ORACLE_NEVER &&
        result->trace.length != oracle->shortest[property]) {
        return "the trace is not as short as it can be";
    }
    return NULL;
}
