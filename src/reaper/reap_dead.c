/* What dead guests leave is finished, and their seats are given back: see reaper.h. */
#include "reaper/reaper.h"

#include "pool/pool.h"
#include "wait/act.h"

#include <stdlib.h>

bool usher__reap_first(struct usher_pool *pool, uint32_t row, uint32_t cycle)
{
    uint32_t watch = atomic_load(&pool->rows[row].watch);
    uint32_t mark = cycle << 8;
    /* Retry: the row may be asked to scan meanwhile, though its owner is dead. */
    while ((watch & FORMAT_REAPED) != mark) {
        if (atomic_compare_exchange_weak(&pool->rows[row].watch, &watch, mark)) {
            return true;
        }
    }
    return false;
}

void usher__reap_finish(struct pool_act *act, uint32_t row, uint32_t cycle, bool gently)
{
    struct core_reap reap;
    CORE_FRESH(reap);
    reap.by = act->by;
    reap.row = row;
    reap.cycle = cycle;
    reap.gently = gently;
    if (!gently && usher__reap_first(act->pool, row, cycle)) {
        atomic_fetch_add(&act->pool->header->reaped, 1);
    }
    (void)core_reap(&act->core, &reap);
}

/* usher_release_for gives the seat back in a process that may have died of it, and the owner does
   not know: any process may finish it, as after a death. */
static bool leaves_for_another(uint64_t word, uint64_t owner)
{
    return core_row_state(word) == CORE_LEAVING && (format_owner_flags(owner) & FORMAT_ASSIGNED);
}

/* Reap an announced row, `word` as it was read then, if its owner is dead now. The word was read
   first: what is found out about the owner afterwards holds for this cycle, or the row has gone on
   and is left alone. */
static bool reap_watched(struct pool_act *act, uint32_t row, uint64_t word)
{
    struct usher_pool *pool = act->pool;
    uint64_t owner = atomic_load(&pool->rows[row].owner);
    if (leaves_for_another(word, owner)) {
        usher__reap_finish(act, row, core_row_cycle(word), true);
        return true;
    }
    if (core_row_state(word) == CORE_IDLE || usher__alive(pool, NULL, row) != 0) {
        return false;
    }
    /* Dead, if it is still in the row: it may have left and closed the pool before it was asked
       about. */
    uint64_t now = usher__row_word(pool, row);
    if (core_row_state(now) == CORE_IDLE || core_row_cycle(now) != core_row_cycle(word)) {
        return false;
    }
    /* A command that has ended normally, and whose wrapper has not given the seat back yet. */
    struct os_identity identity =
        usher__row_identity(owner, atomic_load(&pool->rows[row].identity));
    if ((format_owner_flags(owner) & FORMAT_ASSIGNED) &&
        usher__is_askable(pool, owner, &identity) &&
        os_process_exited((pid_t)format_owner_pid(owner), &identity)) {
        (void)usher__release_assigned(act, row, core_row_cycle(word));
        return true;
    }
    usher__reap_finish(act, row, core_row_cycle(word), false);
    /* The row is free now, unless a process has claimed it already. */
    (void)atomic_compare_exchange_strong(&pool->rows[row].owner, &owner, 0);
    return true;
}

bool usher__reap_row(struct pool_act *act, struct alive_round *round, uint32_t row)
{
    struct usher_pool *pool = act->pool;
    uint64_t word = usher__row_word(pool, row);
    bool leaves = leaves_for_another(word, atomic_load(&pool->rows[row].owner));
    if (row == act->by ||
        (!leaves && (core_row_state(word) == CORE_IDLE || usher__alive(pool, round, row) != 0))) {
        return false;
    }
    /* It seems dead: ask again, in the right order. */
    struct core_watch watch;
    CORE_FRESH(watch);
    watch.by = act->by;
    watch.row = row;
    (void)core_watch(&act->core, &watch);
    bool reaped = reap_watched(act, row, watch.r);
    core_unwatch(&act->core, act->by);
    return reaped;
}

bool usher__reap_absent(struct pool_act *act, uint32_t row)
{
    struct alive_round *no_locks = usher__alive_round_without_locks();
    return usher__reap_row(act, no_locks, row);
}
