/*
 * (n,k)-EXCL (Omori, Obokata, Motegi, Igarashi, 2002, section 3). The shared variables are the
 * registers level(i) and turn(s) (levels.h). As NAIVE, but a process wins level s if at most n-s-1
 * others are at level s or above. So up to k-1 stopped processes at higher levels block no other
 * process.
 *
 *     property                 promised   decided for all k < n <= 4, k <= 3, and n = 5, k = 4
 *     at most k in C           yes        holds
 *     progress, k-1 stopped    yes        holds
 *     lockout avoidance        yes        holds, with any k-1 stopped
 *     starvation               yes        holds
 *     avoidance of k-deadlock  no         violated
 *     FIFO enabling            no         violated
 *     overtakings              no         n = 2: at most 1; n >= 3: no bound
 *     prompt                   no         holds: 0 overtakings, n-1 entries of others
 *     any initial turn         yes        n <= 3: holds
 *     steps to enter if only   -          (n-k)(n+2), n <= 4
 *       k processes take part
 *     shared values            n^(n-k) (n-k+1)^n
 *                                         holds
 *
 * check_i is as printed: one step for each level(j), then one step for turn.
 */
#include "papers/levels.h"
#include "papers/papers.h"

/* A process wins level s = number + 1 if at most n-s-1 others are at level s or above. */
static bool find(const struct step_system *system, unsigned process, unsigned number,
                 struct levels_competition *competition)
{
    unsigned fewer = LEVELS_HAS(system, LEVELS_ONE_FEWER) ? 1 : 0;
    int bound = (int)(system->n - number) - 2 + LEVELS_HAS(system, LEVELS_BOUND_MORE) -
                LEVELS_HAS(system, LEVELS_BOUND_LESS);
    (void)process;
    if (number + fewer >= system->n - system->k) {
        return false;
    }
    *competition = (struct levels_competition){.first = 0,
                                               .past = system->n,
                                               .turn = system->n + number,
                                               .level = number + 1,
                                               .bound = bound};
    return true;
}

static int prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    return levels_prepare(system, system->n - system->k, why);
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

#define EXCL(name_, title_, variant_)                                                              \
    {                                                                                              \
        .name = (name_), .title = (title_), .variant = (variant_), .prepare = prepare,             \
        .init = levels_init, .step = step, .region = levels_region, .heedless = heedless,          \
        .print_word = levels_flat_print_word, .bound = levels_flat_bound,                          \
        .space = &levels_flat_space                                                                \
    }

const struct step_machine papers_excl = EXCL("excl", "(n,k)-EXCL (2002, section 3)", 0);

const struct step_machine papers_mutant_excl_no_turn =
    EXCL("mutant-excl-no-turn", "(n,k)-EXCL, the check does not read turn", LEVELS_NO_TURN);

const struct step_machine papers_mutant_excl_turn_first =
    EXCL("mutant-excl-turn-first", "(n,k)-EXCL, turn is written before level", LEVELS_TURN_FIRST);

const struct step_machine papers_mutant_excl_above = EXCL(
    "mutant-excl-above", "(n,k)-EXCL, processes at the same level are not counted", LEVELS_ABOVE);

const struct step_machine papers_mutant_excl_stay =
    EXCL("mutant-excl-stay", "(n,k)-EXCL, a leaving process stays at level 1", LEVELS_STAY);

const struct step_machine papers_mutant_excl_count_on =
    EXCL("mutant-excl-count-on", "(n,k)-EXCL, count is not reset", LEVELS_COUNT_ON);

const struct step_machine papers_mutant_excl_bound_more =
    EXCL("mutant-excl-bound-more", "(n,k)-EXCL, bound n-s for n-s-1", LEVELS_BOUND_MORE);

const struct step_machine papers_mutant_excl_bound_less =
    EXCL("mutant-excl-bound-less", "(n,k)-EXCL, bound n-s-2 for n-s-1", LEVELS_BOUND_LESS);

const struct step_machine papers_mutant_excl_one_fewer =
    EXCL("mutant-excl-one-fewer", "(n,k)-EXCL, n-k-1 levels", LEVELS_ONE_FEWER);
