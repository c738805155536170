/*
 * The Numbered Ticket Algorithm (1989 paper, Figs 2 and 3). The shared variable is ISSUE, the last
 * ticket taken, and VALID, the last ticket made valid (tickets/numbered.h).
 *
 *     property                 promised   decided for all n <= 5, k <= 3
 *     at most k in C           yes        holds
 *     avoidance of k-deadlock  yes        holds
 *     FIFO enabling            yes        holds, 0 overtakings
 *     prompt                   no         holds: 0 overtakings, n-1 entries of others if k < n
 *     lockout avoidance        yes        holds, with any k-1 stopped
 *     k-queuelike (1979: C6)   yes, k<n   holds
 *     equivalent to queue      yes        holds
 *     shared values            unbounded
 */
#include "tickets/numbered.h"
#include "papers/basic_ticket.h"
#include "papers/papers.h"

#include <stdio.h>

static int prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    (void)why;
    system->shared_words = 1;
    system->private_bytes = sizeof(struct basic_ticket_state);
    system->claims = papers_queuelike_claims(system);
    return 0;
}

static void init(const struct step_system *system, uint64_t *words)
{
    words[0] = numbered_start(system->k);
}

static uint64_t take(const struct step_system *system, uint64_t value, uint32_t *ticket)
{
    (void)system;
    value = numbered_take(value);
    *ticket = numbered_issue(value);
    return value;
}

static bool is_valid(const struct step_system *system, uint64_t value, uint32_t ticket)
{
    (void)system;
    return numbered_is_valid(value, ticket);
}

static uint64_t validate(const struct step_system *system, uint64_t value, uint32_t ticket)
{
    (void)system;
    (void)ticket;
    return numbered_validate(value);
}

static uint64_t delta(const struct step_system *system, uint64_t value, void *state,
                      unsigned process)
{
    static const struct basic_ticket tickets = {take, is_valid, validate, false};
    (void)process;
    return basic_ticket_delta(&tickets, system, value, state);
}

static void step(const struct step_system *system, struct step_memory *memory, void *state,
                 unsigned process)
{
    step_update(system, memory, 0, delta, state, process);
}

/*
 * Canonical form: shift all tickets so that VALID = k, and write 0 for every valid ticket. Sound:
 *
 * - Steps use only differences between tickets, VALID and ISSUE, so a shift changes no future.
 * - VALID only grows, so a valid ticket stays valid. Validating ignores the ticket that is
 *   discarded. So it does not matter which valid ticket a process holds.
 */
static void rebase(const struct step_system *system, uint64_t *words, void *states)
{
    uint32_t shift = numbered_valid(words[0]) - system->k;
    for (unsigned i = 0; i < system->n; i++) {
        struct basic_ticket_state *x = step_state_of(system, states, i);
        if (x->region != STEP_REMAINDER) {
            x->ticket = numbered_is_valid(words[0], x->ticket) ? 0 : x->ticket - shift;
        }
    }
    words[0] = numbered_word(numbered_issue(words[0]) - shift, system->k);
}

static int print_word(const struct step_system *system, unsigned word, uint64_t value, char *out,
                      size_t size)
{
    (void)system;
    (void)word;
    return snprintf(out, size, "ISSUE=%u VALID=%u", numbered_issue(value), numbered_valid(value));
}

static unsigned bits(const struct step_system *system, unsigned word)
{
    (void)system;
    (void)word;
    return 64;
}

static const struct step_space space = {
    .bits = bits,
    .says = "no bound: tickets grow (1989, Fig. 3)",
    .note = "There is no bound; here ISSUE and VALID are kept modulo 2^32.",
};

const struct step_machine papers_numbered = {
    .name = "numbered",
    .title = "Numbered Ticket Algorithm (1989, Fig. 3)",
    .unbounded = true,
    .anonymous = true,
    .one_step_enabled = true,
    .prepare = prepare,
    .init = init,
    .step = step,
    .region = basic_ticket_region,
    .rebase = rebase,
    .print_word = print_word,
    .space = &space,
};
