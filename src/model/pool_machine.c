/* The core as a step machine: what a process does in each mode. pool_step.c says when it moves. See
   pool_machine.h. */
#include "model/pool_machine.h"

#include "core/fast.h"
#include "core/repeat.h"
#include "model/pool_parts.h"

#include <string.h>

/* Processes 0, 2, .. take the repeat path; the others always enter as if for the first time. */
static bool remembers(const struct process *p, unsigned process)
{
    return process % 2 == 0 && !p->simple_repeat;
}

/* The next dead process from `first` on whose row is not IDLE, or n. The kernel says which
   processes are dead, and core_reap reads the row itself: no access here. */
static unsigned next_dead(struct core *c, unsigned first)
{
    uint64_t world = atomic_load(&c->words[AT_WORLD]);
    while (first < c->rows &&
           (!world__dead(world, first) ||
            core_row_state(atomic_load(&c->words[core__row_at(c, first)])) == CORE_IDLE)) {
        first++;
    }
    return first;
}

static void forget_place(struct core *c, unsigned process)
{
    model__change_world(c, world__without(atomic_load(&c->words[AT_WORLD]), process));
}

/* May the process take the repeat path? */
static bool may_repeat(const struct core *c, const struct process *p)
{
    uint64_t r = core_row(CORE_ENTERING, p->run.last, core_i_issue(p->i));
    return p->i != 0 && p->v != 0 &&
           core_repeat_may(c, p->i, core_repeat_until(c, p->i, r, &p->run));
}

/* core_repeat_enter is done. If it did not enter, enter as if for the first time, as the library
   does. */
static void repeat_entered(struct core *c, struct process *p, unsigned process)
{
    p->run.last = core_row_cycle(p->u.repeat.r);
    if (p->u.repeat.granted) {
        p->i = p->u.repeat.i;
        p->ticket = core_i_issue(p->i);
        model__begin(c, p, REPEAT_SITTING, process);
    } else {
        p->cycles -= !p->endless;
        model__begin(c, p, TAKING, process);
    }
}

static void repeat_left(struct core *c, struct process *p, unsigned process)
{
    struct core_leave leave = {.row = process, .r = core_row(CORE_LEAVING, p->run.last, 0)};
    if (p->u.repeat.done) {
        p->v = p->u.repeat.v;
        model__begin(c, p, RESTING, process);
        return;
    }
    leave.published = p->u.repeat.published;
    leave.v = leave.published ? p->u.repeat.v : 0;
    memset(&p->u, 0, sizeof p->u);
    p->u.slow.leave = leave;
    model__begin(c, p, LEAVING_SLOWLY, process);
}

/* Reap the next dead process; if none is left, go on. */
static void reap_next(struct core *c, struct process *p, unsigned process, unsigned first)
{
    bool cleans = p->cleans || p->mode == CLEANING;
    p->target = (uint8_t)(cleans ? c->rows : next_dead(c, first));
    if (p->target < c->rows) {
        model__begin(c, p, c->repeats ? WATCHING : REAPING, process);
    } else {
        model__begin(c, p, cleans ? RESTING : LOOKING, process);
    }
}

/* The row is announced. Reap it, if its process is dead. */
static void prove(struct core *c, struct process *p, unsigned process)
{
    (void)step_read(c->memory, core__row_at(c, process));
    uint64_t row = atomic_load(&c->words[core__row_at(c, p->target)]);
    if (world__dead(atomic_load(&c->words[AT_WORLD]), p->target) &&
        core_row_state(row) != CORE_IDLE) {
        model__begin(c, p, p->cleans ? CLEANING : REAPING, process);
    } else {
        core_unwatch(c, process);
        p->watched = 0;
        reap_next(c, p, process, p->target + 1U);
    }
}

