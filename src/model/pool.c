/* The core as a step machine: see pool.h. */
#include "model/pool.h"

#include "core/again.h"
#include "core/fast.h"
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
        return core_help(c, &p->u.help);
    case REAPING:
    case CLEANING:
        return core_reap(c, &p->u.reap);
    case CLAIMING:
        return core_claim(c, &p->u.claim);
    case RELEASING:
        return core_release(c, &p->u.release);
    case ENTERING_AGAIN:
        return core_enter_again(c, &p->u.again);
    case SITTING_AGAIN:
        return core_sit_again(c, &p->u.again);
    case LEAVING_AGAIN:
        return core_leave_again(c, &p->u.again);
    case LEAVING_SLOWLY:
        return core_leave_slowly(c, &p->u.slow);
    case WAKING_I:
        return core_finish_take(c, &p->u.take_i);
    case WAKING_V:
        return core_finish_release(c, &p->u.release_v);
    case GIVING_UP:
        return core_give_up(c, &p->u.give_up);
    case RESIZING:
        return core_resize(c, &p->u.resize);
    case RESTING:
    case LOOKING:
    case HOLDING:
    case DEAD:
        break;
    }
    return CORE_MORE;
}

/* The seat that a guest had last, if the pool still has it: no access, it knows. */
static uint32_t last_seat(struct core *c, unsigned process)
{
    uint32_t seat = core_own_seat(atomic_load(&c->words[core__own_seat_at(c, process)]));
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

/* Begin a mode: set up its frame and run to its first access, which is for the next step. */
static void begin(struct core *c, struct process *p, enum mode mode, unsigned process)
{
    if (mode != LEAVING_SLOWLY && mode != WAKING_I && mode != WAKING_V) {
        memset(&p->u, 0, sizeof p->u);
    }
    p->mode = (uint8_t)mode;
    switch (mode) {
    case TAKING:
        p->cycles++;
        p->v = 0; /* not of the cycle before this one any more */
        p->u.take.row = process;
        p->u.take.cycle = p->cycle;
        p->u.take.seat = last_seat(c, process);
        p->cycle = 0;
        break;
    case REAPING:
    case CLEANING:
        p->u.reap.row = p->target;
        p->u.reap.cycle = core_row_cycle(atomic_load(&c->words[core__row_at(c, p->target)]));
        break;
    case CLAIMING:
        p->u.claim.row = process;
        p->u.claim.seats = seats_now(c);
        p->u.claim.first = last_seat(c, process);
        if (p->u.claim.first >= p->u.claim.seats) {
            p->u.claim.first = 0;
        }
        break;
    case RELEASING:
        p->u.release.row = process;
        p->u.release.cycle = p->cycle;
        p->u.release.ticket = p->ticket;
        break;
    case ENTERING_AGAIN:
        p->cycles++;
        p->u.again = (struct core_again){.i = p->i, .v = p->v};
        p->u.again.r = core_row(CORE_ENTERING, p->cycle, core_i_issue(p->i));
        p->u.again.row_at = core__own_at(c, process);
        break;
    case SITTING_AGAIN:
        p->u.again.mark = core_seat_mark(process); /* and if the pool has shrunk just now, it came
                                                      before */
        p->u.again.seat_at =
            c->at_seat + core_own_seat(atomic_load(&c->words[core__own_seat_at(c, process)]));
        break;
    case LEAVING_AGAIN:
        p->u.again = (struct core_again){.v = p->v};
        p->u.again.row_at = core__own_at(c, process);
        p->u.again.r = core_row(CORE_ENTERING, p->cycle, p->ticket);
        break;
    case WAKING_I: /* the frame is set up */
    case WAKING_V:
    case LEAVING_SLOWLY:
        break;
    case GIVING_UP:
        p->u.give_up.row = process;
        p->u.give_up.cycle = p->cycle;
        break;
    case RESIZING:
        p->u.resize.row = process;
        p->u.resize.cycle = p->cycle;
        break;
    case RESTING:
        p->ticket = p->seat = 0;
        p->k = 0;
        break;
    case LOOKING:
    case HELPING:
    case COUNTING:
    case HOLDING:
    case DEAD:
        break;
    }
    p->target = mode == REAPING || mode == CLEANING ? p->target : 0;
    if (mode == RELEASING || mode == LEAVING_AGAIN) {
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

static void change_world(struct core *c, uint64_t world)
{
    atomic_store(&c->words[AT_WORLD], world);
}

static void forget_place(struct core *c, unsigned process)
{
    change_world(c, world__without(atomic_load(&c->words[AT_WORLD]), process));
}

/* Is there something to go by, and no field of it full? */
static bool may_again(const struct core *c, const struct process *p)
{
    uint64_t r = core_row(CORE_ENTERING, p->cycle, core_i_issue(p->i));
    return p->i != 0 && p->v != 0 && core_again_may(c, p->i, core_again_until(c, p->i, r));
}

/* What again.h did: otherwise it is done as if for the first time, as the library does. */
static void entered_again(struct core *c, struct process *p, unsigned process)
{
    p->cycle = core_row_cycle(p->u.again.r);
    if (p->u.again.granted) {
        p->i = p->u.again.i;
        p->ticket = core_i_issue(p->i);
        begin(c, p, SITTING_AGAIN, process);
    } else {
        p->cycles--;
        begin(c, p, TAKING, process);
    }
}

static void left_again(struct core *c, struct process *p, unsigned process)
{
    struct core_leave leave = {.row = process, .r = core_row(CORE_LEAVING, p->cycle, 0)};
    if (p->u.again.done) {
        p->v = p->u.again.v;
        begin(c, p, RESTING, process);
        return;
    }
    leave.published = p->u.again.published;
    leave.v = leave.published ? p->u.again.v : 0;
    memset(&p->u, 0, sizeof p->u);
    p->u.slow.leave = leave;
    begin(c, p, LEAVING_SLOWLY, process);
}

/* An operation is done: what comes next. */
static void finished(struct core *c, struct process *p, unsigned process)
{
    switch ((enum mode)p->mode) {
    case TAKING:
        p->cycle = p->u.take.cycle;
        if (p->u.take.granted) {
            p->ticket = p->u.take.ticket;
            forget_place(c, process);
            p->seat = p->u.take.enter.seat;
            if (p->u.take.enter.granted && model__remembers(process)) {
                p->i = core_i(p->ticket, process, (uint32_t)p->cycle & c->i_tag_mask);
            }
            begin(c, p, p->u.take.enter.seated ? HOLDING : CLAIMING, process);
        } else {
            begin(c, p, p->u.take.full ? RESTING : LOOKING, process);
        }
        break;
    case HELPING:
    case REAPING:
        p->target = (uint8_t)next_dead(c, p->mode == HELPING ? 0 : p->target + 1U);
        begin(c, p, p->target < c->rows ? REAPING : LOOKING, process);
        break;
    case CLEANING:
        begin(c, p, RESTING, process);
        break;
    case CLAIMING:
        p->seat = p->u.claim.ok ? p->u.claim.seat : 0;
        begin(c, p, p->u.claim.ok ? HOLDING : COUNTING, process);
        break;
    case COUNTING:
        begin(c, p, CLAIMING, process);
        break;
    case GIVING_UP:
        if (!p->u.give_up.granted) {
            forget_place(c, process);
        }
        begin(c, p, p->u.give_up.granted ? LOOKING : RESTING, process);
        break;
    case RESIZING:
        p->cycle = p->u.resize.cycle;
        p->i = 0; /* not of this cycle any more */
        begin(c, p, RESTING, process);
        break;
    case ENTERING_AGAIN:
        entered_again(c, p, process);
        break;
    case SITTING_AGAIN:
        p->seat = p->u.again.seat_at - c->at_seat;
        begin(c, p, p->u.again.seated ? HOLDING : CLAIMING, process);
        break;
    case LEAVING_AGAIN:
        left_again(c, p, process);
        break;
    case RELEASING:
        if (p->u.release.slow.leave.done && core_v_owed(p->u.release.slow.leave.v) == 0 &&
            model__remembers(process)) {
            p->v = p->u.release.slow.leave.v;
        }
        begin(c, p, RESTING, process);
        break;
    case LEAVING_SLOWLY:
    case WAKING_I:
    case WAKING_V:
    case RESTING:
    case LOOKING:
    case HOLDING:
    case DEAD:
        begin(c, p, RESTING, process);
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
        begin(c, p, CLAIMING, process);
    } else {
        begin(c, p, HELPING, process);
    }
}

/*
 * The last process begins in the middle of finishing what it has read of I or V a whole round of
 * tickets, and of somebody's tags, ago: the ticket is the first that will have to wait, and the
 * author the first guest, or the last of a queue, in its first cycle, as far as the words can tell.
 */
static bool wakes_up(const struct step_system *system, struct core *c, struct process *p,
                     unsigned process)
{
    uint32_t author = system->limits.queue == 0 ? 0 : system->limits.queue - 1;
    if (system->limits.sleeper == 0 || process != system->n - 1 || p->awake) {
        return false;
    }
    p->awake = true;
    memset(&p->u, 0, sizeof p->u);
    if (system->limits.sleeper == 1) {
        p->u.take_i.i = core_i(system->k + 1, author, 1);
    } else {
        p->u.release_v.v = core_v(system->k + 1, 0, author, 1);
    }
    begin(c, p, system->limits.sleeper == 1 ? WAKING_I : WAKING_V, process);
    return true;
}

/* Dead, or with nothing to do: a new process takes over a reaped row; the idle reap. */
static void rest(const struct step_system *system, struct core *c, struct process *p,
                 unsigned process)
{
    const struct step_limits *limits = &system->limits;
    bool fewer = limits->fewer_only == 0 ? process != 0 : process + 1 == limits->fewer_only;
    bool more = p->cycles < limits->cycles - (fewer ? limits->fewer : 0);
    if (p->mode == DEAD) {
        uint64_t row = step_read(c->memory, core__row_at(c, process));
        if (core_row_state(row) == CORE_IDLE) {
            change_world(c, atomic_load(&c->words[AT_WORLD]) & ~(1ULL << process));
            p->cycle = core_row_cycle(row);
            begin(c, p, RESTING, process);
        }
        return;
    }
    p->target = (uint8_t)next_dead(c, 0);
    if (wakes_up(system, c, p, process)) {
        p->target = 0;
    } else if (more) {
        p->k = system->limits.shrinks != 0 ? atomic_load(&c->words[AT_K]) : 0;
        begin(c, p, may_again(c, p) ? ENTERING_AGAIN : TAKING, process);
    } else if (p->target < c->rows) {
        begin(c, p, CLEANING, process);
    } else {
        p->target = 0;
        (void)step_read(c->memory, core__row_at(c, process));
        return;
    }
    if (model__go_on(c, p, process) == CORE_DONE) {
        finished(c, p, process);
    }
}

void model__step(const struct step_system *system, struct step_memory *memory, void *state,
                 unsigned process)
{
    struct process *p = state;
    struct core c;
    model__core(system, memory, &c);
    uint64_t i = atomic_load(&c.words[AT_I]);
    if (p->i != i && p->v != atomic_load(&c.words[AT_V]) && p->mode == RESTING) {
        p->i = 0; /* they never say that again, and core_enter_again would see it and do nothing */
    }
    unsigned turn = world__turn(atomic_load(&c.words[AT_WORLD]));
    if (turn != 0 && turn != process + 1) {
        (void)step_read(memory, core__row_at(&c, process));
        return;
    }
    switch ((enum mode)p->mode) {
    case RESTING:
    case DEAD:
        rest(system, &c, p, process);
        break;
    case LOOKING:
        look(&c, p, process);
        break;
    case HOLDING:
        begin(&c, p, p->v != 0 ? LEAVING_AGAIN : RELEASING, process);
        /* fall through */
    case TAKING:
    case ENTERING_AGAIN:
    case SITTING_AGAIN:
    case LEAVING_AGAIN:
    case LEAVING_SLOWLY:
    case WAKING_I:
    case WAKING_V:
    case HELPING:
    case COUNTING:
    case REAPING:
    case CLEANING:
    case CLAIMING:
    case RELEASING:
    case GIVING_UP:
    case RESIZING:
        if (model__go_on(&c, p, process) == CORE_DONE) {
            finished(&c, p, process);
        }
        break;
    }
    /* Whoever a new I names and waits has just got its place; the dead have none in the order. */
    uint64_t after = atomic_load(&c.words[AT_I]);
    uint64_t world = atomic_load(&c.words[AT_WORLD]);
    if (after != i && !world__dead(world, core_i_row(after)) &&
        core_row_state(atomic_load(&c.words[core__row_at(&c, core_i_row(after))])) ==
            CORE_WAITING) {
        world = world__with(world, core_i_row(after));
    }
    if (turn != 0 && (p->mode == LOOKING || p->mode == HOLDING)) {
        world = world__with_turn(world, turn < system->limits.queue ? turn + 1 : 0);
    }
    change_world(&c, world);
    if (p->mode == RESTING && p->cycles >= system->limits.cycles) {
        p->i = p->v = 0; /* it does not come again */
    }
}

bool model__event(const struct step_system *system, struct step_memory *memory, void *state,
                  unsigned process, unsigned event_)
{
    struct process *p = state;
    struct core c;
    model__core(system, memory, &c);
    uint64_t world = atomic_load(&c.words[AT_WORLD]);
    if (world__left(world, event_) == 0 || p->mode == DEAD || world__turn(world) != 0) {
        return false;
    }
    if ((event_ == GIVE_UP && p->mode != LOOKING) ||
        ((event_ == GROW || event_ == SHRINK) && p->mode != RESTING) ||
        (event_ == CRASH && p->mode == RESTING)) {
        return false;
    }
    world -= 1ULL << world__left_shift(event_);
    if (event_ == CRASH) {
        world = world__without(world, process) | 1ULL << process;
        p->ticket = p->seat = 0;
        p->cycle = p->k = p->i = p->v = 0;
    }
    change_world(&c, world);
    if (event_ == CRASH) {
        begin(&c, p, DEAD, process);
    } else if (event_ == GIVE_UP) {
        begin(&c, p, GIVING_UP, process);
    } else {
        begin(&c, p, RESIZING, process);
        p->u.resize.grow = event_ == GROW;
    }
    return true;
}
