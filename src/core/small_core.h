/* A core over an array of words, for unit tests of the shipping build. */
#ifndef USHER_CORE_SMALL_CORE_H
#define USHER_CORE_SMALL_CORE_H

#include "core/core.h"

/* How many words a core with these numbers needs. */
#define SMALL_CORE_WORDS(rows, places, seats)                                                      \
    (CORE_AT_ROWS(0) + (rows)*CORE_ROW_STRIDE(0) + (places) + (seats))

/* Lay out a core over SMALL_CORE_WORDS words and write them: all its `room` seats but the first
   `seats` do not exist yet. `places`, of the line, is a power of two. */
static inline struct core small_core(_Atomic uint64_t *words, uint32_t rows, uint32_t places,
                                     uint32_t room, uint32_t seats)
{
    struct core core = {.words = words, .rows = rows, .seats = room, .line_mask = places - 1};
    core.at_line = CORE_AT_ROWS(&core) + rows * CORE_ROW_STRIDE(&core);
    core.at_seat = core.at_line + places;
    core_init(&core, seats);
    return core;
}

/* Reserve a run of cycles or questions after `last` for a row. *full: there is none. */
static inline struct core_run small_core_reserve(struct core *core, uint32_t row,
                                                 enum core_purpose purpose, uint32_t last,
                                                 bool *full)
{
    struct core_reserve f;
    CORE_FRESH(f);
    f.by = row;
    f.purpose = purpose;
    f.run = (struct core_run){last, last, false};
    (void)core_reserve(core, &f);
    *full = f.full;
    return f.run;
}

#endif
