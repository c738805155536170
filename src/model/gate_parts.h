/* What the files of the gate's model share: the guest, the words, the functions of the machine. */
#ifndef USHER_MODEL_GATE_PARTS_H
#define USHER_MODEL_GATE_PARTS_H

#include "gate/gate_word.h"
#include "step/step.h"

enum gate_mode {
    RESTING,
    SPINNING,       /* has a ticket, and is about to read whether it is valid */
    FALLING_ASLEEP, /* read that it is not valid, and sleeps next unless the word changes */
    ASLEEP,
    INSIDE,
    WAKING /* has left, and is about to wake the next waiter */
};

/* A guest. All zero at the start. */
struct gate_guest {
    uint8_t mode;
    uint8_t zero[3];
    uint32_t ticket; /* 0 in RESTING and WAKING */
    uint32_t low;    /* FALLING_ASLEEP: the low half of the word as read */
    uint32_t wakes;  /* WAKING: the futex bits to wake */
};

/* The second word is the kernel's: the sleeping guests, and the futex bit of each. */
enum { AT_GATE, AT_KERNEL, MOST_ASLEEP = 10 };

/* A machine's variant: the guards it lacks, and how its guests behave. */
enum gate_style {
    GUARDS = 0xffff,   /* enum gate_broken */
    SLEEPS = 1 << 16,  /* waiting guests sleep */
    UNTIMED = 1 << 17, /* .. and never wake by themselves */
    BLIND = 1 << 18,   /* .. even if the word has changed since they read it */
    TRIES = 1 << 19,   /* every second guest tries */
    CROWDED = 1 << 20  /* the smallest gate with k seats, for any number of guests */
};

struct gate_constants {
    uint64_t start;
    struct colored_shape shape;
};

_Static_assert(sizeof(struct gate_constants) <= STEP_MAX_CONSTANT_BYTES, "constants must fit");

int gate__prepare(struct step_system *system, char why[STEP_WHY_BYTES]);
void gate__init(const struct step_system *system, uint64_t *words);
void gate__step(const struct step_system *system, struct step_memory *memory, void *state,
                unsigned process);
enum step_region gate__region(const struct step_system *system, const void *state);
double gate__bound(const struct step_system *system);

/* gate_judge.c: what is wrong with a state, and a word as text. */
const char *gate__wrong(const struct step_system *system, const uint64_t *words,
                        const void *states);
int gate__print_word(const struct step_system *system, unsigned word, uint64_t value, char *out,
                     size_t size);

#define MODEL_GATE(name_, title_, variant_)                                                        \
    .name = (name_), .title = (title_), .variant = (variant_), .prepare = gate__prepare,           \
    .init = gate__init, .step = gate__step, .region = gate__region, .wrong = gate__wrong,          \
    .print_word = gate__print_word, .bound = gate__bound

#endif
