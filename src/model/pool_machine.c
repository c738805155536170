/* The core as a step machine: what a process does in each of its modes. See pool.h; pool_step.c
   says when it moves. */
#include "model/pool_machine.h"

#include "core/fast.h"
#include "core/repeat.h"
#include "model/pool_parts.h"

#include <string.h>

/* Run the operation of the mode to its next shared access. */
enum core_progress model__go_on(struct core *c, struct process *p, unsigned process)
{
    if (p->through) {
        p->through = false;
        (void)step_read(c->memory, core__row_at(c, process));
        return CORE_DONE;
    }
    switch ((enum mode)p->mode) {
    case TAKING:
        return core_take(c, &p->u.take);
    case HELPING:
    case COUNTING:
        return core_finish_published(c, &p->u.help);
    case WATCHING:
        return core_watch(c, &p->u.watch);
    case REAPING:
    case CLEANING:
        return core_reap(c, &p->u.reap);
    case CLAIMING:
        return core_claim(c, &p->u.claim);
    case RELEASING:
        return core_release(c, &p->u.release);
    case REPEAT_ENTERING:
        return core_repeat_enter(c, &p->u.repeat);
    case REPEAT_SITTING:
        return core_repeat_sit(c, &p->u.repeat);
    case REPEAT_LEAVING:
        return core_repeat_leave(c, &p->u.repeat);
    case LEAVING_SLOWLY:
        return core_leave_slowly(c, &p->u.slow);
    case GIVING_UP:
        return core_give_up(c, &p->u.give_up);
    case RESIZING:
        return core_resize(c, &p->u.resize);
    case RESTING:
    case LOOKING:
    case PROVING:
    case HOLDING:
    case DEAD:
        break;
    }
    return CORE_MORE;
}

/* Every other process remembers what it published last; the rest come as if for the first time. */
static bool remembers(const struct process *p, unsigned process)
{
    return process % 2 == 0 && !p->simple_repeat;
}

/* The seat that a guest had last, if the pool still has it: no access, it knows. */
static uint32_t last_seat(struct core *c, unsigned process)
{
    uint32_t seat = core_hint_seat(atomic_load(&c->words[core__own_hint_at(c, process)]));
    return seat < core_k_seats(atomic_load(&c->words[AT_K])) ? seat : CORE_NO_SEAT;
}

/* As many seats as the library looks at, when it has looked a while: no access of the core's. */
static uint32_t seats_now(struct core *c)
{
    uint32_t seats =
        core_k_seats(atomic_load(&c->words[AT_K])) + core_v_owed(atomic_load(&c->words[AT_V]));
    if (seats == 0) {
        return 1; /* it is in, so there is one, or is about to be: a look must look at something */
    }
    return seats < c->seats ? seats : c->seats;
}

/* The frames of modes that are set up one way or another. */
static void begin_reaping(struct core *c, struct process *p, enum mode mode, unsigned process)
{
    if (mode == WATCHING) {
        p->u.watch.by = process;
        p->u.watch.row = p->target;
        return;
    }
    p->u.reap.by = process;
    p->u.reap.row = p->target;
    p->u.reap.cycle = c->repeats
                          ? p->watched
                          : core_row_cycle(atomic_load(&c->words[core__row_at(c, p->target)]));
    p->watched = 0;
}

/* Begin a mode: set up its frame and run to its first access, which is for the next step. */
void model__begin(struct core *c, struct process *p, enum mode mode, unsigned process)
{
    if (p->simple_seat && (mode == CLAIMING || mode == REPEAT_SITTING)) {
        mode = HOLDING;
    }
    if (mode != LEAVING_SLOWLY) {
        memset(&p->u, 0, sizeof p->u);
    }
    p->mode = (uint8_t)mode;
    switch (mode) {
    case TAKING:
        p->cycles += !p->endless;
        p->v = 0; /* not of the cycle before this one any more */
        p->u.take.row = process;
        p->u.take.run = p->run;
        p->u.take.seat = last_seat(c, process);
        p->run = (struct core_run){0};
        break;
    case WATCHING:
    case REAPING:
    case CLEANING:
        begin_reaping(c, p, mode, process);
        break;
    case CLAIMING:
        p->u.claim.row = process;
        p->u.claim.run = p->questions;
        p->questions = (struct core_run){0};
        p->u.claim.seats = seats_now(c);
        p->u.claim.first = last_seat(c, process);
        if (p->u.claim.first >= p->u.claim.seats) {
            p->u.claim.first = 0;
        }
        break;
    case RELEASING:
        p->u.release.row = process;
        p->u.release.cycle = p->run.last;
        p->u.release.ticket = p->ticket;
        break;
    case REPEAT_ENTERING:
        p->cycles += !p->endless;
        p->u.repeat = (struct core_repeat){.i = p->i, .v = p->v};
        p->u.repeat.r = core_row(CORE_ENTERING, p->run.last, core_i_issue(p->i));
        p->u.repeat.row_at = core__own_row_at(c, process);
        break;
    case REPEAT_SITTING:
        p->u.repeat.mark = core_seat_mark(process); /* and if the pool has shrunk just now, it came
                                                      before */
        p->u.repeat.seat_at =
            c->at_seat + core_hint_seat(atomic_load(&c->words[core__own_hint_at(c, process)]));
        break;
    case REPEAT_LEAVING:
        p->u.repeat = (struct core_repeat){.v = p->v};
        p->u.repeat.row_at = core__own_row_at(c, process);
        p->u.repeat.r = core_row(CORE_ENTERING, p->run.last, p->ticket);
        break;
    case LEAVING_SLOWLY: /* the frame is set up */
        break;
    case GIVING_UP:
        p->u.give_up.row = process;
        p->u.give_up.cycle = p->run.last;
        break;
    case RESIZING:
        p->u.resize.row = process;
        p->u.resize.run = p->run;
        p->u.resize.grow = p->grows;
        p->grows = false;
        break;
    case RESTING:
        p->ticket = p->seat = 0;
        p->k = 0;
        break;
    case HELPING:
    case COUNTING:
        p->u.help.by = process;
        break;
    case LOOKING:
    case PROVING:
    case HOLDING:
    case DEAD:
        break;
    }
    bool reaps = mode == WATCHING || mode == PROVING || mode == REAPING || mode == CLEANING;
    p->target = reaps ? p->target : 0;
    p->cleans = (mode == WATCHING || mode == PROVING) && p->cleans;
    if (mode == RELEASING || mode == REPEAT_LEAVING) {
        p->ticket = p->seat = 0;
        p->k = 0;
    }
    (void)model__go_on(c, p, process);
}

/* The next dead process from `first` on whose row is not yet IDLE, or n. Who is dead is the
   kernel's word, and core_reap looks again whether there is anything to do: no access of ours. */
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

/* Is there something to go by, and no field of it full? */
static bool may_repeat(const struct core *c, const struct process *p)
{
    uint64_t r = core_row(CORE_ENTERING, p->run.last, core_i_issue(p->i));
    return p->i != 0 && p->v != 0 &&
           core_repeat_may(c, p->i, core_repeat_until(c, p->i, r, &p->run));
}

/* What repeat.h did: otherwise it is done as if for the first time, as the library does. */
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

/* The next of the dead, or what comes after all of them. */
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

/* A row is announced: its process must be dead now. */
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

/* An operation is done: what comes next. */
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
        p->i = 0; /* not of this cycle any more */
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

/* Waiting: look at the own row. */
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

/* Dead, or with nothing to do: a new process takes over a reaped row; the idle reap. */
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

/* One step of the process, in its mode. */
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
