/* The core as a step machine: how an operation begins in each mode, and how it goes on. See
   pool_parts.h. */
#include "core/repeat.h"
#include "model/pool_machine.h"
#include "model/pool_parts.h"

#include <string.h>

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

/* The guest's last seat, if the pool still has it. The guest knows that: no access. */
static uint32_t last_seat(struct core *c, unsigned process)
{
    uint32_t seat = core_hint_seat(atomic_load(&c->words[core__own_hint_at(c, process)]));
    return seat < core_k_seats(atomic_load(&c->words[AT_K])) ? seat : CORE_NO_SEAT;
}

/* How many seats core_claim searches: as the library does after some attempts. No access of the
   core. */
static uint32_t seats_now(struct core *c)
{
    uint32_t seats =
        core_k_seats(atomic_load(&c->words[AT_K])) + core_v_owed(atomic_load(&c->words[AT_V]));
    if (seats == 0) {
        return 1; /* the row is in, so a seat exists or is about to: search at least one */
    }
    return seats < c->seats ? seats : c->seats;
}

/* Set up the frame of a mode that watches or reaps. */
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

/* Begin a mode: set up its frame, and run to before its first access. */
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
        p->v = 0; /* its value is from an older cycle */
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
        /* If the pool has just shrunk, the guest entered before that. */
        p->u.repeat.mark = core_seat_mark(process);
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
