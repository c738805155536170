/*
 * Fig. 2 of the 1989 paper, the basic ticket algorithm, for any kind of ticket. A ticket algorithm
 * supplies three operations; this file has the process that calls them.
 */
#ifndef USHER_PAPERS_BASIC_TICKET_H
#define USHER_PAPERS_BASIC_TICKET_H

#include "step/step.h"

/* Private state. All zero: in the remainder, without a ticket. */
struct basic_ticket_state {
    uint32_t region; /* enum step_region; also the program counter */
    uint32_t ticket; /* local variable TICKET; 0 in the remainder */
};

struct basic_ticket {
    /* TAKE_NEXT_TICKET: return the new value of shared memory, and set the ticket. */
    uint64_t (*take)(const struct step_system *system, uint64_t value, uint32_t *ticket);
    /* IS_VALID(T) */
    bool (*is_valid)(const struct step_system *system, uint64_t value, uint32_t ticket);
    /* VALIDATE_NEXT_TICKET(T) */
    uint64_t (*validate)(const struct step_system *system, uint64_t value, uint32_t ticket);
    /* 1979: taking the ticket and testing it are two steps */
    bool enters_in_two_steps;
};

/* One `start .. finish` of Fig. 2. */
uint64_t basic_ticket_delta(const struct basic_ticket *tickets, const struct step_system *system,
                            uint64_t value, struct basic_ticket_state *x);

enum step_region basic_ticket_region(const struct step_system *system, const void *state);

#endif