/* An operation is done: begin the next mode. */
static void finished(struct core *c, struct process *p, unsigned process)
{
    switch ((enum mode)p->mode) {
    case TAKING:
        p->run = p->u.take.run;
        if (p->u.take.granted) {
            p->ticket = p->u.take.ticket;
            forget_place(c, process);
            p->seat = p->u.take.enter.seat;
            if (p->u.take.enter.granted && remembers(p, process)) {
                p->i = core_i(p->ticket, process, p->run.last);
            }
            model__begin(c, p, p->u.take.enter.seated ? HOLDING : CLAIMING, process);
        } else {
            model__begin(c, p, p->u.take.full ? RESTING : LOOKING, process);
        }
        break;
    case HELPING:
    case REAPING:
    case CLEANING:
        reap_next(c, p, process, p->mode == HELPING ? 0 : p->target + 1U);
        break;
    case WATCHING:
        p->watched = core_row_cycle(p->u.watch.r);
        model__begin(c, p, PROVING, process);
        break;
    case CLAIMING:
        p->questions = p->u.claim.run;
        p->seat = p->u.claim.ok ? p->u.claim.seat : 0;
        model__begin(c, p,
                     p->u.claim.ok     ? HOLDING
                     : p->u.claim.full ? RELEASING
                                       : COUNTING,
                     process);
        break;
    case COUNTING:
        model__begin(c, p, CLAIMING, process);
        break;
    case GIVING_UP:
        if (!p->u.give_up.granted) {
            forget_place(c, process);
        }
        model__begin(c, p, p->u.give_up.granted ? LOOKING : RESTING, process);
        break;
    case RESIZING:
        p->run = p->u.resize.run;
        p->i = 0; /* of an older cycle */
        model__begin(c, p, RESTING, process);
        break;
    case REPEAT_ENTERING:
        repeat_entered(c, p, process);
        break;
    case REPEAT_SITTING:
        p->seat = p->u.repeat.seat_at - c->at_seat;
        model__begin(c, p, p->u.repeat.seated ? HOLDING : CLAIMING, process);
        break;
    case REPEAT_LEAVING:
        repeat_left(c, p, process);
        break;
    case RELEASING:
        if (p->u.release.slow.leave.done && core_v_owed(p->u.release.slow.leave.v) == 0 &&
            remembers(p, process)) {
            p->v = p->u.release.slow.leave.v;
        }
        model__begin(c, p, RESTING, process);
        break;
    case LEAVING_SLOWLY:
    case RESTING:
    case LOOKING:
    case PROVING:
    case HOLDING:
    case DEAD:
        model__begin(c, p, RESTING, process);
        break;
    }
}

/* A waiter reads its own row. */
static void look(struct core *c, struct process *p, unsigned process)
{
    uint64_t row = step_read(c->memory, core__row_at(c, process));
    if (core_row_state(row) == CORE_GRANTED) {
        p->ticket = core_row_ticket(row);
        forget_place(c, process);
        model__begin(c, p, CLAIMING, process);
    } else {
        model__begin(c, p, HELPING, process);
    }
}

/* A dead process: a new one takes over its row when it is reaped. A resting process: come again, or
   reap the dead. */
static void rest(const struct step_system *system, struct core *c, struct process *p,
                 unsigned process)
{
    const struct step_limits *limits = &system->limits;
    bool fewer = limits->fewer_only == 0 ? process != 0 : process + 1 == limits->fewer_only;
    bool more = p->endless || p->cycles < limits->cycles - (fewer ? limits->fewer : 0);
    if (p->mode == DEAD) {
        uint64_t row = step_read(c->memory, core__row_at(c, process));
        if (core_row_state(row) == CORE_IDLE) {
            model__change_world(c, atomic_load(&c->words[AT_WORLD]) & ~(1ULL << process));
            core_disown(c, process);
            p->run.last = p->run.end = core_row_cycle(row);
            model__begin(c, p, RESTING, process);
        }
        return;
    }
    p->target = (uint8_t)next_dead(c, 0);
    if (more) {
        p->k = system->limits.shrinks != 0 ? atomic_load(&c->words[AT_K]) : 0;
        model__begin(c, p, may_repeat(c, p) ? REPEAT_ENTERING : TAKING, process);
    } else if (p->target < c->rows) {
        p->cleans = c->repeats;
        model__begin(c, p, c->repeats ? WATCHING : CLEANING, process);
    } else {
        p->target = 0;
        (void)step_read(c->memory, core__row_at(c, process));
        return;
    }
    if (model__go_on(c, p, process) == CORE_DONE) {
        finished(c, p, process);
    }
}

/* Make one step of the process, in its mode. */
void model__move(const struct step_system *system, struct core *c, struct process *p,
                 unsigned process)
{
    switch ((enum mode)p->mode) {
    case RESTING:
    case DEAD:
        rest(system, c, p, process);
        break;
    case LOOKING:
        look(c, p, process);
        break;
    case PROVING:
        prove(c, p, process);
        break;
    case HOLDING:
        model__begin(c, p, p->v != 0 ? REPEAT_LEAVING : RELEASING, process);
        /* fall through */
    case TAKING:
    case REPEAT_ENTERING:
    case REPEAT_SITTING:
    case REPEAT_LEAVING:
    case LEAVING_SLOWLY:
    case HELPING:
    case COUNTING:
    case WATCHING:
    case REAPING:
    case CLEANING:
    case CLAIMING:
    case RELEASING:
    case GIVING_UP:
    case RESIZING:
        if (model__go_on(c, p, process) == CORE_DONE) {
            finished(c, p, process);
        }
        break;
    }
}
