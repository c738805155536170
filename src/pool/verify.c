/*
 * Every relation that always holds in a pool, looked at one by one: usher_verify. core.h and
 * words.h say why they hold.
 */
#include "core/parts.h"
#include "pool/pool.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

struct report {
    void (*say)(void *context, const char *sentence);
    void *context;
    int faults;
};

static __attribute__((format(printf, 2, 3))) void fault(struct report *report, const char *format,
                                                        ...)
{
    char sentence[256];
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is just above */
    (void)vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    report->faults++;
    if (report->say != NULL) {
        report->say(report->context, sentence);
    }
}

/* What the words say together. */
struct sums {
    uint64_t i, v, k;
    uint32_t inside, leaving, waiting, resizing;
};

static void verify_words(const struct usher_pool *pool, const struct sums *sums,
                         struct report *report)
{
    int32_t ahead = core_ticket_after(core_v_valid(sums->v), core_i_issue(sums->i));
    uint32_t seats = core_k_seats(sums->k);
    uint32_t owed = core_v_owed(sums->v);
    if (seats > pool->core.seats) {
        fault(report, "The pool says it has %u seats, but there is room for %u.", seats,
              pool->core.seats);
    }
    if (ahead > (int32_t)(seats + owed) && sums->resizing == 0) {
        fault(report, "%d tickets are valid and not taken, but there are only %u seats.", ahead,
              seats + owed);
    }
    if (-ahead > (int32_t)pool->core.line_mask) {
        fault(report, "The line is %d places long, but it has only %u.", -ahead,
              pool->core.line_mask + 1);
    }
    /* Each seat is either a ticket that waits to be taken, or with somebody inside or leaving. */
    int32_t accounted = (ahead > 0 ? ahead : 0) + (int32_t)(sums->inside + sums->leaving);
    if (ahead >= 0 && sums->resizing == 0 && accounted < (int32_t)(seats + owed)) {
        fault(report, "Of %u seats only %d are accounted for: a seat is lost.", seats + owed,
              accounted);
    }
    if (sums->inside > seats + owed && sums->resizing == 0) {
        fault(report, "%u hold a seat, but there are only %u seats.", sums->inside, seats + owed);
    }
}

static void verify_rows(const struct usher_pool *pool, struct sums *sums, struct report *report)
{
    for (uint32_t row = 0; row < pool->core.rows; row++) {
        uint64_t word = usher__row_word(pool, row);
        switch (core_row_state(word)) {
        case CORE_IDLE:
            break;
        case CORE_WAITING:
            sums->waiting++;
            break;
        case CORE_ENTERING:
            sums->inside += core__names_i(sums->i, row, core_row_cycle(word));
            break;
        case CORE_GRANTED:
            sums->inside++;
            break;
        case CORE_LEAVING:
            sums->leaving++;
            break;
        case CORE_GROWING:
        case CORE_SHRINKING:
            sums->resizing++;
            break;
        default:
            fault(report, "Guest row %u is in no state that there is.", row);
            break;
        }
        if (row >= usher__rows_used(pool) && core_row_state(word) != CORE_IDLE) {
            fault(report, "Guest row %u is in use, but the pool says that it never was.", row);
        }
    }
}

static void verify_seats(const struct usher_pool *pool, struct report *report)
{
    for (uint32_t s = 0; s < pool->core.seats; s++) {
        uint64_t seat = atomic_load(&pool->core.words[pool->core.at_seat + s]);
        uint32_t rows[] = {core_seat_row(seat), core_seat_author(seat)};
        for (unsigned i = 0; i < 2; i++) {
            if (rows[i] != CORE_NOBODY && rows[i] >= pool->core.rows) {
                fault(report, "Seat %u names guest row %u, which does not exist.", s, rows[i]);
            }
        }
    }
    for (uint32_t row = 0; row < pool->core.rows; row++) {
        uint32_t seat = core_own_seat(atomic_load(&pool->rows[row].own));
        if (seat != CORE_NO_SEAT && seat >= pool->core.seats) {
            fault(report, "Guest row %u says it has seat %u, which does not exist.", row, seat);
        }
    }
}

static void verify_line(const struct usher_pool *pool, const struct sums *sums,
                        struct report *report)
{
    struct line_walk walk;
    uint64_t word;
    uint32_t row;
    uint32_t ticket;
    uint32_t found = 0;
    usher__line_begin(pool, &walk);
    while (usher__line_next(pool, &walk, &row, &word, &ticket)) {
        found++;
    }
    if (found < sums->waiting) {
        fault(report, "%u guests wait, but only %u have a place in line.", sums->waiting, found);
    }
}

int usher_verify(const struct usher_pool *pool, void (*say)(void *context, const char *sentence),
                 void *context)
{
    struct report report = {say, context, 0};
    const struct core *c = &pool->core;
    if (pool->module != NULL) {
        int refused = usher__remote_usable(pool);
        return refused != 0 ? refused : pool->module->verify(pool->remote, say, context);
    }
    int error = usher__pool_usable(pool);
    if (error != 0) {
        return error;
    }
    struct sums sums = {.i = atomic_load(&c->words[CORE_AT_I(c)]),
                        .v = atomic_load(&c->words[CORE_AT_V(c)]),
                        .k = atomic_load(&c->words[CORE_AT_K(c)])};
    if (pool->shared && format_check(&pool->header->shape) != pool->header->check) {
        fault(&report, "The header's sum is not right.");
    }
    verify_rows(pool, &sums, &report);
    verify_words(pool, &sums, &report);
    verify_seats(pool, &report);
    verify_line(pool, &sums, &report);
    return report.faults;
}
