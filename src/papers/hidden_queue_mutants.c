/* The hidden queue with one guard dropped in each mutant: see hidden_queue.h. */
#include "papers/hidden_queue.h"

#define MUTANT(name_, title_, variant_)                                                            \
    {                                                                                              \
        .name = "mutant-hidden-" name_, .title = "Hidden queue, " title_, .variant = (variant_),   \
        .subject = &papers_hidden_queue_system, .wide = true, .supervised = true,                  \
        .prepare = supervised_prepare, .init = supervised_init, .step = supervised_step,           \
        .region = supervised_region, .wrong = supervised_wrong, .print_all = supervised_print_all  \
    }

const struct step_machine papers_hidden_queue_mutants[] = {
    MUTANT("unpadded", "a process is placed behind the last occupied cell", HIDDEN_QUEUE_UNPADDED),
    MUTANT("two-deleted", "two deletions a step", HIDDEN_QUEUE_TWO_DELETED),
    MUTANT("none-deleted", "empty cells are not deleted", HIDDEN_QUEUE_NONE_DELETED),
    MUTANT("issue-kept", "issue keeps its colour when a round begins", HIDDEN_QUEUE_ISSUE_KEPT),
    MUTANT("issue-mapped", "issue keeps its colour when that gets a map",
           HIDDEN_QUEUE_ISSUE_MAPPED),
    MUTANT("unnoticed", "issue changes before all arrivals are noticed", HIDDEN_QUEUE_UNNOTICED),
    MUTANT("not-cancelled", "the end of a round does not cancel open talks",
           HIDDEN_QUEUE_NOT_CANCELLED),
    MUTANT("done-missed", "a round ends although a channel is DONE", HIDDEN_QUEUE_DONE_MISSED),
    MUTANT("all-talk", "a round ends only when all have talked", HIDDEN_QUEUE_ALL_TALK),
    MUTANT("talk-fewer", "r-1 talks at a time", HIDDEN_QUEUE_TALK_FEWER),
    MUTANT("no-names", "r-1 short names, for r = 1 too", HIDDEN_QUEUE_NO_NAMES),
    MUTANT("position-fewer", "a map uses one bit less", HIDDEN_QUEUE_POSITION_FEWER),
    MUTANT("color-fewer", "one colour less", HIDDEN_QUEUE_COLOR_FEWER),
    MUTANT("tight-color-fewer", "k+2 cells, k+r+2 colours",
           HIDDEN_QUEUE_TIGHT | HIDDEN_QUEUE_COLOR_FEWER),
    MUTANT("round-early", "a round begins although no cell is empty", HIDDEN_QUEUE_ROUND_EARLY),
    MUTANT("heard-too-soon", "a process is renamed before the channel is DONE",
           HIDDEN_QUEUE_HEARD_TOO_SOON),
    MUTANT("color-too-soon", "a colour in the cells counts as unused", HIDDEN_QUEUE_COLOR_TOO_SOON),
};
