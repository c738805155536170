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
    case WATCHING:
        return core_watch(c, &p->u.watch);
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
    return process % 2 == 0 && !p->simple_again;
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
static void begin(struct core *c, struct process *p, enum mode mode, unsigned process)
{
    if (p->simple_seat && (mode == CLAIMING || mode == SITTING_AGAIN)) {
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
    case ENTERING_AGAIN:
        p->cycles += !p->endless;
        p->u.again = (struct core_again){.i = p->i, .v = p->v};
        p->u.again.r = core_row(CORE_ENTERING, p->run.last, core_i_issue(p->i));
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
        p->u.again.r = core_row(CORE_ENTERING, p->run.last, p->ticket);
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
    uint64_t r = core_row(CORE_ENTERING, p->run.last, core_i_issue(p->i));
    return p->i != 0 && p->v != 0 && core_again_may(c, p->i, core_again_until(c, p->i, r, &p->run));
}

/* What again.h did: otherwise it is done as if for the first time, as the library does. */
static void entered_again(struct core *c, struct process *p, unsigned process)
{
    p->run.last = core_row_cycle(p->u.again.r);
    if (p->u.again.granted) {
        p->i = p->u.again.i;
        p->ticket = core_i_issue(p->i);
        begin(c, p, SITTING_AGAIN, process);
    } else {
        p->cycles -= !p->endless;
        begin(c, p, TAKING, process);
    }
}

static void left_again(struct core *c, struct process *p, unsigned process)
{
    struct core_leave leave = {.row = process, .r = core_row(CORE_LEAVING, p->run.last, 0)};
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

/* The next of the dead, or what comes after all of them. */
static void reap_next(struct core *c, struct process *p, unsigned process, unsigned first)
{
    bool cleans = p->cleans || p->mode == CLEANING;
    p->target = (uint8_t)(cleans ? c->rows : next_dead(c, first));
    if (p->target < c->rows) {
        begin(c, p, c->repeats ? WATCHING : REAPING, process);
    } else {
        begin(c, p, cleans ? RESTING : LOOKING, process);
    }
}

/* A row is announced: its process must be dead now. */
static void prove(struct core *c, struct process *p, unsigned process)
{
    (void)step_read(c->memory, core__row_at(c, process));
    uint64_t row = atomic_load(&c->words[core__row_at(c, p->target)]);
    if (world__dead(atomic_load(&c->words[AT_WORLD]), p->target) &&
        core_row_state(row) != CORE_IDLE) {
        begin(c, p, p->cleans ? CLEANING : REAPING, process);
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
            begin(c, p, p->u.take.enter.seated ? HOLDING : CLAIMING, process);
        } else {
            begin(c, p, p->u.take.full ? RESTING : LOOKING, process);
        }
        break;
    case HELPING:
    case REAPING:
    case CLEANING:
        reap_next(c, p, process, p->mode == HELPING ? 0 : p->target + 1U);
        break;
    case WATCHING:
        p->watched = core_row_cycle(p->u.watch.r);
        begin(c, p, PROVING, process);
        break;
    case CLAIMING:
        p->questions = p->u.claim.run;
        p->seat = p->u.claim.ok ? p->u.claim.seat : 0;
        begin(c, p, p->u.claim.ok ? HOLDING : p->u.claim.full ? RELEASING : COUNTING, process);
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
        p->run = p->u.resize.run;
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
            remembers(p, process)) {
            p->v = p->u.release.slow.leave.v;
        }
        begin(c, p, RESTING, process);
        break;
    case LEAVING_SLOWLY:
    case RESTING:
    case LOOKING:
    case PROVING:
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
            change_world(c, atomic_load(&c->words[AT_WORLD]) & ~(1ULL << process));
            core_disown(c, process);
            p->run.last = p->run.end = core_row_cycle(row);
            begin(c, p, RESTING, process);
        }
        return;
    }
    p->target = (uint8_t)next_dead(c, 0);
    if (more) {
        p->k = system->limits.shrinks != 0 ? atomic_load(&c->words[AT_K]) : 0;
        begin(c, p, may_again(c, p) ? ENTERING_AGAIN : TAKING, process);
    } else if (p->target < c->rows) {
        p->cleans = c->repeats;
        begin(c, p, c->repeats ? WATCHING : CLEANING, process);
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
static void move(const struct step_system *system, struct core *c, struct process *p,
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
        begin(c, p, p->v != 0 ? LEAVING_AGAIN : RELEASING, process);
        /* fall through */
    case TAKING:
    case ENTERING_AGAIN:
    case SITTING_AGAIN:
    case LEAVING_AGAIN:
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

/* One step; and a guest that waits, and that a new I names, has just got its place. The dead have
   none in the order. */
static void move_and_note(const struct step_system *system, struct core *c, struct process *p,
                          unsigned process)
{
    uint64_t before = atomic_load(&c->words[AT_I]);
    move(system, c, p, process);
    p->replaced = p->replaced || c->replaced;
    if (c->ghosts && !model_pool_busy(p)) {
        /* between operations it relies only on what it published, to come again */
        uint64_t both = p->i != 0 && p->v != 0 ? 1ULL << AT_I | 1ULL << AT_V : 0;
        both |= both << 32;
        uint64_t relied = atomic_load(&c->words[c->at_relied + process]);
        atomic_store(&c->words[c->at_relied + process], relied & both);
    }
    uint64_t i = atomic_load(&c->words[AT_I]);
    uint64_t world = atomic_load(&c->words[AT_WORLD]);
    if (i != before && !world__dead(world, core_i_row(i)) &&
        core_row_state(atomic_load(&c->words[core__row_at(c, core_i_row(i))])) == CORE_WAITING) {
        change_world(c, world__with(world, core_i_row(i)));
    }
}

enum { MOST_ALONE = 4000 }; /* accesses of one operation that nobody disturbs */

/*
 * Where operations are interrupted only when they pause (step_limits.pauses): one step is the whole
 * operation, or what is left of it. The event PAUSE is one access of it.
 */
static void run_alone(const struct step_system *system, struct core *c, struct process *p,
                      unsigned process)
{
    for (unsigned steps = 0; model_pool_busy(p) && !p->stuck; steps++) {
        p->stuck = steps == MOST_ALONE;
        move_and_note(system, c, p, process);
    }
    if (c->memory->access != NULL) {
        c->memory->access->count = 1; /* the last one stands for all */
    }
}

/* After its last access it is not paused any more; after any other it may be. */
static void note_paused(struct core *c, struct process *p, bool paused)
{
    uint64_t world = atomic_load(&c->words[AT_WORLD]);
    if (p->paused != paused) {
        change_world(c, paused ? world + (1ULL << PAUSED_SHIFT) : world - (1ULL << PAUSED_SHIFT));
    }
    p->paused = paused;
}

static void lay_out(const struct step_system *system, struct step_memory *memory, struct process *p,
                    unsigned process, struct core *c)
{
    model__core(system, memory, c);
    p->endless = model__endless(system);
    p->simple_seat = (system->limits.simple & WITHOUT_SEATS) != 0;
    p->simple_again = (system->limits.simple & WITHOUT_AGAIN) != 0;
    c->self = process;
    p->buffer.depth = (uint8_t)system->limits.buffer;
    c->buffer = p->buffer.depth != 0 ? &p->buffer : NULL;
    if (p->i != atomic_load(&c->words[AT_I]) && p->v != atomic_load(&c->words[AT_V]) &&
        p->mode == RESTING) {
        p->i = 0; /* they never say that again, and core_enter_again would see it and do nothing */
        p->v = c->repeats ? 0 : p->v;
    }
}

void model__step(const struct step_system *system, struct step_memory *memory, void *state,
                 unsigned process)
{
    struct process *p = state;
    struct core c;
    lay_out(system, memory, p, process, &c);
    unsigned turn = world__turn(atomic_load(&c.words[AT_WORLD]));
    if (turn != 0 && turn != process + 1) {
        (void)step_read(memory, core__row_at(&c, process));
        return;
    }
    move_and_note(system, &c, p, process);
    if (system->limits.pauses != 0) {
        run_alone(system, &c, p, process);
        note_paused(&c, p, false);
    }
    if (turn != 0 && (p->mode == LOOKING || p->mode == HOLDING)) {
        uint64_t world = atomic_load(&c.words[AT_WORLD]);
        change_world(&c, world__with_turn(world, turn < system->limits.queue ? turn + 1 : 0));
    }
    if (p->mode == RESTING && p->cycles >= system->limits.cycles && !p->endless) {
        p->i = p->v = 0; /* it does not come again */
    }
}

/* May this happen to the process now? */
static bool may_happen(const struct step_system *system, const struct core *c,
                       const struct process *p, unsigned event_)
{
    uint64_t world = atomic_load(&c->words[AT_WORLD]);
    uint32_t seats = core_k_seats(atomic_load(&c->words[AT_K]));
    unsigned turn = world__turn(world);
    if (event_ >= GROW && event_ != FLUSH && !p->paused && system->limits.last != 0 &&
        c->self + system->limits.last < system->n) {
        return false;
    }
    if (event_ == PAUSE) {
        return p->paused || (world__paused(world) < system->limits.pauses && p->mode != DEAD);
    }
    if (event_ == FLUSH) {
        return p->buffer.count > 0;
    }
    if (world__left(world, event_) == 0 || p->mode == DEAD || turn != 0) {
        return false;
    }
    switch (event_) {
    case CRASH:
        return p->mode != RESTING;
    case GIVE_UP:
        return p->mode == LOOKING;
    case GROW: /* endless: any number of times, but not to any number of seats */
        return p->mode == RESTING && (!p->endless || seats < system->k + system->limits.grows);
    default:
        return p->mode == RESTING && (!p->endless || seats + system->limits.shrinks > system->k);
    }
}

static void crash(struct core *c, struct process *p, unsigned process)
{
    uint64_t world = atomic_load(&c->words[AT_WORLD]);
    world = world__without(world, process) | 1ULL << process;
    world -= p->paused ? 1ULL << PAUSED_SHIFT : 0;
    change_world(c, world);
    while (p->buffer.count > 0) { /* what a dead process has stored reaches memory */
        core_buffer_flush(c);
    }
    if (c->ghosts) {
        atomic_store(&c->words[c->at_relied + process], 0);
    }
    /* Where nothing is announced, questions go on in the next process of the row. */
    struct core_run questions = p->mode == CLAIMING ? p->u.claim.run : p->questions;
    memset(p, 0, sizeof *p);
    p->mode = DEAD;
    p->questions.last = c->repeats ? 0 : questions.last;
}

/* Give up or resize: paused before the first access, if one more may pause, or all of it. */
static void begin_event(const struct step_system *system, struct core *c, struct process *p,
                        unsigned process, unsigned event_)
{
    p->grows = event_ == GROW;
    begin(c, p, event_ == GIVE_UP ? GIVING_UP : RESIZING, process);
    if (system->limits.pauses == 0) {
        return;
    }
    if (world__paused(atomic_load(&c->words[AT_WORLD])) < system->limits.pauses) {
        note_paused(c, p, true);
    } else {
        run_alone(system, c, p, process);
    }
}

bool model__event(const struct step_system *system, struct step_memory *memory, void *state,
                  unsigned process, unsigned event_)
{
    struct process *p = state;
    struct core c;
    lay_out(system, memory, p, process, &c);
    uint64_t world = atomic_load(&c.words[AT_WORLD]);
    if (!may_happen(system, &c, p, event_)) {
        return false;
    }
    if (event_ == PAUSE) {
        move_and_note(system, &c, p, process);
        note_paused(&c, p, model_pool_busy(p));
        return true;
    }
    if (event_ == FLUSH) {
        core_buffer_flush(&c);
        return true;
    }
    if (event_ == CRASH || !model__endless(system)) {
        change_world(&c, world - (1ULL << world__left_shift(event_)));
    }
    if (event_ == CRASH) {
        uint8_t cycles = p->cycles;
        crash(&c, p, process);
        p->cycles = cycles;
        return true;
    }
    begin_event(system, &c, p, process, event_);
    return true;
}
