/* The core as a step machine: see pool.h. */
#include "model/pool.h"

#include "core/fast.h"
#include "model/pool_parts.h"

#include <stdio.h>
#include <string.h>

const char *const model__event_names[EVENTS] = {"", "crash", "give up", "grow", "shrink"};

uint32_t model__line_size(const struct step_system *system)
{
    uint32_t size = 4;
    while (size < system->n + 1) {
        size *= 2;
    }
    return system->limits.line != 0 ? system->limits.line : size;
}

static void core_of(const struct step_system *system, struct step_memory *memory, struct core *c)
{
    unsigned bits = system->limits.tag_bits;
    memset(c, 0, sizeof *c);
    c->words = memory->words;
    c->memory = memory;
    c->rows = system->n;
    c->seats = system->k + system->limits.grows;
    c->line_mask = model__line_size(system) - 1;
    c->at_i = AT_I;
    c->at_v = AT_V;
    c->at_k = AT_K;
    c->at_row = AT_ROW;
    c->at_line = AT_ROW + c->rows;
    c->at_seat = c->at_line + c->line_mask + 1;
    c->i_tag_mask = bits == 0 ? 0xffff : (1U << bits) - 1;
    c->v_tag_mask = bits == 0 ? 0xfff : (1U << bits) - 1;
    c->broken = (enum core_guard)system->machine->variant;
}

int model__prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    const struct step_limits *limits = &system->limits;
    uint32_t size = model__line_size(system);
    unsigned words = AT_ROW + system->n + size + system->k + limits->grows;
    if (limits->crashes > 15 || limits->gives_up > 15 || limits->grows > 15 ||
        limits->shrinks > 15 || limits->cycles > 15 || limits->fewer > limits->cycles ||
        limits->queue > system->n || limits->stale > 3 || system->n > 8 ||
        words > STEP_MAX_SHARED_WORDS) {
        (void)snprintf(
            why, STEP_WHY_BYTES,
            "pool is explored for n up to 8, small k, and at most 15 of everything else");
        return -1;
    }
    /* I, V and K may each name another tag of a row, so that two bits are the least. */
    unsigned least = system->machine->variant == CORE_GUARD_FRESH_TAG ? 1 : 2;
    if (limits->tag_bits > 12 || (limits->tag_bits != 0 && limits->tag_bits < least) ||
        (size & (size - 1)) != 0) {
        (void)snprintf(why, STEP_WHY_BYTES,
                       "tags have 2 to 12 bits, and a line a power of two of places");
        return -1;
    }
    if (limits->cycles == 0) {
        system->limits.cycles = 1;
    }
    system->shared_words = words;
    system->private_bytes = sizeof(struct process);
    system->claims = STEP_CLAIM(STEP_EXCLUSION) | STEP_CLAIM(STEP_INVARIANT) |
                     STEP_CLAIM(STEP_PROGRESS) | STEP_CLAIM(STEP_LOCKOUT) |
                     STEP_CLAIM(STEP_STARVATION);
    if (limits->grows + limits->shrinks > 0) {
        /* then k is not the number that counts: the invariant looks at K */
        system->claims &= ~STEP_CLAIM(STEP_EXCLUSION);
    }
    if (limits->shrinks > 0) {
        /* and a pool that shrinks to nothing lets nobody in */
        system->claims = STEP_CLAIM(STEP_INVARIANT);
    }
    return 0;
}

/*
 * A pool that has gone round all its tickets once, and whose last guests have all entered without a
 * place: every place still holds the entry of the ticket with the number that is issued next there:
 * served, skipped, or granted when it was valid already and never decided.
 */
static void wear(const struct step_system *system, struct core *c)
{
    uint32_t issue = CORE_TICKET_MASK - 1;
    atomic_init(&c->words[AT_I], core_i(issue, CORE_NOBODY, 0));
    atomic_init(&c->words[AT_V], core_v(issue + system->k, 0, CORE_NOBODY, 0));
    for (uint32_t t = issue + 1; t <= issue + 1 + c->line_mask; t++) {
        atomic_init(&c->words[core__line_at(c, t)],
                    system->limits.stale == 3
                        ? core_line(t, 0, 0)
                        : core_line(t, CORE_NOBODY,
                                    system->limits.stale == 1 ? CORE_SERVED : CORE_SKIPPED));
    }
}

void model__init(const struct step_system *system, uint64_t *words)
{
    _Atomic uint64_t shared[STEP_MAX_SHARED_WORDS];
    struct step_memory memory = {shared, NULL};
    struct core c;
    core_of(system, &memory, &c);
    core_init(&c, system->k);
    if (system->limits.stale != 0) {
        wear(system, &c);
    }
    for (unsigned w = 0; w < system->shared_words; w++) {
        words[w] = w == AT_WORLD ? 0 : atomic_load(&shared[w]);
    }
    words[AT_WORLD] = world__with_turn(0, system->limits.queue != 0 ? 1 : 0) |
                      (uint64_t)system->limits.crashes << world__left_shift(CRASH) |
                      (uint64_t)system->limits.gives_up << world__left_shift(GIVE_UP) |
                      (uint64_t)system->limits.grows << world__left_shift(GROW) |
                      (uint64_t)system->limits.shrinks << world__left_shift(SHRINK);
}

