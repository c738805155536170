/*
 * The judge of the model: what is wrong with a state. Also the region of a process, and the text of
 * a word for traces. See pool_parts.h.
 */
#include "core/parts.h"
#include "model/pool_machine.h"
#include "model/pool_parts.h"

#include <stdio.h>

/* Is the row ENTERING and in: does I name it? */
static bool has_entered(const struct step_system *system, const uint64_t *words, uint32_t row)
{
    return row < system->n && core_row_state(words[AT_ROW + row]) == CORE_ENTERING &&
           core__names_i(words[AT_I], row, core_row_cycle(words[AT_ROW + row]));
}

/* Is a guest in that arrived after a living guest that still waits? */
static bool out_of_order(const struct step_system *system, const uint64_t *words)
{
    bool earlier_waits = false;
    for (uint64_t order = world__order(words[AT_WORLD]); order != 0; order >>= 4) {
        uint64_t row = words[AT_ROW + (order & 15) - 1];
        if (core_row_state(row) == CORE_GRANTED && earlier_waits) {
            return true;
        }
        earlier_waits = earlier_waits || core_row_state(row) == CORE_WAITING;
    }
    return earlier_waits && has_entered(system, words, core_i_row(words[AT_I]));
}

/*
 * Is there a living waiter without a place? I's author needs none yet: it will be recorded. Places
 * before VALID are past; the place of VALID itself may be about to be granted.
 */
static bool waiter_has_no_place(const struct step_system *system, const uint64_t *words)
{
    uint32_t size = model__line_size(system);
    for (uint64_t order = world__order(words[AT_WORLD]); order != 0; order >>= 4) {
        uint32_t who = (uint32_t)(order & 15) - 1;
        uint64_t row = words[AT_ROW + who];
        bool placed = core_row_state(row) != CORE_WAITING || core_i_row(words[AT_I]) == who;
        for (uint32_t t = core_v_valid(words[AT_V]);
             !placed && core_ticket_after(core_i_issue(words[AT_I]), t) >= 0; t++) {
            placed = words[AT_ROW + 2 * system->n + (t & (size - 1))] ==
                     core_line(t, who, core_row_cycle(row), CORE_UNDECIDED);
        }
        if (!placed) {
            return true;
        }
    }
    return false;
}

/* Does every process rest, or is it dead and reaped? */
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

/*
 * If no operation is under way and all dead are reaped: each seat is a valid ticket that is not
 * taken, or a row that is in; and no guest waits while a valid ticket is not taken.
 */
static const char *wrong_at_rest(const struct step_system *system, const uint64_t *words,
                                 const void *states)
{
    int32_t granted = 0;
    int32_t waiting = 0;
    for (unsigned i = 0; i < system->n; i++) {
        const struct process *p =
            (const void *)((const unsigned char *)states + (size_t)i * system->private_bytes);
        enum core_state state = core_row_state(words[AT_ROW + i]);
        if (model_pool_busy(p) || p->buffer.count > 0 || (p->mode == DEAD && state != CORE_IDLE)) {
            return NULL;
        }
        granted += state == CORE_GRANTED || has_entered(system, words, i);
        waiting += state == CORE_WAITING;
    }
    int32_t free = core_ticket_after(core_v_valid(words[AT_V]), core_i_issue(words[AT_I]));
    int32_t seats = (int32_t)(core_k_seats(words[AT_K]) + core_v_owed(words[AT_V]));
    if ((free > 0 ? free : 0) + granted != seats) {
        return "no operation is under way, and a seat is lost or made up";
    }
    if (free >= 0 && waiting > 0) {
        return "no operation is under way, a seat is free, and a guest waits";
    }
    return NULL;
}

