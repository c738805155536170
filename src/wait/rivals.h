/* Stepping aside at the door: for pools and gates. rivals.c says what for. */
#ifndef USHER_LIB_RIVALS_H
#define USHER_LIB_RIVALS_H

#include <stdbool.h>
#include <stdint.h>

/* What one that comes again and again has found out: all 0 in the beginning. */
struct rival {
    bool paid;             /* stepping aside did, the last time */
    uint32_t vain, spared; /* so often in a row it did not; so often it was not tried */
    uint32_t lost_at;      /* the last ticket issued when another was faster, ... */
    const void *lost_in;   /* ... and where: one thread may come to several gates */
};

/* Another was faster (lost), or is about to enter or to leave. If that pays here, step aside for a
   moment, and true: try again. `issued`: the last ticket of that line. */
bool usher__rivals_aside(struct rival *rival, bool lost, uint32_t (*issued)(const void *line),
                         const void *line);

#endif
