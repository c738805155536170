/*
 * (n,k)-NAIVE (Omori, Obokata, Motegi, Igarashi, 2002, section 2): the n-process algorithm of
 * Peterson (1981) with its first n-k levels only. A level is won when nobody else is there or
 * above, or when somebody came to it later.
 *
 *     property                 promised   decided for all k < n <= 4, k <= 3, and n = 5, k = 4
 *     at most k in C           yes        holds
 *     starvation               yes        holds
 *     progress, k-1 stopped    k = 1      violated for k >= 2: 1 1 2, stop 2, then 1 for ever
 *     lockout avoidance        k = 1      violated for k >= 2, by the same
 *     avoidance of k-deadlock  no         violated
 *     FIFO enabling            no         violated
 *     overtakings              no         n = 2: at most 1; n >= 3: no bound
 *     prompt                   no         holds, at most 0; others enter n-1 times
 *     turn begins as it likes  yes        n <= 3: holds
 *     steps to enter alone     -          (n-k)(n+2), n <= 4
 *     shared values            n^(n-k) (n-k+1)^n
 *                                         holds
 *
 * (For n = 5, k = 2 and 3 the same, by usher-lab check --reduced; turn and steps were not tried.)
 *
 * How the condition is read is not printed. Here it is read as check_i of EXCL reads its own: all
 * levels, then turn.
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
    if (system->k > 1) { /* the paper promises nothing if one stops */
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
    NAIVE("mutant-naive-bound-more", "(n,k)-NAIVE, one other may be that far", LEVELS_BOUND_MORE);

const struct step_machine papers_mutant_naive_one_fewer =
    NAIVE("mutant-naive-one-fewer", "(n,k)-NAIVE, n-k-1 levels", LEVELS_ONE_FEWER);