const char *model__wrong(const struct step_system *system, const uint64_t *words,
                         const void *states)
{
    model__widths(system);
    uint32_t seat_at = AT_ROW + 2 * system->n + model__line_size(system);
    unsigned granted = 0;   /* rows that are in, dead or alive */
    unsigned newcomers = 0; /* holders that arrived after the last resize */
    unsigned taken = 0;
    for (unsigned i = 0; i < system->n; i++) {
        const struct process *p =
            (const void *)((const unsigned char *)states + (size_t)i * system->private_bytes);
        granted +=
            core_row_state(words[AT_ROW + i]) == CORE_GRANTED || has_entered(system, words, i);
        if (p->replaced) {
            return "a compare-and-swap succeeded on a value that had been replaced";
        }
        if (p->stuck) {
            return "a process runs alone and does not finish its operation";
        }
        if (p->mode == HOLDING && !(system->limits.simple & WITHOUT_SEATS)) {
            newcomers += p->k == words[AT_K];
            if (taken >> p->seat & 1 || core_seat_row(words[seat_at + p->seat]) != i ||
                core_hint_seat(words[AT_ROW + system->n + i]) != p->seat) {
                return "two holders have one seat, or a holder's seat names another row";
            }
            if (words[seat_at + p->seat] & CORE_SEAT_DIED) {
                return "a seat is marked as one in which its holder died, but the holder lives";
            }
            taken |= 1U << p->seat;
        }
    }
    if (granted > core_k_seats(words[AT_K]) + core_v_owed(words[AT_V]) + system->limits.grows) {
        return "more guests are in than there are seats";
    }
    if (newcomers > core_k_seats(words[AT_K]) + system->limits.grows && !model__repeats(system)) {
        return "more guests entered after the pool had shrunk than it has seats";
    }
    if (out_of_order(system, words)) {
        return "tickets are granted out of order";
    }
    if (waiter_has_no_place(system, words)) {
        return "a guest waits without a place";
    }
    int32_t free = core_ticket_after(core_v_valid(words[AT_V]), core_i_issue(words[AT_I]));
    int32_t seats = (int32_t)(core_k_seats(words[AT_K]) + core_v_owed(words[AT_V]));
    if (free > seats + (int32_t)system->limits.grows) { /* V grows a step before K */
        return "more valid tickets than seats";
    }
    if (-free > (int32_t)model__line_size(system)) {
        return "the line is longer than its places";
    }
    const char *at_rest = wrong_at_rest(system, words, states);
    if (at_rest != NULL) {
        return at_rest;
    }
    if (all_quiet(system, words, states)) {
        /* a pool that shrank to 0 seats may keep holes: they are skipped when it grows */
        if (free != seats && (seats != 0 || free > 0)) {
            return "all is quiet, and a seat is lost or made up";
        }
        /* where words repeat, the guest that should pay the debt may find no free tag */
        if (core_v_owed(words[AT_V]) != 0 && system->limits.crashes == 0 &&
            !model__repeats(system)) {
            return "all is quiet, and a seat is still owed";
        }
    }
    return NULL;
}

enum step_region model__region(const struct step_system *system, const void *state)
{
    (void)system;
    switch ((enum mode)((const struct process *)state)->mode) {
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
        return STEP_TRYING;
    case HOLDING:
        return STEP_CRITICAL;
    case RELEASING:
    case REPEAT_LEAVING:
    case LEAVING_SLOWLY:
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
    case WATCHING:
    case PROVING:
    case REAPING:
    case CLAIMING:
    case COUNTING:
    case RELEASING:
    case REPEAT_ENTERING:
    case REPEAT_SITTING:
    case REPEAT_LEAVING:
    case LEAVING_SLOWLY:
    case GIVING_UP:
    case RESIZING:
    case CLEANING:
        break;
    }
    return true;
}

static const char *state_name(uint64_t row)
{
    static const char *const names[] = {"IDLE",    "WAITING", "ENTERING",  "GRANTED",
                                        "LEAVING", "GROWING", "SHRINKING", "?"};
    return names[core_row_state(row)];
}

static int print_line(uint64_t value, char *out, size_t size, unsigned place)
{
    static const char *const verdicts[] = {"", ",SERVED", ",SKIPPED", ",CLEARED"};
    return snprintf(out, size, "line[%u]=(%u,P%u cycle %u%s)", place, core_line_ticket(value),
                    (core_line_row(value) + 1) & 0xffff, core_line_cycle(value),
                    verdicts[core_line_verdict(value)]);
}

int model__print_word(const struct step_system *system, unsigned word, uint64_t value, char *out,
                      size_t size)
{
    unsigned hint_at = AT_ROW + system->n;
    unsigned line_at = hint_at + system->n;
    unsigned seat_at = line_at + model__line_size(system);
    unsigned announced_at = seat_at + system->k + system->limits.grows;
    model__widths(system);
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
    if (word < hint_at) {
        return snprintf(out, size, "row[P%u]=(%s,cycle %llu,ticket %u)", word - AT_ROW + 1,
                        state_name(value), (unsigned long long)core_row_cycle(value),
                        core_row_ticket(value));
    }
    if (word < line_at) {
        return snprintf(out, size, "hint[P%u]=seat %d", word - hint_at + 1,
                        core_hint_seat(value) == CORE_NO_SEAT ? -1 : (int)core_hint_seat(value));
    }
    if (word < seat_at) {
        return print_line(value, out, size, word - line_at);
    }
    if (word < announced_at) {
        return snprintf(out, size, "seat[%u]=(P%u,%s P%u question %u%s)", word - seat_at,
                        (core_seat_row(value) + 1) & 0xffff,
                        value & CORE_SEAT_OPEN ? "asked by" : "settled for",
                        (core_seat_author(value) + 1) & 0xffff, core_seat_question(value),
                        value & CORE_SEAT_DIED ? ",died" : "");
    }
    word -= announced_at;
    if (word >= CORE_SLOTS * system->n) {
        return snprintf(out, size, "relied[P%u]=%llx", word - CORE_SLOTS * system->n + 1,
                        (unsigned long long)value);
    }
    if (value == 0) {
        return snprintf(out, size, "announced[P%u][%u]=nothing", word / CORE_SLOTS + 1,
                        word % CORE_SLOTS);
    }
    return snprintf(out, size, "announced[P%u][%u]=(P%u %s %u)", word / CORE_SLOTS + 1,
                    word % CORE_SLOTS, (unsigned)(value >> 12 & 0xffff) + 1,
                    value & 1U << 28 ? "question" : "tag", core_announced_tag((uint32_t)value));
}
