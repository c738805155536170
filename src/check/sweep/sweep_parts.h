/*
 * The parts of states, numbered, and what steps make of them: for sweep.c alone.
 *
 * Parts are never forgotten, and never move: who has a number may read what belongs to it, while
 * others add parts, under a lock.
 */
#ifndef USHER_CHECK_SWEEP_PARTS_H
#define USHER_CHECK_SWEEP_PARTS_H

#include "check/sweep/sweep_numbers.h"
#include "step/step.h"

#include <pthread.h>

enum {
    CHECK_SWEEP_PROCESSES = 5,
    CHECK_SWEEP_JUDGED = 127, /* values of step_machine.judged that are told apart */
    CHECK_STAGE_BITS = 24,
    CHECK_SWEEP_KEY = 1 + CHECK_SWEEP_PROCESSES /* the shared memory's number, and n others */
};

struct check_sweep_parts {
    const struct step_system *system;
    bool mirrored, settled;
    uint8_t mirror[CHECK_SWEEP_PROCESSES];
    pthread_mutex_t lock;
    struct check_numbers shared, private;
    uint32_t *stage;                            /* of each shared part */
    uint8_t *phase, *region, *busy;             /* of each private part */
    uint8_t *judged;                            /* which of judged_values; */
    uint64_t judged_values[CHECK_SWEEP_JUDGED]; /* how `wrong` sees it */
    unsigned judged_count;
    _Atomic uint32_t *shared_image;                         /* number + 1; 0: not known */
    _Atomic uint32_t *private_image[CHECK_SWEEP_PROCESSES]; /* where it is that process's */
};

enum check_sweep_result {
    CHECK_SWEEP_OK,
    CHECK_SWEEP_CANNOT,   /* an event that cannot happen now */
    CHECK_SWEEP_FULL,     /* no room for another part */
    CHECK_SWEEP_ACCESSES, /* a step made other than one shared access */
    CHECK_SWEEP_NO_IMAGE, /* mirrored, it does something else */
};

/* Parts for so much memory at most, if all else needs none. */
int check_sweep_parts_init(struct check_sweep_parts *parts, const struct step_system *system,
                           bool mirrored, bool settled, size_t memory);
void check_sweep_parts_free(struct check_sweep_parts *parts);
/* Bytes in use. */
size_t check_sweep_parts_used(const struct check_sweep_parts *parts);

/* The key of the initial state. */
enum check_sweep_result check_sweep_first(struct check_sweep_parts *parts, uint32_t *key);

/* Where a label (explore.h) leads from a shared and a private part, settled if so asked; beyond the
   last event: where settling does. */
enum check_sweep_result check_sweep_execute(struct check_sweep_parts *parts, unsigned label,
                                            uint32_t shared, uint32_t private, uint32_t *to_shared,
                                            uint32_t *to_private);

/* The number of an image; of whatever has been led to there is one. */
static inline uint32_t check_sweep_other(const _Atomic uint32_t *images, uint32_t part)
{
    return atomic_load_explicit(&images[part], memory_order_relaxed) - 1;
}

/* The mirror image of a state all of whose parts have been led to. */
static inline void check_sweep_image(const struct check_sweep_parts *parts, const uint32_t *key,
                                     uint32_t *image)
{
    image[0] = check_sweep_other(parts->shared_image, key[0]);
    for (unsigned i = 0; i < parts->system->n; i++) {
        image[1 + parts->mirror[i]] = check_sweep_other(parts->private_image[i], key[1 + i]);
    }
}

/* What is wrong with a state, or NULL. */
const char *check_sweep_wrong(const struct check_sweep_parts *parts, const uint32_t *key);

#endif
