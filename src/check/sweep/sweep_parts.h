/*
 * The numbered parts of states (shared memories and private states), and the execution of steps on
 * them: for sweep.c alone.
 *
 * A part is never freed and never moves. A thread that has a part's number may read the part
 * without a lock, while another thread adds parts under the lock.
 */
#ifndef USHER_CHECK_SWEEP_PARTS_H
#define USHER_CHECK_SWEEP_PARTS_H

#include "check/sweep/sweep.h"
#include "check/sweep/sweep_numbers.h"
#include "step/step.h"

#include <pthread.h>

enum {
    CHECK_SWEEP_JUDGED = 127, /* distinct values of step_machine.judged that have a number */
    CHECK_STAGE_BITS = 24,
    CHECK_SWEEP_KEY = 1 + CHECK_SWEEP_PROCESSES /* numbers of the shared and n private parts */
};

struct check_sweep_parts {
    const struct step_system *system;
    bool mirrored, settled;
    uint8_t mirror[CHECK_SWEEP_PROCESSES];
    pthread_mutex_t lock;
    struct check_numbers shared, private;
    uint32_t *stage;                            /* of each shared part */
    uint8_t *phase, *region, *busy;             /* of each private part */
    uint8_t *judged;                            /* index into judged_values, of each private part */
    uint64_t judged_values[CHECK_SWEEP_JUDGED]; /* values of step_machine.judged */
    unsigned judged_count;
    _Atomic uint32_t *shared_image;                         /* number + 1; 0: not known */
    _Atomic uint32_t *private_image[CHECK_SWEEP_PROCESSES]; /* if the part is that process's */
};

enum check_sweep_result {
    CHECK_SWEEP_OK,
    CHECK_SWEEP_CANNOT,   /* an event that cannot happen now */
    CHECK_SWEEP_FULL,     /* no room for another part */
    CHECK_SWEEP_ACCESSES, /* a step made no shared access, or more than one */
    CHECK_SWEEP_NO_IMAGE, /* the mirrored step leads elsewhere */
};

/* Reserve address space for as many parts as `memory` bytes can hold. 0 or -ENOMEM. */
int check_sweep_parts_init(struct check_sweep_parts *parts, const struct step_system *system,
                           bool mirrored, bool settled, size_t memory);
void check_sweep_parts_free(struct check_sweep_parts *parts);
/* Bytes in use. */
size_t check_sweep_parts_used(const struct check_sweep_parts *parts);

/* The key of the initial state. */
enum check_sweep_result check_sweep_first(struct check_sweep_parts *parts, uint32_t *key);

/* Execute a label (explore.h) on a shared and a private part, then settle if the sweep settles. A
   label beyond the last event only settles. */
enum check_sweep_result check_sweep_execute(struct check_sweep_parts *parts, unsigned label,
                                            uint32_t shared, uint32_t private, uint32_t *to_shared,
                                            uint32_t *to_private);

/* The number of the image of a part; every part that a step led to has one. */
static inline uint32_t check_sweep_other(const _Atomic uint32_t *images, uint32_t part)
{
    return atomic_load_explicit(&images[part], memory_order_relaxed) - 1;
}

/* The mirror image of a state. */
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
