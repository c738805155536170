/*
 * The Unbounded Colored Ticket Algorithm (1989 paper, Figs 2, 4 and 5): blocks of M tickets, and a
 * new colour for every block. It is the step between numbered and colored tickets. The shared
 * variable is ISSUE and VALID, each a pair of VALUE and COLOR.
 *
 *     property                 promised   decided for all n <= 5, k <= 3
 *     at most k in C           yes        holds
 *     avoidance of k-deadlock  yes        holds
 *     FIFO enabling            yes        holds, 0 overtakings
 *     prompt                   no         holds: 0 overtakings, n-1 entries of others if k < n
 *     lockout avoidance        yes        holds, with any k-1 stopped
 *     k-queuelike (1979: C6)   yes, k<n   holds
 *     equivalent to queue      yes        holds
 *     shared values            unbounded (colours)
 */
#include "papers/basic_ticket.h"
#include "papers/papers.h"
#include "tickets/colored.h"

#include <stdio.h>
#include <string.h>

/*
 * The shared word: ISSUE in the high half, VALID in the low half, each
 *
 *     31            12 11          0
 *    +----------------+-------------+
 *    |     COLOR      |    VALUE    |
 *    +----------------+-------------+
 *
 * Colours are compared for equality only. In a real run they wrap after 2^20 blocks. A process
 * would go wrong only if it slept that long between two tests of its ticket.
 */
enum { VALUE_BITS = 12, COLOR_BITS = 20, COLOR_MASK = (1 << COLOR_BITS) - 1 };

static uint32_t ticket_of(uint32_t value, uint32_t color)
{
    return (color & COLOR_MASK) << VALUE_BITS | value;
}

static uint32_t value_of(uint32_t ticket)
{
    return ticket & ((1U << VALUE_BITS) - 1);
}

static uint32_t color_of(uint32_t ticket)
{
    return ticket >> VALUE_BITS;
}

static uint32_t issue_of(uint64_t word)
{
    return (uint32_t)(word >> 32);
}

static uint32_t valid_of(uint64_t word)
{
    return (uint32_t)word;
}

static uint64_t word_of(uint32_t issue, uint32_t valid)
{
    return (uint64_t)issue << 32 | valid;
}

static int prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    uint32_t m = colored_paper_m(system->n, system->k);
    if (m > 1U << VALUE_BITS) {
        (void)snprintf(why, STEP_WHY_BYTES, "blocks of %u tickets do not fit (at most %u)", m,
                       1U << VALUE_BITS);
        return -1;
    }
    memcpy(system->constants, &m, sizeof m);
    system->shared_words = 1;
    system->private_bytes = sizeof(struct basic_ticket_state);
    system->claims = papers_queuelike_claims(system);
    return 0;
}

static void init(const struct step_system *system, uint64_t *words)
{
    words[0] = word_of(ticket_of(0, 0), ticket_of(system->k, 0));
}

/* Fig. 4, with >= where the scan prints > on equal colours. */
static bool leads(uint32_t a, uint32_t b)
{
    if (color_of(a) == color_of(b)) {
        return value_of(a) >= value_of(b);
    }
    return value_of(a) < value_of(b);
}

static bool is_valid(const struct step_system *system, uint64_t word, uint32_t ticket)
{
    (void)system;
    if (color_of(ticket) == color_of(valid_of(word))) {
        return value_of(ticket) <= value_of(valid_of(word));
    }
    if (color_of(ticket) == color_of(issue_of(word))) {
        return leads(valid_of(word), issue_of(word));
    }
    return true;
}

/* Fig. 5, for ISSUE and for VALID. */
static uint32_t next(const struct step_system *system, uint32_t ticket)
{
    uint32_t m;
    memcpy(&m, system->constants, sizeof m);
    if (value_of(ticket) < m - 1) {
        return ticket + 1;
    }
    return ticket_of(0, color_of(ticket) + 1);
}

static uint64_t take(const struct step_system *system, uint64_t word, uint32_t *ticket)
{
    *ticket = next(system, issue_of(word));
    return word_of(*ticket, valid_of(word));
}

static uint64_t validate(const struct step_system *system, uint64_t word, uint32_t ticket)
{
    (void)ticket;
    return word_of(issue_of(word), next(system, valid_of(word)));
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
 * Canonical form: shift the colours so that the lower of ISSUE's and VALID's is 1, and write (0,0)
 * for every ticket whose colour is below both. Sound:
 *
 * - Colours are compared for equality only, so a shift changes no future.
 * - A colour that both pointers have left does not return. Such a ticket always takes the last
 *   branch of Fig. 4, and Fig. 5 ignores the ticket that is discarded.
 */
static void rebase(const struct step_system *system, uint64_t *words, void *states)
{
    uint32_t issue = issue_of(words[0]);
    uint32_t valid = valid_of(words[0]);
    uint32_t low = color_of(issue) < color_of(valid) ? color_of(issue) : color_of(valid);
    for (unsigned i = 0; i < system->n; i++) {
        struct basic_ticket_state *x = step_state_of(system, states, i);
        if (x->region != STEP_REMAINDER) {
            uint32_t color = color_of(x->ticket);
            x->ticket = color < low ? 0 : ticket_of(value_of(x->ticket), color - low + 1);
        }
    }
    words[0] = word_of(ticket_of(value_of(issue), color_of(issue) - low + 1),
                       ticket_of(value_of(valid), color_of(valid) - low + 1));
}

static int print_word(const struct step_system *system, unsigned word, uint64_t value, char *out,
                      size_t size)
{
    uint32_t issue = issue_of(value);
    uint32_t valid = valid_of(value);
    (void)system;
    (void)word;
    return snprintf(out, size, "ISSUE=(%u,%u) VALID=(%u,%u)", value_of(issue), color_of(issue),
                    value_of(valid), color_of(valid));
}

static unsigned bits(const struct step_system *system, unsigned word)
{
    (void)word;
    return 2 * (COLOR_BITS + step_bits_of(colored_paper_m(system->n, system->k)));
}

static const struct step_space space = {
    .bits = bits,
    .says = "no bound: every block has a new colour (1989, Fig. 5)",
    .note = "There is no bound; here colours are kept modulo 2^20.",
};

const struct step_machine papers_colored_unbounded = {
    .name = "colored-unbounded",
    .title = "Unbounded Colored Ticket Algorithm (1989, Fig. 5)",
    .anonymous = true,
    .unbounded = true,
    .one_step_enabled = true,
    .prepare = prepare,
    .init = init,
    .step = step,
    .region = basic_ticket_region,
    .rebase = rebase,
    .print_word = print_word,
    .space = &space,
};
