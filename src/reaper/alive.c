/*
 * Who is certainly dead. Two witnesses, either of which is enough:
 *
 *     the row's lock   belongs to the open description of the process that owns the row. It is free
 *                      when every copy of that description is closed: at death, and at exec. A
 *                      child that was forked behind our back may keep it: then it errs towards
 *                      alive. Valid in every pid namespace.
 *     the process      its pid, and an identity that no other process ever has, tell within one pid
 *                      namespace that it has ended, zombie or gone.
 *
 * A witness that cannot tell says nothing. Stopped, slow, swapped out: alive.
 */
#include "pool/pool.h"

#include <errno.h>
#include <stdlib.h>

enum { ROUND_FEW = 8, ROUND_PROCESSES = 1024, ROUND_PROBES = 8, ROUND_ALL = 64 };

/* What has been found out in a round. */
struct alive_round {
    uint32_t every, first; /* of which rows the locks are asked for: first, first + every, .. */
    uint32_t room;
    struct asked {
        uint64_t identity; /* 0: free */
        uint32_t pid;
        enum os_end end;
    } processes[]; /* by their pids, or some places further */
};

struct alive_round *usher__alive_round(struct usher_pool *pool, uint32_t locks)
{
    uint32_t rows = usher__rows_used(pool);
    uint32_t room = rows < ROUND_FEW ? 0 : ROUND_PROCESSES;
    struct alive_round *round =
        pool->shared ? calloc(1, sizeof *round + room * sizeof round->processes[0]) : NULL;
    if (round != NULL) {
        round->room = room;
        round->every = rows <= ROUND_ALL ? 1 : 1 + rows / locks;
        round->first = (uint32_t)(os_now_ns() / 1000) % round->every;
    }
    return round;
}

/* Ask for a process, but once in a round. */
static enum os_end ended(struct alive_round *round, uint32_t pid, uint64_t identity)
{
    struct asked *free_one = NULL;
    uint32_t probes = round == NULL || round->room == 0 ? 0 : ROUND_PROBES;
    for (uint32_t p = 0; p < probes && free_one == NULL; p++) {
        struct asked *asked = &round->processes[(pid + p) % round->room];
        if (asked->identity == identity && asked->pid == pid) {
            return asked->end;
        }
        free_one = asked->identity == 0 ? asked : NULL;
    }
    enum os_end end = os_process_ended((pid_t)pid, identity);
    if (free_one != NULL) {
        *free_one = (struct asked){identity, pid, end};
    }
    return end;
}

/* Where a process is known to live, its lock tells only that it has called exec. Asking costs more
   the more locks there are: if there are many, some of them in each round must do. */
static bool lock_is_due(const struct alive_round *round, uint32_t row, enum os_end end)
{
    return round == NULL || end != OS_LIVES || row % round->every == round->first;
}

/* The row as it says whose it is; false while its owner changes that. */
static bool read_owner(const struct format_row *row, uint64_t *owner, uint64_t *identity)
{
    *owner = atomic_load(&row->owner);
    *identity = atomic_load(&row->identity);
    return *owner != 0 && *owner == atomic_load(&row->owner);
}

static bool ours(const struct usher_pool *pool, uint64_t owner, uint64_t identity)
{
    return format_owner_pid(owner) == pool->self.pid &&
           format_owner_namespace(owner) == pool->self.pid_namespace &&
           identity == pool->self.identity && pool->self.identity != 0;
}

/* What the witnesses say of the owner as it was read. */
static int ask(struct usher_pool *pool, struct alive_round *round, uint32_t row, uint64_t owner,
               uint64_t identity)
{
    uint32_t flags = format_owner_flags(owner);
    bool same_namespace =
        pool->self.pid_namespace != 0 && format_owner_namespace(owner) == pool->self.pid_namespace;
    bool by_pid =
        (flags & FORMAT_BY_PID) && same_namespace && identity != 0 && pool->self.identity != 0;
    enum os_end end = by_pid && !ours(pool, owner, identity)
                          ? ended(round, format_owner_pid(owner), identity)
                          : OS_CANNOT_TELL;
    /* If the machine was started anew the locks are gone, too: where there is one, it decides. */
    if (end == OS_ENDED || (end == OS_OTHER_BOOT && !(flags & FORMAT_BY_LOCK))) {
        return 0;
    }
    if (by_pid && (flags & FORMAT_ASSIGNED) && end != OS_OTHER_BOOT) {
        return 1; /* the lock may have been the assigner's alone, who is gone */
    }
    if ((flags & FORMAT_BY_LOCK) && lock_is_due(round, row, end) &&
        usher__guest_with(pool, row) == NULL &&
        os_locked(pool->fd, (off_t)LIB_LOCK_ROW + row) == 0) {
        return 0;
    }
    return (flags & FORMAT_BY_LOCK) || same_namespace ? 1 : -1;
}

