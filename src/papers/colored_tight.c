/*
 * The Colored Ticket Algorithm with the smallest blocks (1989 paper, footnote 2): M = max(k, N-k).
 * The shared variable is that of colored.c. The footnote excepts k = N-k; exploration finds that it
 * works there too.
 *
 *     property                 promised   decided for all n <= 5, k <= 3, k < n
 *     at most k in C           k != n-k   holds, also for k = n-k
 *     FIFO enabling            k != n-k   holds, also for k = n-k
 *     prompt                   no         holds: 0 overtakings, n-1 entries of others if k < n
 *     equivalent to queue      k != n-k   holds, also for k = n-k
 *     one smaller still        no         violated (mutant-m-too-small)
 *
 * If M = k, ticket (k,0) does not exist: the initial value is VALID = (0,1), QUANT = k-1,1,0,..
 */
#include "papers/basic_ticket.h"
#include "papers/colored_machine.h"
#include "papers/papers.h"

#include <stdio.h>

enum { ONE_TOO_SMALL = 1 << 16 }; /* beside the bits of enum colored_broken */

static int prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    uint32_t m = colored_paper_m(system->n, system->k) - 1;
    if (system->machine->variant & ONE_TOO_SMALL) {
        m--;
    }
    if (system->k >= system->n || m < 1) {
        (void)snprintf(why, STEP_WHY_BYTES, "%s needs k < n and blocks of at least one ticket",
                       system->machine->name);
        return -1;
    }
    return colored_machine_prepare(system, m, why);
}

static void init(const struct step_system *system, uint64_t *words)
{
    const struct colored_shape *shape = colored_machine_shape(system);
    uint32_t all_first = quant_all_first(shape->k);
    if (shape->k < shape->m) {
        words[0] = colored_start(shape);
        return;
    }
    /* VALID is the k-th ticket after (0,0). It is in the second block, of which k-(m-1) tickets are
       valid. */
    uint32_t row = all_first;
    for (uint32_t in_second = shape->k - (shape->m - 1); in_second > 0; in_second--) {
        row = quant_move(shape->k, row, 0, 1);
    }
    words[0] =
        colored_word(shape, 0, colored_ticket(shape, shape->k - shape->m, 1), quant_rank(row));
}

static void step(const struct step_system *system, struct step_memory *memory, void *state,
                 unsigned process)
{
    step_update(system, memory, 0, colored_machine_delta, state, process);
}

const struct step_machine papers_colored_tight = {
    .name = "colored-tight",
    .title = "Colored Ticket with the smallest blocks (1989, footnote 2)",
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

const struct step_machine papers_mutant_m_too_small = {
    .name = "mutant-m-too-small",
    .title = "Colored Ticket with blocks one smaller than the smallest",
    .variant = ONE_TOO_SMALL,
    .anonymous = true,
    .one_step_enabled = true,
    .prepare = prepare,
    .init = init,
    .step = step,
    .region = basic_ticket_region,
    .print_word = colored_machine_print_word,
};
