/*
 * When a process of the model moves: steps of one access or of a whole operation, pauses, and
 * events. pool_machine.c has what a process does then.
 */
#include "model/pool_machine.h"

#include "core/parts.h"
#include "model/pool_parts.h"

#include <string.h>

/* Make one step. If I changed and names a living guest that waits, that guest is last in the order
   of arrival now. */
static void move_and_note(const struct step_system *system, struct core *c, struct process *p,
                          unsigned process)
{
    uint64_t before = atomic_load(&c->words[AT_I]);
    model__move(system, c, p, process);
    p->replaced = p->replaced || c->replaced;
    if (c->ghosts && !model_pool_busy(p)) {
        /* between operations it relies only on what it published, for the repeat path */
        uint64_t both = p->i != 0 && p->v != 0 ? 1ULL << AT_I | 1ULL << AT_V : 0;
        both |= both << 32;
        uint64_t relied = atomic_load(&c->words[c->at_relied + process]);
        atomic_store(&c->words[c->at_relied + process], relied & both);
    }
    uint64_t i = atomic_load(&c->words[AT_I]);
    uint64_t world = atomic_load(&c->words[AT_WORLD]);
    if (i != before && !world__dead(world, core_i_row(i)) &&
        core_row_state(atomic_load(&c->words[core__row_at(c, core_i_row(i))])) == CORE_WAITING) {
        model__change_world(c, world__with(world, core_i_row(i)));
    }
}

enum { MOST_ALONE = 4000 }; /* accesses of one operation that runs alone: more are "stuck" */

/*
 * With step_limits.pauses, operations are interrupted only by pauses. A step is then the whole
 * operation, or the rest of it. The event PAUSE is one access of it.
 */
static void run_alone(const struct step_system *system, struct core *c, struct process *p,
                      unsigned process)
{
    for (unsigned steps = 0; model_pool_busy(p) && !p->stuck; steps++) {
        p->stuck = steps == MOST_ALONE;
        move_and_note(system, c, p, process);
    }
    if (c->memory->access != NULL) {
        c->memory->access->count = 1; /* the last access stands for all */
    }
}

/* Record whether the process is paused inside an operation. */
static void note_paused(struct core *c, struct process *p, bool paused)
{
    uint64_t world = atomic_load(&c->words[AT_WORLD]);
    if (p->paused != paused) {
        model__change_world(c, paused ? world + (1ULL << PAUSED_SHIFT)
                                      : world - (1ULL << PAUSED_SHIFT));
    }
    p->paused = paused;
}

static void lay_out(const struct step_system *system, struct step_memory *memory, struct process *p,
                    unsigned process, struct core *c)
{
    model__core(system, memory, c);
    p->endless = model__endless(system);
    p->simple_seat = (system->limits.simple & WITHOUT_SEATS) != 0;
    p->simple_repeat = (system->limits.simple & WITHOUT_REPEAT) != 0;
    c->self = process;
    p->buffer.depth = (uint8_t)system->limits.buffer;
    c->buffer = p->buffer.depth != 0 ? &p->buffer : NULL;
    if (p->i != atomic_load(&c->words[AT_I]) && p->v != atomic_load(&c->words[AT_V]) &&
        p->mode == RESTING) {
        p->i = 0; /* I and V never return, so core_repeat_enter would do nothing */
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
        model__change_world(&c,
                            world__with_turn(world, turn < system->limits.queue ? turn + 1 : 0));
    }
    if (p->mode == RESTING && p->cycles >= system->limits.cycles && !p->endless) {
        p->i = p->v = 0; /* it does not enter again */
    }
}

/* May the event happen to the process now? */
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
    case GROW: /* endless: any number of resizes, but a bounded number of seats */
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
    model__change_world(c, world);
    while (p->buffer.count > 0) { /* a dead process's stores reach memory */
        core_buffer_flush(c);
    }
    if (c->ghosts) {
        atomic_store(&c->words[c->at_relied + process], 0);
    }
    /* Where nothing is announced, the row's next process continues the numbers of questions. */
    struct core_run questions = p->mode == CLAIMING ? p->u.claim.run : p->questions;
    memset(p, 0, sizeof *p);
    p->mode = DEAD;
    p->questions.last = c->repeats ? 0 : questions.last;
}

/* Begin to give up or resize. Pause before the first access, if one more process may pause;
   otherwise run the whole operation. */
static void begin_event(const struct step_system *system, struct core *c, struct process *p,
                        unsigned process, unsigned event_)
{
    p->grows = event_ == GROW;
    model__begin(c, p, event_ == GIVE_UP ? GIVING_UP : RESIZING, process);
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
        model__change_world(&c, world - (1ULL << world__left_shift(event_)));
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
