/* Giving way before one sleeps in a line: for pools and gates. giveway.c says what for. */
#ifndef USHER_LIB_GIVEWAY_H
#define USHER_LIB_GIVEWAY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A turn that is waited for. */
struct turn {
    _Atomic int64_t *crowded_ns; /* theirs who share that line, for this alone: 0 to begin with */
    bool (*has_come)(const void *context);
    /* How many have been let in before, in its low 20 bits. */
    uint32_t (*let_in)(const void *context);
    const void *context;
};

/* What one that comes again and again has found out: all 0 in the beginning. */
struct way_tried {
    uint32_t vain;   /* so often more it has given way in vain, ... */
    uint32_t spared; /* ... and so often it did so once only */
};

/* Let others run, for as long as two wake-ups take, or some: has the turn come meanwhile? */
bool usher__give_way(const struct turn *turn);
/* The same for one that comes, where there are so many seats and so many in line, and not for
   longer than pays there. */
bool usher__give_way_first(const struct turn *turn, uint32_t seats, uint32_t ahead,
                           struct way_tried *tried);

#endif
