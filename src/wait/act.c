/* Acts on a pool, and waking: see act.h. */
#include "wait/act.h"

#include "pool/pool.h"

/* Whether the row says that it sleeps, and nobody does: its owner is about to sleep or just woke,
   is stopped, or was killed in its sleep. */
static bool wake(struct usher_pool *pool, uint32_t row)
{
    return row < pool->core.rows && (atomic_load(&pool->rows[row].watch) & FORMAT_WAITS) &&
           os_wake(&pool->rows[row].word, pool->shared) == 0;
}

/* The core has granted a seat to a row. */
static void granted(void *context, uint32_t row)
{
    struct pool_act *act = context;
    if (act->granted < ACT_GRANTS) {
        act->row[act->granted++] = row;
    } else {
        (void)wake(act->pool, row); /* if it is dead, the next scan finds out */
    }
}

void usher__act_begin(struct pool_act *act, struct usher_pool *pool, uint32_t by)
{
    act->pool = pool;
    act->by = by;
    act->granted = 0;
    act->core = pool->core;
    act->core.wake = granted;
    act->core.wake_context = act;
}

/* A waiter that was killed in its sleep is granted its seat like any other, and would keep the
   line waiting until the next scan. */
static __attribute__((noinline)) void reap_absent(struct pool_act *act, uint32_t row)
{
    int cancel = os_cancel_off();
    if (usher__reap_absent(act, row)) {
        usher__scan_appoint(act->pool, CORE_NOBODY, 2); /* it may have been a scanner */
    }
    os_cancel_restore(cancel);
}

void usher__act_end(struct pool_act *act)
{
    while (act->granted != 0) {
        uint32_t row = act->row[--act->granted];
        if (wake(act->pool, row) && act->pool->shared && act->by != POOL_NO_ROW) {
            reap_absent(act, row);
        }
    }
}
