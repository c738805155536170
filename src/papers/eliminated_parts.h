/* The shared variable and the private states of supervisor elimination, unpacked. */
#ifndef USHER_PAPERS_ELIMINATED_PARTS_H
#define USHER_PAPERS_ELIMINATED_PARTS_H

#include "papers/eliminated.h"

enum eliminated_status { FREE, RECEIVE, CURRENT, PREVIOUS, DEAD };
enum eliminated_channel { READY, BIT_0, BIT_1, DONE };
enum eliminated_place { SHARE, DIST };

/* The constants of a system: sizes, and the first byte of each part of the shared words. */
struct eliminated_layout {
    struct supervised_size size;
    uint16_t slots;
    uint16_t message_bytes; /* bytes of an rbuf */
    uint16_t xs, control, status, channels, ghost, past, end;
    bool watched;
};

/* The shared variable. */
struct eliminated_shared {
    _Alignas(8) unsigned char value[SUPERVISED_VALUE_BYTES];
    _Alignas(8) unsigned char xs[SUPERVISED_SUPERVISOR_BYTES];
    uint16_t step;
    uint8_t stateholders;
    uint8_t loccur, locprev; /* enum eliminated_place */
    uint8_t awry;            /* the ghost's: a step differed from the subject's */
    uint8_t status[ELIMINATED_SLOTS];
    uint8_t channels[ELIMINATED_SLOTS][ELIMINATED_SLOTS]; /* [sender][receiver] */
    _Alignas(
        8) unsigned char ghost[SUPERVISED_SUPERVISOR_BYTES]; /* watched: the supervisor's state */
    /* watched: the state before its last step while a copy must equal it, else zero */
    _Alignas(8) unsigned char past[SUPERVISED_SUPERVISOR_BYTES];
};

/* The private state of one process. */
struct eliminated_own {
    _Alignas(8) unsigned char worker[SUPERVISED_WORKER_BYTES];
    _Alignas(8) unsigned char x[SUPERVISED_SUPERVISOR_BYTES];
    uint8_t slot;                    /* s: 1 + the slot held; 0: none */
    uint8_t prevhelper;              /* 1 if it was a helper at the end of its last step */
    uint16_t sent[ELIMINATED_SLOTS]; /* n - 1: bits sent to each slot */
    uint16_t got[ELIMINATED_SLOTS];  /* bits received from each slot */
    unsigned char rbuf[ELIMINATED_SLOTS][ELIMINATED_MOST_BITS / 8]; /* and their values */
};

static inline const struct supervised *eliminated_subject(const struct step_system *system)
{
    return system->machine->subject;
}

static inline const struct eliminated_layout *eliminated_layout(const struct step_system *system)
{
    return (const struct eliminated_layout *)(const void *)system->constants;
}

static inline bool eliminated_is(const struct step_system *system, enum eliminated_broken broken)
{
    return (system->machine->variant & ~(unsigned)ELIMINATED_SHORT) >> 16 == (unsigned)broken >> 16;
}

static inline bool eliminated_is_short(const struct step_system *system)
{
    return (system->machine->variant & ELIMINATED_SHORT) != 0;
}

/* Set sizes and layout; `watched`: with room for the ghost. */
int eliminated_lay_out(struct step_system *system, bool watched, char why[STEP_WHY_BYTES]);

void eliminated_get(const struct step_system *system, const uint64_t *words,
                    struct eliminated_shared *shared);
void eliminated_put(const struct step_system *system, const struct eliminated_shared *shared,
                    uint64_t *words);
void eliminated_get_own(const struct step_system *system, const void *state,
                        struct eliminated_own *own);
void eliminated_put_own(const struct step_system *system, const struct eliminated_own *own,
                        void *state);

/* Make one step. Return whether a step of the supervisor followed it. */
bool eliminated_act(const struct step_system *system, struct eliminated_shared *shared,
                    struct eliminated_own *own, unsigned process);

/* The fault in a state, or NULL. `now` is the supervisor's state, `before` the state before its
   last step, or NULL if that is unknown. */
const char *eliminated_judge(const struct step_system *system,
                             const struct eliminated_shared *shared, const void *states,
                             const void *now, const void *before);

static inline bool eliminated_can_simulate(const struct step_system *system,
                                           const struct eliminated_shared *shared,
                                           const struct eliminated_own *own)
{
    unsigned enough = system->robustness - eliminated_is(system, ELIMINATED_HOLDERS_FEWER);
    return shared->loccur == SHARE || (own->slot != 0 && shared->status[own->slot - 1] == CURRENT &&
                                       shared->stateholders == enough);
}

#endif
