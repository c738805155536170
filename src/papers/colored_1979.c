/*
 * The Colored Ticket Algorithm of the 1979 report (Theorem 4.2). The shared variable is ISSUE,
 * VALID and QUANT, with blocks of N tickets. A process always passes through the trying region:
 * taking a ticket and testing it are two steps.
 *
 *     property                 promised   decided for all k < n <= 4, k <= 3 (n = 5 by make model)
 *     at most k in C           yes        holds
 *     avoidance of k-deadlock  (1989)     holds
 *     (r,k)-deadlock-free, C2  any r      holds
 *     FIFO enabling, C5'       yes        holds, 0 overtakings
 *     prompt                   no         holds: 0 overtakings, n-1 entries of others if k < n
 *     k-queuelike, C6          yes        holds
 *     equivalent to a queue    (1989)     to queue-two-step, not to queue
 *     shared values            binom(2k-1,k) (k+1)^2 N^2 as printed
 *                                         holds (the initial value included)
 *
 * Differences from the print: the report numbers tickets 1..N and starts with ISSUE = (N, k), VALID
 * = (k, 0). Here VALUE is that number less one, so tickets are those of src/tickets/colored.h with
 * M = N. The algorithm needs k < N: otherwise the two pointers do not determine which of them
 * leads.
 */
#include "papers/basic_ticket.h"
#include "papers/colored_machine.h"
#include "papers/papers.h"

#include <stdio.h>

static int prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    if (system->k >= system->n) {
        (void)snprintf(why, STEP_WHY_BYTES, "colored-1979 needs k < n (k=%u, n=%u)", system->k,
                       system->n);
        return -1;
    }
    return colored_machine_prepare(system, system->n, why);
}

static void init(const struct step_system *system, uint64_t *words)
{
    const struct colored_shape *shape = colored_machine_shape(system);
    words[0] =
        colored_word(shape, colored_ticket(shape, shape->n - 1, shape->k),
                     colored_ticket(shape, shape->k - 1, 0), quant_rank(quant_all_first(shape->k)));
}

static void step(const struct step_system *system, struct step_memory *memory, void *state,
                 unsigned process)
{
    step_update(system, memory, 0, colored_machine_delta_two_steps, state, process);
}

/* VALID's colour always has a ticket, so each VALID occurs with at most binom(2k-1, k) QUANT
   vectors. */
static double bound(const struct step_system *system)
{
    return colored_machine_bound(system) / 2;
}

static const struct step_space space = {
    .bits = colored_machine_bits,
    .says = "log2(binom(2k-1,k) (k+1)^2 n^2) (1979, Theorem 4.2)",
    .note = "The theorem counts values, and for each VALID only the QUANT that can occur with it; "
            "here each of the five variables has whole bits.",
};

const struct step_machine papers_colored_1979 = {
    .name = "colored-1979",
    .title = "Colored tickets, first version (1979, Theorem 4.2)",
    .anonymous = true,
    .one_step_enabled = true,
    .prepare = prepare,
    .init = init,
    .step = step,
    .region = basic_ticket_region,
    .print_word = colored_machine_print_word,
    .bound = bound,
    .space = &space,
};