/* Run the operation of the mode to its next shared access. */
static enum core_progress go_on(struct core *c, struct process *p)
{
    switch ((enum mode)p->mode) {
    case TAKING:
        return core_take(c, &p->u.take);
    case HELPING:
        return core_help(c, &p->u.help);
    case REAPING:
    case CLEANING:
        return core_reap(c, &p->u.reap);
    case CLAIMING:
        return core_claim(c, &p->u.claim);
    case RELEASING:
        return core_release(c, &p->u.release);
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

/* Begin a mode: set up its frame and run to its first access, which is for the next step. */
static void begin(struct core *c, struct process *p, enum mode mode, unsigned process)
{
    memset(&p->u, 0, sizeof p->u);
    p->mode = (uint8_t)mode;
    switch (mode) {
    case TAKING:
        p->cycles++;
        p->u.take.row = process;
        p->u.take.cycle = p->cycle;
        p->cycle = 0;
        break;
    case REAPING:
    case CLEANING:
        p->u.reap.row = p->target;
        p->u.reap.cycle = core_row_cycle(atomic_load(&c->words[core__row_at(c, p->target)]));
        break;
    case CLAIMING:
        p->u.claim.row = process;
        p->u.claim.cycle = p->cycle;
        break;
    case RELEASING:
        p->u.release.row = process;
        p->u.release.cycle = p->cycle;
        p->u.release.ticket = p->ticket;
        p->u.release.seat = p->seat;
        p->ticket = p->seat = 0;
        p->k = 0;
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
    case HOLDING:
    case DEAD:
        break;
    }
    p->target = mode == REAPING || mode == CLEANING ? p->target : 0;
    (void)go_on(c, p);
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
        p->seat = p->u.claim.seat;
        begin(c, p, p->u.claim.ok ? HOLDING : CLAIMING, process);
        break;
    case GIVING_UP:
        if (!p->u.give_up.granted) {
            forget_place(c, process);
        }
        begin(c, p, p->u.give_up.granted ? LOOKING : RESTING, process);
        break;
    case RESIZING:
        p->cycle = p->u.resize.cycle;
        begin(c, p, RESTING, process);
        break;
    case RELEASING:
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

/* Dead, or with nothing to do: a new process takes over a reaped row; the idle reap. */
static void rest(const struct step_system *system, struct core *c, struct process *p,
                 unsigned process)
{
    bool more = p->cycles < system->limits.cycles - (process == 0 ? 0 : system->limits.fewer);
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
    if (more) {
        p->k = system->limits.shrinks != 0 ? atomic_load(&c->words[AT_K]) : 0;
        begin(c, p, TAKING, process);
    } else if (p->target < c->rows) {
        begin(c, p, CLEANING, process);
    } else {
        p->target = 0;
        (void)step_read(c->memory, core__row_at(c, process));
        return;
    }
    if (go_on(c, p) == CORE_DONE) {
        finished(c, p, process);
    }
}

void model__step(const struct step_system *system, struct step_memory *memory, void *state,
                 unsigned process)
{
    struct process *p = state;
    struct core c;
    core_of(system, memory, &c);
    uint64_t i = atomic_load(&c.words[AT_I]);
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
        begin(&c, p, RELEASING, process);
        /* fall through */
    case TAKING:
    case HELPING:
    case REAPING:
    case CLEANING:
    case CLAIMING:
    case RELEASING:
    case GIVING_UP:
    case RESIZING:
        if (go_on(&c, p) == CORE_DONE) {
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
}

bool model__event(const struct step_system *system, struct step_memory *memory, void *state,
                  unsigned process, unsigned event_)
{
    struct process *p = state;
    struct core c;
    core_of(system, memory, &c);
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
        p->cycle = p->k = 0;
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

enum step_region model__region(const struct step_system *system, const void *state)
{
    (void)system;
    switch ((enum mode)((const struct process *)state)->mode) {
    case TAKING:
    case LOOKING:
    case HELPING:
    case REAPING:
    case CLAIMING:
        return STEP_TRYING;
    case HOLDING:
        return STEP_CRITICAL;
    case RELEASING:
    case GIVING_UP:
    case RESIZING:
    case CLEANING:
        return STEP_EXIT;
    case RESTING:
    case DEAD:
        break;
    }
    return STEP_REMAINDER;
}

bool model_pool_busy(const void *state)
{
    switch ((enum mode)((const struct process *)state)->mode) {
    case RESTING:
    case LOOKING:
    case HOLDING:
    case DEAD:
        return false;
    case TAKING:
    case HELPING:
    case REAPING:
    case CLAIMING:
    case RELEASING:
    case GIVING_UP:
    case RESIZING:
    case CLEANING:
        break;
    }
    return true;
}

const struct step_machine model_pool =
    MODEL_POOL("pool", "The core of usher, as it ships: recoverable tickets (src/core)", 0);
