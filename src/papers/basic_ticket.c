/* Fig. 2 of the 1989 paper: see basic_ticket.h. */
#include "papers/basic_ticket.h"

uint64_t basic_ticket_delta(const struct basic_ticket *tickets, const struct step_system *system,
                            uint64_t value, struct basic_ticket_state *x)
{
    switch ((enum step_region)x->region) {
    case STEP_REMAINDER: /* start; TICKET := TAKE_NEXT_TICKET; */
        value = tickets->take(system, value, &x->ticket);
        x->region = STEP_TRYING;
        if (tickets->enters_in_two_steps) {
            return value;
        }
        /* fall through */
    case STEP_TRYING: /* wait until IS_VALID(TICKET); finish; */
        if (tickets->is_valid(system, value, x->ticket)) {
            x->region = STEP_CRITICAL;
        }
        return value;
    case STEP_CRITICAL: /* start; VALIDATE_NEXT_TICKET(TICKET); finish; */
        value = tickets->validate(system, value, x->ticket);
        x->region = STEP_REMAINDER;
        x->ticket = 0;
        return value;
    case STEP_EXIT: /* unused: a process leaves in a single step */
        break;
    }
    return value;
}

enum step_region basic_ticket_region(const struct step_system *system, const void *state)
{
    (void)system;
    return (enum step_region)((const struct basic_ticket_state *)state)->region;
}
