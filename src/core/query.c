/* Read-only questions about a pool: see query.h. */
#include "core/query.h"

#include "core/parts.h"

enum { SAMPLE = 128 }; /* places that core_line_waiters reads before it extrapolates */

static uint64_t word_at(const struct core *c, uint32_t at)
{
    return atomic_load(&c->words[at]);
}

static uint64_t row_word(const struct core *c, uint32_t row)
{
    return word_at(c, core__row_at(c, row));
}

uint32_t core_query_issue(const struct core *c)
{
    return core_i_issue(word_at(c, CORE_AT_I(c)));
}

uint32_t core_query_owed(const struct core *c)
{
    return core_v_owed(word_at(c, CORE_AT_V(c)));
}

/* Is the row, `word`, in? An ENTERING row is, once I names its cycle. */
static bool is_in(const struct core *c, uint32_t row, uint64_t word)
{
    if (core_row_state(word) != CORE_ENTERING) {
        return core_row_state(word) == CORE_GRANTED;
    }
    return core__names_i(word_at(c, CORE_AT_I(c)), row, core_row_cycle(word));
}

/* The seat of the row's hint, if that seat names the row; otherwise CORE_NO_SEAT. */
static uint32_t seat_of(const struct core *c, uint32_t row)
{
    uint32_t seat = core_hint_seat(word_at(c, core__hint_at(c, row)));
    return seat < c->seats && core_seat_row(word_at(c, c->at_seat + seat)) == row ? seat
                                                                                  : CORE_NO_SEAT;
}

/* The whole ticket of which a row has the low bits: it is near `issue`, before it or after. */
static uint32_t whole_ticket(uint32_t issue, uint32_t ticket)
{
    return issue - (uint32_t)core_ticket_after(issue, ticket);
}

uint32_t core_query_holder(const struct core *c, uint32_t seat, uint32_t issue, uint32_t *ticket)
{
    uint32_t row = core_seat_row(word_at(c, c->at_seat + seat));
    if (row >= c->rows) {
        return CORE_NOBODY;
    }
    uint64_t word = row_word(c, row);
    if (!is_in(c, row, word) || seat_of(c, row) != seat) {
        return CORE_NOBODY;
    }
    *ticket = whole_ticket(issue, core_row_ticket(word));
    return row;
}

bool core_query_unseated(const struct core *c, uint32_t row, uint32_t issue, uint32_t *ticket)
{
    uint64_t word = row_word(c, row);
    if (!is_in(c, row, word) || seat_of(c, row) != CORE_NO_SEAT || row_word(c, row) != word) {
        return false;
    }
    *ticket = whole_ticket(issue, core_row_ticket(word));
    return true;
}

void core_line_begin(const struct core *c, struct core_line_walk *walk)
{
    uint64_t v = word_at(c, CORE_AT_V(c));
    uint64_t i = word_at(c, CORE_AT_I(c));
    walk->at = core_v_valid(v) + 1;
    walk->last = core_i_issue(i);
    walk->before = 0;
}

bool core_line_next(const struct core *c, struct core_line_walk *walk, uint32_t *row,
                    uint64_t *word, uint32_t *ticket)
{
    for (uint32_t steps = 0; steps <= c->line_mask; steps++) {
        if (core_ticket_after(walk->at, walk->last) > 0) {
            return false;
        }
        uint32_t t = walk->at++;
        uint64_t e = word_at(c, core__line_at(c, t));
        uint64_t before = walk->before;
        walk->before = core_line_who(e);
        if (!core__is_place(c, e, t) || core_line_decided(e) || core_line_row(e) >= c->rows ||
            core_line_who(e) == before) {
            continue;
        }
        *word = row_word(c, core_line_row(e));
        if (core__waits_at(c, *word, e)) {
            *row = core_line_row(e);
            *ticket = whole_ticket(walk->last, t);
            return true;
        }
    }
    return false;
}

/* Places from walk->at to walk->last; 0 or less at the end, and where seats are free. */
static int32_t places_left(const struct core_line_walk *walk)
{
    return core_ticket_after(walk->last, walk->at) + 1;
}

uint32_t core_line_ahead(const struct core *c)
{
    struct core_line_walk walk;
    core_line_begin(c, &walk);
    int32_t ahead = places_left(&walk);
    return ahead > 0 ? (uint32_t)ahead : 0;
}

uint32_t core_line_waiters(const struct core *c)
{
    struct core_line_walk walk;
    uint64_t word;
    uint32_t row;
    uint32_t ticket;
    uint32_t count = 0;
    core_line_begin(c, &walk);
    uint32_t first = walk.at;
    while (walk.at - first < SAMPLE && core_line_next(c, &walk, &row, &word, &ticket)) {
        count++;
    }
    uint32_t walked = walk.at - first;
    /* Of this walk, not of a second one, which might find another line. */
    int32_t left = places_left(&walk);
    if (left <= 0 || walked == 0) {
        return count;
    }
    return count + (uint32_t)((uint64_t)count * (uint32_t)left / walked) + 1;
}

