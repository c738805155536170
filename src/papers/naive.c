/*
 * (n,k)-NAIVE (Omori, Obokata, Motegi, Igarashi, 2002, section 2): the n-process algorithm of
 * Peterson (1981), with n-k levels in place of n-1. The shared variables are the registers level(i)
 * and turn(s) (levels.h). A process wins level s if no other process is at level s or above, or if
 * another process reached level s later.
 *
 *     property                 promised   decided for all k < n <= 4, k <= 3, and n = 5, k = 4
 *     at most k in C           yes        holds
 *     starvation               yes        holds
 *     progress, k-1 stopped    k = 1      violated for k >= 2: 1 1 2, stop 2, then 1 for ever
 *     lockout avoidance        k = 1      violated for k >= 2, by the same schedule
 *     avoidance of k-deadlock  no         violated
 *     FIFO enabling            no         violated
 *     overtakings              no         n = 2: at most 1; n >= 3: no bound
 *     prompt                   no         holds: 0 overtakings, n-1 entries of others
 *     any initial turn         yes        n <= 3: holds
 *     steps to enter alone     -          (n-k)(n+2), n <= 4
 *     shared values            n^(n-k) (n-k+1)^n
 *                                         holds
 *
 * For n = 5, k = 2 and 3 usher-lab check --reduced gives the same verdicts; the initial turn and
 * the steps to enter were not checked there.
 *
 * Difference from the print: the paper does not say in which order the condition reads the
 * registers. Here it reads them as check_i of EXCL does: all levels, then turn.
 */
#include "papers/levels.h"
#include "papers/papers.h"

static bool find(const struct step_system *system, unsigned process, unsigned number,
                 struct levels_competition *competition)
{
    unsigned fewer = LEVELS_HAS(system, LEVELS_ONE_FEWER) ? 1 : 0;
    (void)process;
    if (number + fewer >= system->n - system->k) {
        return false;
    }
    *competition = (struct levels_competition){.first = 0,
                                               .past = system->n,
                                               .turn = system->n + number,
                                               .level = number + 1,
                                               .bound = LEVELS_HAS(system, LEVELS_BOUND_MORE)};
    return true;
}

static int prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    if (levels_prepare(system, system->n - system->k, why) != 0) {
        return -1;
    }
    if (system->k > 1) { /* the paper promises nothing if a process stops */
        system->claims &= ~(STEP_CLAIM(STEP_PROGRESS) | STEP_CLAIM(STEP_LOCKOUT));
    }
    return 0;
}

static void step(const struct step_system *system, struct step_memory *memory, void *state,
                 unsigned process)
{
    levels_step(system, memory, state, process, find);
}

static bool heedless(const struct step_system *system, const void *state, unsigned process)
{
    return levels_heedless(system, state, process, find);
}

#define NAIVE(name_, title_, variant_)                                                             \
    {                                                                                              \
        .name = (name_), .title = (title_), .variant = (variant_), .prepare = prepare,             \
        .init = levels_init, .step = step, .region = levels_region, .heedless = heedless,          \
        .print_word = levels_flat_print_word, .bound = levels_flat_bound,                          \
        .space = &levels_flat_space                                                                \
    }

const struct step_machine papers_naive =
    NAIVE("naive", "(n,k)-NAIVE: Peterson's first n-k levels (2002, section 2)", 0);

const struct step_machine papers_mutant_naive_bound_more =
    NAIVE("mutant-naive-bound-more",
          "(n,k)-NAIVE, a level is won with one other process there or above", LEVELS_BOUND_MORE);

const struct step_machine papers_mutant_naive_one_fewer =
    NAIVE("mutant-naive-one-fewer", "(n,k)-NAIVE, n-k-1 levels", LEVELS_ONE_FEWER);
