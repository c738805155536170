/*
 * Who is certainly dead. Two witnesses, either of which is enough:
 *
 *     the row's lock   belongs to the open description of the process that owns the row. It is free
 *                      when every copy of that description is closed: at death, and at exec. A
 *                      child that was forked behind our back may keep it: then it errs towards
 *                      alive. Valid in every pid namespace.
 *     the process      its pid, and an identity that no other process has (os.h), tell within one
 *                      pid namespace that it has ended, zombie or gone. There are two kinds of
 *                      identities, and the row says which it has: one kind is never compared with
 *                      the other.
 *
 * A witness that cannot tell says nothing. Stopped, slow, swapped out: alive.
 */
#include "reaper/reaper.h"

#include "pool/pool.h"

#include <errno.h>
#include <stdlib.h>

enum { ROUND_FEW = 8, ROUND_PROCESSES = 1024, ROUND_PROBES = 8, ROUND_ALL = 64 };

/* What has been found out in a round. */
struct alive_round {
    uint32_t every, first; /* of which rows the locks are asked for: first, first + every, .. */
    uint32_t room;
    struct asked {
        struct os_identity identity; /* OS_UNKNOWN: free */
        uint32_t pid;
        enum os_end end;
    } processes[]; /* by their pids, or some places further */
};

struct alive_round *usher__alive_round(const struct usher_pool *pool, uint32_t locks)
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
static enum os_end ended(struct alive_round *round, uint32_t pid,
                         const struct os_identity *identity)
{
    struct asked *free_one = NULL;
    uint32_t probes = round == NULL || round->room == 0 ? 0 : ROUND_PROBES;
    for (uint32_t p = 0; p < probes && free_one == NULL; p++) {
        struct asked *asked = &round->processes[(pid + p) % round->room];
        if (usher__same_identity(&asked->identity, identity) && asked->pid == pid) {
            return asked->end;
        }
        free_one = asked->identity.witness == OS_UNKNOWN ? asked : NULL;
    }
    enum os_end end = os_process_ended((pid_t)pid, identity);
    if (free_one != NULL) {
        *free_one = (struct asked){*identity, pid, end};
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

/* What the witnesses say of the owner as it was read. */
static int ask(const struct usher_pool *pool, struct alive_round *round, uint32_t row,
               uint64_t owner, const struct os_identity *identity)
{
    uint32_t flags = format_owner_flags(owner);
    bool by_pid = usher__is_askable(pool, owner, identity);
    bool self = by_pid && usher__is_self(pool, owner, identity);
    enum os_end end =
        by_pid && !self ? ended(round, format_owner_pid(owner), identity) : OS_CANNOT_TELL;
    /* If the machine was started anew the locks are gone, too: where there is one, it decides. */
    if (end == OS_ENDED || (end == OS_OTHER_BOOT && !(flags & FORMAT_BY_LOCK))) {
        return 0;
    }
    bool known = self || end == OS_LIVES;
    if (by_pid && (flags & FORMAT_ASSIGNED) && end != OS_OTHER_BOOT) {
        return known ? 1 : -1; /* the lock may have been the assigning process's, which is gone */
    }
    if ((flags & FORMAT_BY_LOCK) && lock_is_due(round, row, end) &&
        usher__guest_with(pool, row) == NULL &&
        os_locked(pool->fd, (off_t)POOL_LOCK_ROW + row) == 0) {
        return 0;
    }
    return known || (flags & FORMAT_BY_LOCK) ? 1 : -1;
}

int usher__alive(const struct usher_pool *pool, struct alive_round *round, uint32_t row)
{
    uint64_t owner;
    uint64_t identity;
    if (!pool->shared) {
        return 1; /* its threads give back what they have when they end */
    }
    bool whole = read_owner(&pool->rows[row], &owner, &identity);
    owner = whole ? owner : 0;
    struct os_identity known = usher__row_identity(owner, identity);
    int alive = ask(pool, round, row, whole ? owner : format_owner(0, FORMAT_BY_LOCK, 0), &known);
    /* The dead process may have assigned its seat to another one in its last moment: then that one
       matters, and the next scan asks about it. */
    if (alive == 0 && atomic_load(&pool->rows[row].owner) != owner) {
        return -1;
    }
    return alive;
}

struct alive_round *usher__alive_round_without_locks(void)
{
    static struct alive_round none = {.every = 1, .first = 1}; /* no row's lock is due; no room */
    return &none;
}
