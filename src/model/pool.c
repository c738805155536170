/* The core as a step machine: see pool.h. */
#include "model/pool.h"

#include "core/core.h"
#include "core/parts.h"

#include <stdio.h>
#include <string.h>

enum mode {
    RESTING,   /* in the remainder, alive */
    TAKING,    /* core_take */
    LOOKING,   /* waiting: read the own row ... */
    HELPING,   /* ... then finish what is published ... */
    REAPING,   /* ... and reap the dead, one by one */
    CLAIMING,  /* core_claim */
    HOLDING,   /* the critical section */
    RELEASING, /* core_release */
    GIVING_UP, /* core_give_up */
    RESIZING,  /* core_resize */
    CLEANING,  /* reaping, for one who has nothing else to do */
    DEAD,      /* until its row is reaped; then a new process takes the row over */
};

enum event { CRASH = 1, GIVE_UP, GROW, SHRINK, EVENTS };

static const char *const event_names[EVENTS] = {"", "crash", "give up", "grow", "shrink"};

/* A process. All zero at the start. */
struct process {
    uint8_t mode;
    uint8_t cycles; /* begun */
    uint8_t target; /* whom it reaps */
    uint32_t ticket, seat;
    uint64_t cycle;
    union {
        struct core_take take;
        struct core_help help;
        struct core_reap reap;
        struct core_claim claim;
        struct core_release release;
        struct core_give_up give_up;
        struct core_resize resize;
    } u;
};

_Static_assert(sizeof(struct process) <= STEP_MAX_PRIVATE_BYTES, "a process must fit");

/* Where the words are. The last is the world's: who is dead, what may yet happen, who came when. */
enum { AT_I, AT_V, AT_K, AT_WORLD, AT_ROW };

/*
 * The world's word:  dead 8 bits | crashes 4 | gives up 4 | grows 4 | shrinks 4 (left) | order: 4
 * bits for each who has a place and has not been granted, in order of arrival, process + 1
 */
enum { LEFT_SHIFT = 8, LEFT_BITS = 4, ORDER_SHIFT = 24 };

static unsigned left_shift(unsigned event)
{
    return LEFT_SHIFT + (event - 1) * LEFT_BITS;
}

static unsigned left_of(uint64_t world, unsigned event)
{
    return world >> left_shift(event) & 15;
}

static uint64_t order_without(uint64_t world, unsigned process)
{
    uint64_t order = world >> ORDER_SHIFT;
    uint64_t kept = 0;
    unsigned shift = 0;
    for (; order != 0; order >>= 4) {
        if ((order & 15) != process + 1) {
            kept |= (order & 15) << shift;
            shift += 4;
        }
    }
    return (world & ((1ULL << ORDER_SHIFT) - 1)) | kept << ORDER_SHIFT;
}

static uint64_t order_with(uint64_t world, unsigned process)
{
    unsigned shift = ORDER_SHIFT;
    world = order_without(world, process);
    while (world >> shift != 0) {
        shift += 4;
    }
    return world | (uint64_t)(process + 1) << shift;
}

static uint32_t line_size(const struct step_system *system)
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
    c->line_mask = line_size(system) - 1;
    c->at_i = AT_I;
    c->at_v = AT_V;
    c->at_k = AT_K;
    c->at_row = AT_ROW;
    c->row_stride = 1;
    c->at_line = AT_ROW + c->rows;
    c->at_seat = c->at_line + c->line_mask + 1;
    c->i_tag_mask = bits == 0 ? 0xffff : (1U << bits) - 1;
    c->v_tag_mask = bits == 0 ? 0xfff : (1U << bits) - 1;
    c->broken = system->machine->variant;
}

static int prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    const struct step_limits *limits = &system->limits;
    uint32_t size = line_size(system);
    unsigned words = AT_ROW + system->n + size + system->k + limits->grows;
    if (limits->crashes > 15 || limits->gives_up > 15 || limits->grows > 15 ||
        limits->shrinks > 15 || limits->cycles > 15 || system->n > 8 ||
        words > STEP_MAX_SHARED_WORDS) {
        (void)snprintf(
            why, STEP_WHY_BYTES,
            "pool is explored for n up to 8, small k, and at most 15 of everything else");
        return -1;
    }
    /* I, V and K may each name another tag of a row, so that two bits are the least. */
    unsigned least = system->machine->variant & CORE_GUARD_FRESH_TAG ? 1 : 2;
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

