/*
 * usher_verify: check every relation that always holds in a pool at rest, and say which are broken.
 * core/query.h has the relations, core.h and words.h why they hold.
 */
#include "core/query.h"
#include "pool/pool.h"

#include <stdio.h>

struct report {
    void (*say)(void *context, const char *sentence);
    void *context;
};

/* Put the sentence for a fault into `out`. */
static void describe(const struct core_fault *fault, char *out, size_t size)
{
    unsigned a = fault->a;
    unsigned b = fault->b;
    switch (fault->broken) {
    case CORE_STATE_KNOWN:
        (void)snprintf(out, size, "Guest row %u has a state that does not exist.", a);
        break;
    case CORE_ROW_OWNED:
        (void)snprintf(out, size,
                       "Guest row %u is in use, but the pool says that it was never owned.", a);
        break;
    case CORE_SEATS_FIT:
        (void)snprintf(out, size, "The pool says it has %u seats, but there is room for %u.", a, b);
        break;
    case CORE_VALID_BOUNDED:
        (void)snprintf(out, size,
                       "%u tickets are valid and not taken, but there are only %u seats.", a, b);
        break;
    case CORE_LINE_FITS:
        (void)snprintf(out, size, "The line is %u places long, but it has only %u.", a, b);
        break;
    case CORE_SEATS_ACCOUNTED:
        (void)snprintf(out, size, "Of %u seats only %u are accounted for: a seat is lost.", a, b);
        break;
    case CORE_HOLDERS_BOUNDED:
        (void)snprintf(out, size, "%u guests hold a seat, but there are only %u seats.", a, b);
        break;
    case CORE_SEAT_ROWS_EXIST:
        (void)snprintf(out, size, "Seat %u names guest row %u, which does not exist.", a, b);
        break;
    case CORE_HINTS_EXIST:
        (void)snprintf(out, size, "Guest row %u names seat %u, which does not exist.", a, b);
        break;
    case CORE_WAITERS_PLACED:
        (void)snprintf(out, size, "%u guests wait, but only %u have a place in line.", a, b);
        break;
    }
}

static void report_fault(void *context, const struct core_fault *fault)
{
    const struct report *report = context;
    char sentence[256];
    if (report->say != NULL) {
        describe(fault, sentence, sizeof sentence);
        report->say(report->context, sentence);
    }
}

int usher_verify(const struct usher_pool *pool, void (*say)(void *context, const char *sentence),
                 void *context)
{
    struct report report = {say, context};
    if (pool->module != NULL) {
        int refused = usher__remote_usable(pool);
        return refused != 0 ? refused : pool->module->verify(pool->remote, say, context);
    }
    int error = usher__pool_usable(pool);
    if (error != 0) {
        return error;
    }
    int faults = 0;
    if (pool->shared && format_check(&pool->header->shape) != pool->header->check) {
        faults++;
        if (say != NULL) {
            say(context, "The header's checksum is wrong.");
        }
    }
    return faults + (int)core_verify(&pool->core, report_fault, &report);
}
