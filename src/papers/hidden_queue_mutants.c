/* The hidden queue with one guard dropped each: see hidden_queue.h. */
#include "papers/hidden_queue.h"

#define MUTANT(name_, title_, variant_)                                                            \
    {                                                                                              \
        .name = "mutant-hidden-" name_, .title = "Hidden queue, " title_, .variant = (variant_),   \
        .subject = &papers_hidden_queue_system, .wide = true, .supervised = true,                  \
        .prepare = supervised_prepare, .init = supervised_init, .step = supervised_step,           \
        .region = supervised_region, .wrong = supervised_wrong, .print_all = supervised_print_all  \
    }

const struct step_machine papers_hidden_queue_mutants[] = {
    MUTANT("unpadded", "placed right behind the last exposed", HIDDEN_QUEUE_UNPADDED),
    MUTANT("two-deleted", "two deletions a step", HIDDEN_QUEUE_TWO_DELETED),
    MUTANT("none-deleted", "empty cells stay", HIDDEN_QUEUE_NONE_DELETED),
    MUTANT("issue-kept", "a round begins without a new colour of issue", HIDDEN_QUEUE_ISSUE_KEPT),
    MUTANT("issue-mapped", "tickets are issued of a mapped colour", HIDDEN_QUEUE_ISSUE_MAPPED),
    MUTANT("unnoticed", "the colour of issue changes before all are noticed",
           HIDDEN_QUEUE_UNNOTICED),
    MUTANT("not-cancelled", "a talk that the round leaves open goes on",
           HIDDEN_QUEUE_NOT_CANCELLED),
    MUTANT("done-missed", "a round ends before all receipts are seen", HIDDEN_QUEUE_DONE_MISSED),
    MUTANT("all-talk", "a round ends when all have talked", HIDDEN_QUEUE_ALL_TALK),
    MUTANT("talk-fewer", "r-1 talks at a time", HIDDEN_QUEUE_TALK_FEWER),
    MUTANT("no-names", "r-1 short names, for r = 1 too", HIDDEN_QUEUE_NO_NAMES),
    MUTANT("position-fewer", "a map looks at one bit less", HIDDEN_QUEUE_POSITION_FEWER),
    MUTANT("color-fewer", "one colour less", HIDDEN_QUEUE_COLOR_FEWER),
    MUTANT("tight-color-fewer", "k+2 cells, k+r+2 colours",
           HIDDEN_QUEUE_TIGHT | HIDDEN_QUEUE_COLOR_FEWER),
    MUTANT("round-early", "a round begins with all cells taken", HIDDEN_QUEUE_ROUND_EARLY),
    MUTANT("heard-too-soon", "renamed before the receipt", HIDDEN_QUEUE_HEARD_TOO_SOON),
    MUTANT("color-too-soon", "a colour in the cells counts as unused", HIDDEN_QUEUE_COLOR_TOO_SOON),
};
