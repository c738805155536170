/* The gate without one guard each: see gate_machine.h. tests/gate_model_test.c checks that each
   guard is needed. */
#include "model/gate_machine.h"
#include "model/gate_parts.h"

#define DROPPED(symbol, name_, what, variant_)                                                     \
    static const struct step_machine symbol = {                                                    \
        MODEL_GATE("mutant-gate-" name_, "The gate without this guard: " what, variant_),          \
        .loose_regions = ((variant_)&SLEEPS) == 0}

DROPPED(take_free, "take-free", "the quick take stops at VALID", GATE_TAKE_FREE);
DROPPED(take_near, "take-near", "the quick take stays behind VALID", GATE_TAKE_NEAR);
DROPPED(leave_block, "leave-block", "the quick leave stays in a block", GATE_LEAVE_BLOCK);
DROPPED(leave_before, "leave-before", "the quick leave does not go on to a ticket's block",
        GATE_LEAVE_BEFORE);
DROPPED(leave_alone, "leave-alone", "the quick leave finds no waiter",
        GATE_LEAVE_ALONE | SLEEPS | UNTIMED);
DROPPED(room, "room", "there is room for one more", GATE_ROOM | CROWDED);
DROPPED(try_valid, "try-valid", "try takes only what is valid", GATE_TRY_VALID | TRIES);
DROPPED(wake_last, "wake-last", "the last in line is woken too", GATE_WAKE_LAST | SLEEPS | UNTIMED);
DROPPED(blind, "sleep-blind", "a guest compares the word before it sleeps",
        SLEEPS | UNTIMED | BLIND);
DROPPED(untimed, "sleep-untimed", "a sleeping guest wakes by itself from time to time",
        SLEEPS | UNTIMED);

const struct step_machine *const model_gate_mutants[] = {
    &take_free, &take_near, &leave_block, &leave_before, &leave_alone, &room,
    &try_valid, &wake_last, &blind,       &untimed,      NULL,
};