/* A check of all relations: what was read, and how many are broken. */
struct check {
    const struct core *c;
    void (*report)(void *context, const struct core_fault *fault);
    void *context;
    unsigned faults;
    uint64_t i, v, k;
    uint32_t inside, leaving, waiting, resizing; /* rows */
};

static void fault(struct check *check, enum core_relation broken, uint32_t a, uint32_t b)
{
    struct core_fault found = {broken, a, b};
    check->faults++;
    check->report(check->context, &found);
}

static void verify_rows(struct check *check)
{
    const struct core *c = check->c;
    uint32_t used = c->rows_used != NULL ? atomic_load(c->rows_used) : c->rows;
    for (uint32_t row = 0; row < c->rows; row++) {
        uint64_t word = row_word(c, row);
        switch (core_row_state(word)) {
        case CORE_IDLE:
            break;
        case CORE_WAITING:
            check->waiting++;
            break;
        case CORE_ENTERING:
            check->inside += core__names_i(check->i, row, core_row_cycle(word));
            break;
        case CORE_GRANTED:
            check->inside++;
            break;
        case CORE_LEAVING:
            check->leaving++;
            break;
        case CORE_GROWING:
        case CORE_SHRINKING:
            check->resizing++;
            break;
        default:
            fault(check, CORE_STATE_KNOWN, row, 0);
            break;
        }
        if (row >= used && core_row_state(word) != CORE_IDLE) {
            fault(check, CORE_ROW_OWNED, row, 0);
        }
    }
}

/* What I, V, K and the rows say together. A resize changes V before K: then V is not judged. */
static void verify_words(struct check *check)
{
    const struct core *c = check->c;
    int32_t ahead = core_ticket_after(core_v_valid(check->v), core_i_issue(check->i));
    uint32_t free = ahead > 0 ? (uint32_t)ahead : 0;
    uint32_t line = ahead < 0 ? (uint32_t)-ahead : 0;
    uint32_t seats = core_k_seats(check->k);
    uint32_t existing = seats + core_v_owed(check->v);
    uint32_t accounted = free + check->inside + check->leaving;
    if (seats > c->seats) {
        fault(check, CORE_SEATS_FIT, seats, c->seats);
    }
    if (free > existing && check->resizing == 0) {
        fault(check, CORE_VALID_BOUNDED, free, existing);
    }
    if (line > c->line_mask) {
        fault(check, CORE_LINE_FITS, line, c->line_mask + 1);
    }
    if (ahead >= 0 && check->resizing == 0 && accounted < existing) {
        fault(check, CORE_SEATS_ACCOUNTED, existing, accounted);
    }
    if (check->inside > existing && check->resizing == 0) {
        fault(check, CORE_HOLDERS_BOUNDED, check->inside, existing);
    }
}

static void verify_seats(struct check *check)
{
    const struct core *c = check->c;
    for (uint32_t s = 0; s < c->seats; s++) {
        uint64_t seat = word_at(c, c->at_seat + s);
        uint32_t rows[] = {core_seat_row(seat), core_seat_author(seat)};
        for (unsigned i = 0; i < 2; i++) {
            if (rows[i] != CORE_NOBODY && rows[i] >= c->rows) {
                fault(check, CORE_SEAT_ROWS_EXIST, s, rows[i]);
            }
        }
    }
    for (uint32_t row = 0; row < c->rows; row++) {
        uint32_t seat = core_hint_seat(word_at(c, core__hint_at(c, row)));
        if (seat != CORE_NO_SEAT && seat >= c->seats) {
            fault(check, CORE_HINTS_EXIST, row, seat);
        }
    }
}

static void verify_line(struct check *check)
{
    struct core_line_walk walk;
    uint64_t word;
    uint32_t row;
    uint32_t ticket;
    uint32_t found = 0;
    core_line_begin(check->c, &walk);
    while (core_line_next(check->c, &walk, &row, &word, &ticket)) {
        found++;
    }
    if (found < check->waiting) {
        fault(check, CORE_WAITERS_PLACED, check->waiting, found);
    }
}

unsigned core_verify(const struct core *c,
                     void (*report)(void *context, const struct core_fault *fault), void *context)
{
    struct check check = {.c = c,
                          .report = report,
                          .context = context,
                          .i = word_at(c, CORE_AT_I(c)),
                          .v = word_at(c, CORE_AT_V(c)),
                          .k = word_at(c, CORE_AT_K(c))};
    verify_rows(&check);
    verify_words(&check);
    verify_seats(&check);
    verify_line(&check);
    return check.faults;
}
