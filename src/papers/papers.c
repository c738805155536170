/* The list of the published algorithms: see papers.h. */
#include "papers/papers.h"

#include <string.h>

const struct step_machine *const papers_all[] = {
    &papers_semaphore,
    &papers_bank,
    &papers_queue,
    &papers_queue_two_step,
    &papers_numbered,
    &papers_colored_unbounded,
    &papers_colored,
    &papers_colored_tight,
    &papers_colored_printed,
    &papers_colored_1979,
    &papers_naive,
    &papers_excl,
    &papers_gtex,
    &papers_fife,
    &papers_fife_bounded,
    &papers_fife_atomic,
    &papers_peek_queue,
    &papers_dqb,
    &papers_sq2,
    &papers_bucket,
    &papers_bucket_eliminated,
    &papers_hidden_queue_supervised,
    &papers_hidden_queue,
    NULL,
};

static const struct step_machine *find(const struct step_machine *const *list, const char *name)
{
    for (; *list != NULL; list++) {
        if (strcmp((*list)->name, name) == 0) {
            return *list;
        }
    }
    return NULL;
}

const struct step_machine *papers_find(const char *name)
{
    const struct step_machine *machine = find(papers_all, name);
    return machine != NULL ? machine : find(papers_mutants, name);
}

unsigned papers_queuelike_claims(const struct step_system *system)
{
    unsigned claims = STEP_CLAIM(STEP_EXCLUSION) | STEP_CLAIM(STEP_DEADLOCK) |
                      STEP_CLAIM(STEP_FIFO) | STEP_CLAIM(STEP_C1) | STEP_CLAIM(STEP_C2) |
                      STEP_CLAIM(STEP_C4) | STEP_CLAIM(STEP_C5) | STEP_CLAIM(STEP_PROGRESS) |
                      STEP_CLAIM(STEP_LOCKOUT) | STEP_CLAIM(STEP_STARVATION) |
                      STEP_CLAIM(STEP_OVERTAKINGS);
    /* C6 counts every process that could enter with its next step: with k = n, processes in R
       too. */
    return system->k < system->n ? claims | STEP_CLAIM(STEP_C6) : claims;
}
