/* The bucket algorithm as printed, and with one guard dropped each: see bucket.h. */
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
    MUTANT("strict", "one less moves at once from main to gate", BUCKET_STRICT),
    MUTANT("limit", "of at most r-1, for r = 1 too", BUCKET_LIMIT),
    MUTANT("active", "counting those in buf twice while main is filled", BUCKET_ACTIVE),
    MUTANT("one-more", "one more than k enabled", BUCKET_ONE_MORE),
    MUTANT("forgets", "the enabled who are not yet in C forgotten", BUCKET_FORGETS),
    MUTANT("eliminates", "deleted as soon as all in them are enabled", BUCKET_ELIMINATES),
    MUTANT("any-moves", "whoever tries may move to the gate", BUCKET_ANY_MOVES),
    MUTANT("move-stays", "the order to move is not taken back", BUCKET_MOVE_STAYS),
    MUTANT("no-drones", "the enabled remain quitters", BUCKET_NO_DRONES),
    MUTANT("no-quitters", "the queued remain helpers", BUCKET_NO_QUITTERS),
    MUTANT("stale", "a colour that is used again keeps its class", BUCKET_STALE),
    MUTANT("longer", "k+1 of them on the queue", BUCKET_LONGER),
    MUTANT("uncounted", "main is filled without counting", BUCKET_UNCOUNTED),
    MUTANT("last-first", "the last is enabled first", BUCKET_LAST_FIRST),
    MUTANT("stays-inside", "who leaves C is still counted", BUCKET_STAYS_INSIDE),
    MUTANT("whole", "main moves to the gate whole", BUCKET_WHOLE),
    MUTANT("main-taken", "main is filled though not empty", BUCKET_MAIN_TAKEN),
    MUTANT("gate-taken", "the gate is filled though not empty", BUCKET_GATE_TAKEN),
    MUTANT("enables-twice", "who is enabled is enabled again", BUCKET_ENABLES_TWICE),
};
