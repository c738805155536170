/* The bucket algorithm as printed, and with one guard dropped in each mutant: see bucket.h. */
#include "papers/bucket.h"

#define BUCKET(name_, title_, variant_, printed_)                                                  \
    {                                                                                              \
        .name = (name_), .title = "Buckets, " title_, .variant = (variant_),                       \
        .subject = &papers_bucket_system, .printed = (printed_), .wide = true, .supervised = true, \
        .prepare = supervised_prepare, .init = supervised_init, .step = supervised_step,           \
        .region = supervised_region, .wrong = supervised_wrong, .print_all = supervised_print_all  \
    }

#define MUTANT(name_, title_, variant_) BUCKET("mutant-bucket-" name_, title_, variant_, false)

const struct step_machine papers_bucket_mutants[] = {
    BUCKET("bucket-printed", "as printed (1979, Lemma 4.4)", BUCKET_AS_PRINTED, true),
    MUTANT("strict", "the gate takes all of main if that is one less than its limit",
           BUCKET_STRICT),
    MUTANT("limit", "a bucket holds at most r-1, for r = 1 too", BUCKET_LIMIT),
    MUTANT("active", "active() counts buf twice while main is filled", BUCKET_ACTIVE),
    MUTANT("one-more", "k+1 processes are enabled", BUCKET_ONE_MORE),
    MUTANT("forgets", "enabled processes not yet in C are not counted", BUCKET_FORGETS),
    MUTANT("eliminates", "a bucket is deleted as soon as all in it are enabled", BUCKET_ELIMINATES),
    MUTANT("any-moves", "any process in T may move to the gate", BUCKET_ANY_MOVES),
    MUTANT("move-stays", "a process that moves does not clear move", BUCKET_MOVE_STAYS),
    MUTANT("no-drones", "enabled processes remain quitters", BUCKET_NO_DRONES),
    MUTANT("no-quitters", "queued processes remain helpers", BUCKET_NO_QUITTERS),
    MUTANT("stale", "a colour that is reused keeps its eligibility", BUCKET_STALE),
    MUTANT("longer", "k+1 buckets on the queue", BUCKET_LONGER),
    MUTANT("uncounted", "main is filled without counting", BUCKET_UNCOUNTED),
    MUTANT("last-first", "the last bucket is enabled first", BUCKET_LAST_FIRST),
    MUTANT("stays-inside", "a process that leaves C is still counted", BUCKET_STAYS_INSIDE),
    MUTANT("whole", "all of main moves to the gate", BUCKET_WHOLE),
    MUTANT("main-taken", "main is filled although not empty", BUCKET_MAIN_TAKEN),
    MUTANT("gate-taken", "the gate is filled although not empty", BUCKET_GATE_TAKEN),
    MUTANT("enables-twice", "an enabled process is enabled again", BUCKET_ENABLES_TWICE),
};
