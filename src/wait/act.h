/*
 * One act of this thread on a pool: an operation of the core, and the waking that follows from it.
 * The core tells which rows it has granted a seat; they are collected here and woken when the
 * operation is done. A woken waiter may run at once, and in this thread's place: it must not find
 * the operation half done and have to finish it.
 *
 *     struct pool_act act;
 *     usher__act_begin(&act, pool, row);
 *     core_take(&act.core, &take);
 *     usher__act_end(&act);
 *
 * A process that dies in between has granted seats to waiters that sleep on. The next scan wakes
 * them (reaper/scan.c).
 */
#ifndef USHER_WAIT_ACT_H
#define USHER_WAIT_ACT_H

#include "core/core.h"

struct usher_pool;

enum { ACT_GRANTS = 8 }; /* an operation grants one seat, or a few if it reaps the dead */

struct pool_act {
    struct usher_pool *pool;
    uint32_t by;      /* the row of this thread: what it relies on is announced there */
    struct core core; /* the pool's, with this act as the receiver of grants */
    unsigned granted; /* rows that are to be woken: the first of .. */
    uint32_t row[ACT_GRANTS];
};

/* Begin an act by that row. Every operation of the core that may grant a seat uses act->core. */
void usher__act_begin(struct pool_act *act, struct usher_pool *pool, uint32_t by);

/* Wake the rows that were granted a seat. A row that says that it sleeps and was not asleep may be
   dead: it is reaped if it certainly is, and the row that is granted its seat is woken in turn. */
void usher__act_end(struct pool_act *act);

#endif
