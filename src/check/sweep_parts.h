/*
 * The parts of states, numbered, and what steps make of them: for sweep.c alone.
 *
 * Parts are never forgotten, and never move: who has a number may read what belongs to it, while
 * others add parts. Adding is done under a lock.
 */
#ifndef USHER_CHECK_SWEEP_PARTS_H
#define USHER_CHECK_SWEEP_PARTS_H

#include "step/step.h"

#include <pthread.h>

enum {
    CHECK_SWEEP_PROCESSES = 5,
    CHECK_SWEEP_JUDGED = 127, /* values of step_machine.judged that are told apart */
    CHECK_STAGE_BITS = 24,
    CHECK_SWEEP_KEY = 1 + CHECK_SWEEP_PROCESSES /* the shared memory's number, and n others */
};

struct check_dictionary {
    size_t bytes;  /* of one value */
    uint32_t most; /* values there is room for */
    uint32_t count;
    unsigned char *values;
    uint32_t *slots; /* number + 1; 0: empty; two for each value there is room for */
};

struct check_sweep_parts {
    const struct step_system *system;
    bool mirrored, settled;
    uint8_t mirror[CHECK_SWEEP_PROCESSES];
    pthread_mutex_t lock;
    struct check_dictionary shared, private;
    uint32_t *stage;                            /* of each shared part */
    uint8_t *phase, *region, *busy;             /* of each private part */
    uint8_t *judged;                            /* which of judged_values; */
    uint64_t judged_values[CHECK_SWEEP_JUDGED]; /* how `wrong` sees it */
    unsigned judged_count;
    uint32_t *shared_image;                         /* number + 1; 0: not known */
    uint32_t *private_image[CHECK_SWEEP_PROCESSES]; /* the same, where it is that process's */
};

enum check_sweep_result {
    CHECK_SWEEP_OK,
    CHECK_SWEEP_CANNOT,   /* an event that cannot happen now */
    CHECK_SWEEP_FULL,     /* no room for another part */
    CHECK_SWEEP_ACCESSES, /* a step made other than one shared access */
    CHECK_SWEEP_NO_IMAGE, /* mirrored, it does something else */
};

int check_sweep_parts_init(struct check_sweep_parts *parts, const struct step_system *system,
                           bool mirrored, bool settled);
void check_sweep_parts_free(struct check_sweep_parts *parts);
/* Bytes in use. */
size_t check_sweep_parts_used(struct check_sweep_parts *parts);

/* The key of the initial state. */
enum check_sweep_result check_sweep_first(struct check_sweep_parts *parts, uint32_t *key);

/* Where a label (explore.h) leads from a shared and a private part, settled if so asked; beyond the
   last event: where settling does. */
enum check_sweep_result check_sweep_execute(struct check_sweep_parts *parts, unsigned label,
                                            uint32_t shared, uint32_t private, uint32_t *to_shared,
                                            uint32_t *to_private);

/* The mirror image of a state all of whose parts have been led to. */
static inline void check_sweep_image(const struct check_sweep_parts *parts, const uint32_t *key,
                                     uint32_t *image)
{
    image[0] = parts->shared_image[key[0]] - 1;
    for (unsigned i = 0; i < parts->system->n; i++) {
        image[1 + parts->mirror[i]] = parts->private_image[i][key[1 + i]] - 1;
    }
}

/* What is wrong with a state, or NULL. */
const char *check_sweep_wrong(const struct check_sweep_parts *parts, const uint32_t *key);

#endif