static void init(const struct step_system *system, uint64_t *words)
{
    _Atomic uint64_t shared[STEP_MAX_SHARED_WORDS];
    struct step_memory memory = {shared, NULL};
    struct core c;
    core_of(system, &memory, &c);
    core_init(&c, system->k);
    for (unsigned w = 0; w < system->shared_words; w++) {
        words[w] = w == AT_WORLD ? 0 : atomic_load(&shared[w]);
    }
    words[AT_WORLD] = (uint64_t)system->limits.crashes << left_shift(CRASH) |
                      (uint64_t)system->limits.gives_up << left_shift(GIVE_UP) |
                      (uint64_t)system->limits.grows << left_shift(GROW) |
                      (uint64_t)system->limits.shrinks << left_shift(SHRINK);
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
           (!(world >> first & 1) ||
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
    change_world(c, order_without(atomic_load(&c->words[AT_WORLD]), process));
}

/* An operation is done: what comes next. */
static void finished(struct core *c, struct process *p, unsigned process)
{
    switch ((enum mode)p->mode) {
    case TAKING:
        p->cycle = p->u.take.cycle;
        begin(c, p, p->u.take.full ? RESTING : LOOKING, process);
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
        begin(c, p, HOLDING, process);
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
    bool more = p->cycles < system->limits.cycles;
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

static void step(const struct step_system *system, struct step_memory *memory, void *state,
                 unsigned process)
{
    struct process *p = state;
    struct core c;
    core_of(system, memory, &c);
    uint64_t i = atomic_load(&c.words[AT_I]);
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
    /* Whoever a new I names has just got its place; the dead have none in the order. */
    uint64_t after = atomic_load(&c.words[AT_I]);
    uint64_t world = atomic_load(&c.words[AT_WORLD]);
    if (after != i && !(world >> core_i_row(after) & 1)) {
        change_world(&c, order_with(world, core_i_row(after)));
    }
}

static bool event(const struct step_system *system, struct step_memory *memory, void *state,
                  unsigned process, unsigned event_)
{
    struct process *p = state;
    struct core c;
    core_of(system, memory, &c);
    uint64_t world = atomic_load(&c.words[AT_WORLD]);
    if (left_of(world, event_) == 0 || p->mode == DEAD) {
        return false;
    }
    if ((event_ == GIVE_UP && p->mode != LOOKING) ||
        ((event_ == GROW || event_ == SHRINK) && p->mode != RESTING) ||
        (event_ == CRASH && p->mode == RESTING)) {
        return false;
    }
    world -= 1ULL << left_shift(event_);
    if (event_ == CRASH) {
        world = order_without(world, process) | 1ULL << process;
        p->ticket = p->seat = 0;
        p->cycle = 0;
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

static enum step_region region(const struct step_system *system, const void *state)
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

/* Nobody who came later is granted while somebody who came earlier and lives still waits. */
static bool out_of_order(const uint64_t *words)
{
    bool earlier_waits = false;
    for (uint64_t order = words[AT_WORLD] >> ORDER_SHIFT; order != 0; order >>= 4) {
        uint64_t row = words[AT_ROW + (order & 15) - 1];
        if (core_row_state(row) == CORE_GRANTED && earlier_waits) {
            return true;
        }
        earlier_waits = earlier_waits || core_row_state(row) == CORE_WAITING;
    }
    return false;
}

static bool all_quiet(const struct step_system *system, const uint64_t *words, const void *states)
{
    for (unsigned i = 0; i < system->n; i++) {
        const struct process *p =
            (const void *)((const unsigned char *)states + (size_t)i * system->private_bytes);
        if ((p->mode != RESTING && p->mode != DEAD) ||
            core_row_state(words[AT_ROW + i]) != CORE_IDLE) {
            return false;
        }
    }
    return true;
}

static const char *wrong(const struct step_system *system, const uint64_t *words,
                         const void *states)
{
    uint32_t seat_at = AT_ROW + system->n + line_size(system);
    unsigned holders = 0;
    unsigned taken = 0;
    for (unsigned i = 0; i < system->n; i++) {
        const struct process *p =
            (const void *)((const unsigned char *)states + (size_t)i * system->private_bytes);
        if (p->mode == HOLDING) {
            holders++;
            if (taken >> p->seat & 1 || words[seat_at + p->seat] != core_seat(i, p->cycle)) {
                return "two holders with one seat, or a holder whose seat is not its";
            }
            taken |= 1U << p->seat;
        }
    }
    if (holders > core_k_seats(words[AT_K]) + core_v_owed(words[AT_V]) + system->limits.grows) {
        return "more holders than seats";
    }
    if (out_of_order(words)) {
        return "granted out of order";
    }
    int32_t free = core_ticket_after(core_v_valid(words[AT_V]), core_i_issue(words[AT_I]));
    int32_t seats = (int32_t)(core_k_seats(words[AT_K]) + core_v_owed(words[AT_V]));
    if (free > seats + (int32_t)system->limits.grows) { /* V grows a step before K */
        return "more valid tickets than seats";
    }
    if (-free > (int32_t)line_size(system)) {
        return "the line is longer than its places";
    }
    if (all_quiet(system, words, states)) {
        /* behind a pool drained to nothing holes may be left: they are passed over when it grows */
        if (free != seats && (seats != 0 || free > 0)) {
            return "all is quiet, and a seat is lost or made";
        }
        for (unsigned s = 0; s < system->k + system->limits.grows; s++) {
            if (!core_seat_free(words[seat_at + s])) {
                return "all is quiet, and a seat is still taken";
            }
        }
    }
    return NULL;
}

static const char *state_name(uint64_t row)
{
    static const char *const names[] = {"IDLE",    "WAITING",   "GRANTED", "LEAVING",
                                        "GROWING", "SHRINKING", "?",       "?"};
    return names[core_row_state(row)];
}

static int print_line(uint64_t value, char *out, size_t size, unsigned place)
{
    if (core_line_decided(value)) {
        return snprintf(out, size, "line[%u]=(%u,%s)", place, core_line_ticket(value),
                        core_line_tag(value) == CORE_SERVED ? "SERVED" : "SKIPPED");
    }
    return snprintf(out, size, "line[%u]=(%u,P%u cycle %u)", place, core_line_ticket(value),
                    core_line_row(value) + 1, core_line_tag(value));
}

static int print_word(const struct step_system *system, unsigned word, uint64_t value, char *out,
                      size_t size)
{
    unsigned line_at = AT_ROW + system->n;
    unsigned seat_at = line_at + line_size(system);
    if (word == AT_I) {
        return snprintf(out, size, "I=(%u,P%u tag %u)", core_i_issue(value),
                        (core_i_row(value) + 1) & 0xffff, core_i_tag(value));
    }
    if (word == AT_V) {
        return snprintf(out, size, "V=(%u,owed %u,P%u tag %u)", core_v_valid(value),
                        core_v_owed(value), (core_v_row(value) + 1) & 0xffff, core_v_tag(value));
    }
    if (word == AT_K) {
        return snprintf(out, size, "K=%u", core_k_seats(value));
    }
    if (word == AT_WORLD) {
        return snprintf(out, size, "world=%llx", (unsigned long long)value);
    }
    if (word < line_at) {
        return snprintf(out, size, "row[P%u]=(%s,cycle %llu,ticket %u)", word - AT_ROW + 1,
                        state_name(value), (unsigned long long)core_row_cycle(value),
                        core_row_ticket(value));
    }
    if (word < seat_at) {
        return print_line(value, out, size, word - line_at);
    }
    return snprintf(out, size, "seat[%u]=%s%.0u", word - seat_at,
                    core_seat_free(value) ? "free" : "P", (unsigned)(value >> 48));
}

#define POOL(name_, title_, variant_)                                                              \
    {                                                                                              \
        .name = (name_), .title = (title_), .variant = (variant_), .loose_regions = true,          \
        .prepare = prepare, .init = init, .step = step, .region = region, .event = event,          \
        .event_names = event_names, .events = EVENTS, .wrong = wrong, .print_word = print_word     \
    }

const struct step_machine model_pool =
    POOL("pool", "The core of usher, as it ships: recoverable tickets (src/core)", 0);

#define DROPPED(symbol, name_, what, guard)                                                        \
    static const struct step_machine symbol =                                                      \
        POOL("mutant-pool-" name_, "The core without this guard: " what, guard)

DROPPED(take_i_still, "take-i-still", "I still i, before a place is recorded",
        CORE_GUARD_TAKE_I_STILL);
DROPPED(take_tag, "take-tag", "the author's row has I's tag", CORE_GUARD_TAKE_TAG);
DROPPED(v_still, "v-still", "V still v, before a place is decided", CORE_GUARD_V_STILL);
DROPPED(author_v_still, "author-v-still", "V still v, before the author is IDLE",
        CORE_GUARD_AUTHOR_V_STILL);
DROPPED(author_tag, "author-tag", "the author's row has V's tag", CORE_GUARD_AUTHOR_TAG);
DROPPED(line_tag, "line-tag", "the waiter's row has the line's tag", CORE_GUARD_LINE_TAG);
DROPPED(served, "served", "SERVED is marked", CORE_GUARD_SERVED);
DROPPED(skipped, "skipped", "a hole is passed over", CORE_GUARD_SKIPPED);
DROPPED(lap, "lap", "a place of another lap is not this one", CORE_GUARD_LAP);
DROPPED(reap_finish, "reap-finish-take", "the reaper finishes I first",
        CORE_GUARD_REAP_FINISH_TAKE);
DROPPED(seat_cycle, "seat-cycle", "a reaper frees seats of the dead cycle only",
        CORE_GUARD_SEAT_CYCLE);
DROPPED(fresh_tag, "fresh-tag", "no cycle starts with a tag still named", CORE_GUARD_FRESH_TAG);
DROPPED(finish_i, "finish-i", "I is finished before it is published over", CORE_GUARD_FINISH_I);
DROPPED(finish_v, "finish-v", "V is finished before it is published over", CORE_GUARD_FINISH_V);
DROPPED(adopt_hole, "adopt-hole", "only a hole is adopted", CORE_GUARD_ADOPT_HOLE);
DROPPED(adopt_valid, "adopt-valid", "only a place beyond VALID is adopted", CORE_GUARD_ADOPT_VALID);
DROPPED(slide_live, "slide-live", "only a hole or a copy is slid over", CORE_GUARD_SLIDE_LIVE);
DROPPED(leaving_still, "leaving-still", "publish only while the row is leaving",
        CORE_GUARD_LEAVING_STILL);
DROPPED(named, "named", "a V that names us is our publication", CORE_GUARD_NAMED);
DROPPED(reap_cycle, "reap-cycle", "a row that has gone on is not reaped", CORE_GUARD_REAP_CYCLE);
DROPPED(hole_granted, "hole-granted", "a place granted but not marked is no hole",
        CORE_GUARD_HOLE_GRANTED);
DROPPED(decided_still, "decided-still", "the row still waits, before it gets the next place",
        CORE_GUARD_DECIDED_STILL);
DROPPED(same_author, "same-author", "an I that moved on for the same guest is followed",
        CORE_GUARD_SAME_AUTHOR);
DROPPED(skip_decided, "skip-decided", "an adopted place passed over is replaced",
        CORE_GUARD_SKIP_DECIDED);

const struct step_machine *const model_pool_mutants[] = {
    &take_i_still, &take_tag,     &v_still,    &author_v_still, &author_tag,    &line_tag,
    &served,       &skipped,      &lap,        &reap_finish,    &seat_cycle,    &fresh_tag,
    &finish_i,     &finish_v,     &adopt_hole, &adopt_valid,    &slide_live,    &leaving_still,
    &named,        &skip_decided, &reap_cycle, &hole_granted,   &decided_still, &same_author,
    NULL,
};
