/*
 * The Colored Ticket Algorithm (1989 paper, Figs 2, 4, 6, 7). The shared variable is ISSUE, VALID
 * and QUANT (tickets/colored.h).
 *
 *     property                 promised   decided for all n <= 5, k <= 3
 *     at most k in C           yes        holds
 *     avoidance of k-deadlock  yes        holds
 *     FIFO enabling            yes        holds, 0 overtakings
 *     prompt                   no         holds: 0 overtakings, n-1 entries of others if k < n
 *     lockout avoidance        yes        holds, with any k-1 stopped
 *     k-queuelike (1979: C6)   yes, k<n   holds
 *     equivalent to queue      yes        holds
 *     shared values            at most binom(2k,k) ((k+1) M)^2, M = 1+max(k,n-k)
 *                                         holds; n=3,k=1: 24 values, 186 states;
 *                                         n=4,k=2: 123 values, 16,311 states
 *
 * Differences from the print: QUANT starts as k,0,..,0 (Fig. 7 prints all 0), and LEADS on equal
 * colours is >= (Fig. 4 prints >). colored_printed.c is the printed version.
 */
#include "papers/basic_ticket.h"
#include "papers/colored_machine.h"
#include "papers/papers.h"

static int prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    return colored_machine_prepare(system, colored_paper_m(system->n, system->k), why);
}

static void init(const struct step_system *system, uint64_t *words)
{
    words[0] = colored_start(colored_machine_shape(system));
}

static void step(const struct step_system *system, struct step_memory *memory, void *state,
                 unsigned process)
{
    step_update(system, memory, 0, colored_machine_delta, state, process);
}

const struct step_machine papers_colored = {
    .name = "colored",
    .title = "Colored Ticket Algorithm (1989, Figs 2, 4, 6, 7)",
    .anonymous = true,
    .one_step_enabled = true,
    .prepare = prepare,
    .init = init,
    .step = step,
    .region = basic_ticket_region,
    .print_word = colored_machine_print_word,
    .bound = colored_machine_bound,
    .space = &colored_machine_space,
};