int usher__alive(struct usher_pool *pool, struct alive_round *round, uint32_t row)
{
    uint64_t owner;
    uint64_t identity;
    if (!pool->shared) {
        return 1; /* its threads give back what they have when they end */
    }
    bool whole = read_owner(&pool->rows[row], &owner, &identity);
    int alive = ask(pool, round, row, whole ? owner : format_owner(0, FORMAT_BY_LOCK, 0), identity);
    /* The dead may have made its seat over to another in the last moment: then it is that one who
       matters, and whoever looks next asks for it. */
    if (alive == 0 && atomic_load(&pool->rows[row].owner) != (whole ? owner : 0)) {
        return -1;
    }
    return alive;
}

bool usher__alive_first(struct usher_pool *pool, uint32_t row, uint32_t cycle)
{
    uint32_t watch = atomic_load(&pool->rows[row].watch);
    uint32_t mark = cycle << 8;
    /* again and again: it may be told to look meanwhile, though it is dead */
    while ((watch & FORMAT_REAPED) != mark) {
        if (atomic_compare_exchange_weak(&pool->rows[row].watch, &watch, mark)) {
            return true;
        }
    }
    return false;
}

void usher__alive_bury(struct usher_pool *pool, uint32_t by, uint32_t row, uint32_t cycle,
                       bool gently)
{
    struct core_reap reap;
    CORE_FRESH(reap);
    reap.by = by;
    reap.row = row;
    reap.cycle = cycle;
    reap.gently = gently;
    if (!gently && usher__alive_first(pool, row, cycle)) {
        atomic_fetch_add(&pool->header->reaped, 1);
    }
    (void)core_reap(&pool->core, &reap);
}

/* It leaves by usher_release_for, in a process that may have died of it, and its owner does not
   know: anyone may go on, as after a death. */
static bool leaves_for_another(uint64_t word, uint64_t owner)
{
    return core_row_state(word) == CORE_LEAVING && (format_owner_flags(owner) & FORMAT_ASSIGNED);
}

/* Reap a row that is announced, as it was read then, if its owner is dead now. The word first: what
   is found out about the owner after that holds for this cycle, or the row has gone on and is left
   alone. */
static bool reap_watched(struct usher_pool *pool, uint32_t by, uint32_t row, uint64_t word)
{
    uint64_t owner = atomic_load(&pool->rows[row].owner);
    if (leaves_for_another(word, owner)) {
        usher__alive_bury(pool, by, row, core_row_cycle(word), true);
        return true;
    }
    if (core_row_state(word) == CORE_IDLE || usher__alive(pool, NULL, row) != 0) {
        return false;
    }
    /* It is dead if it is still in the row; it may have left and closed the pool before we
       asked. */
    uint64_t now = usher__row_word(pool, row);
    if (core_row_state(now) == CORE_IDLE || core_row_cycle(now) != core_row_cycle(word)) {
        return false;
    }
    /* A command that has ended as it should, and whose wrapper has not come round to saying so. */
    if ((format_owner_flags(owner) & FORMAT_ASSIGNED) && owner != 0 &&
        os_process_exited((pid_t)format_owner_pid(owner), atomic_load(&pool->rows[row].identity))) {
        (void)usher__release_assigned(pool, by, row, core_row_cycle(word));
        return true;
    }
    usher__alive_bury(pool, by, row, core_row_cycle(word), false);
    /* Nobody's now, unless somebody has taken it already. */
    (void)atomic_compare_exchange_strong(&pool->rows[row].owner, &owner, 0);
    return true;
}

bool usher__alive_reap(struct usher_pool *pool, struct alive_round *round, uint32_t by,
                       uint32_t row)
{
    uint64_t word = usher__row_word(pool, row);
    bool leaves = leaves_for_another(word, atomic_load(&pool->rows[row].owner));
    if (row == by ||
        (!leaves && (core_row_state(word) == CORE_IDLE || usher__alive(pool, round, row) != 0))) {
        return false;
    }
    /* It seems dead: once more, in the right order. */
    struct core_watch watch;
    CORE_FRESH(watch);
    watch.by = by;
    watch.row = row;
    (void)core_watch(&pool->core, &watch);
    bool reaped = reap_watched(pool, by, row, watch.r);
    core_unwatch(&pool->core, by);
    return reaped;
}

bool usher__alive_reap_absent(struct usher_pool *pool, uint32_t by, uint32_t row)
{
    struct alive_round none = {.every = 1, .first = 1}; /* no lock is due */
    return usher__alive_reap(pool, &none, by, row);
}
