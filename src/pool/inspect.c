/* usher_inspect and usher_history: report a pool. They change nothing in it. */
#include "core/query.h"
#include "pool/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SNAPSHOT_LOCKS = 8 };

struct found {
    struct usher_guest *guests;
    size_t capacity, count;
    struct alive_round *round;
    uint32_t issue; /* core_query_issue, read once */
};

/* Count a guest. Return its entry, without seat, position and ticket; NULL: the array is full. */
static struct usher_guest *add(const struct usher_pool *pool, struct found *found, uint32_t row)
{
    size_t at = found->count++;
    if (found->guests == NULL || at >= found->capacity) {
        return NULL;
    }
    struct usher_guest *guest = &found->guests[at];
    memset(guest, 0, sizeof *guest);
    guest->seat = UINT32_MAX;
    guest->since_ns = usher__noted_ns(atomic_load(&pool->rows[row].since_ns));
    uint64_t owner = atomic_load(&pool->rows[row].owner);
    /* In another pid namespace the pid belongs to a different process. */
    if (pool->self.pid_namespace != 0 &&
        format_owner_namespace(owner) == pool->self.pid_namespace) {
        guest->pid = (pid_t)format_owner_pid(owner);
    }
    guest->pid_namespace = format_owner_namespace(owner);
    guest->pid_there = guest->pid_namespace == 0 ? 0 : (pid_t)format_owner_pid(owner);
    guest->alive = usher__alive(pool, found->round, row);
    return guest;
}

/* Copy the label of a seat, as much as fits. */
static void copy_label(const struct usher_pool *pool, uint32_t seat, char *label, size_t room)
{
    const char *at = pool->labels;
    for (uint32_t s = 0; at != NULL && s < seat; s++) {
        at = strchr(at, ',');
        at = at == NULL ? NULL : at + 1;
    }
    if (at != NULL) {
        size_t length = strcspn(at, ",");
        (void)snprintf(label, room, "%.*s", (int)length, at);
    }
}

static void add_holders(const struct usher_pool *pool, struct found *found)
{
    for (uint32_t s = 0; s < pool->core.seats; s++) {
        uint32_t ticket;
        uint32_t row = core_query_holder(&pool->core, s, found->issue, &ticket);
        if (row == CORE_NOBODY) {
            continue;
        }
        struct usher_guest *guest = add(pool, found, row);
        if (guest != NULL) {
            guest->seat = s;
            guest->ticket = ticket;
            copy_label(pool, s, guest->label, sizeof guest->label);
        }
    }
}

/* Guests with a granted ticket that have not claimed a seat yet. */
static void add_unseated(const struct usher_pool *pool, struct found *found)
{
    for (uint32_t row = 0; row < usher__rows_used(pool); row++) {
        uint32_t ticket;
        if (core_query_unseated(&pool->core, row, found->issue, &ticket)) {
            struct usher_guest *guest = add(pool, found, row);
            if (guest != NULL) {
                guest->ticket = ticket;
            }
        }
    }
}

static void add_waiters(const struct usher_pool *pool, struct found *found)
{
    struct core_line_walk walk;
    uint32_t row;
    uint32_t ticket;
    uint64_t word;
    core_line_begin(&pool->core, &walk);
    for (uint32_t at = 1; core_line_next(&pool->core, &walk, &row, &word, &ticket); at++) {
        struct usher_guest *guest = add(pool, found, row);
        if (guest != NULL) {
            guest->position = at;
            guest->ticket = ticket;
        }
    }
}

int usher_inspect(const struct usher_pool *pool, struct usher_info *info,
                  struct usher_guest *guests, size_t capacity)
{
    struct found found = {guests, capacity, 0, NULL, 0};
    if (pool->module != NULL) {
        int refused = usher__remote_usable(pool);
        return refused != 0 ? refused : pool->module->inspect(pool->remote, info, guests, capacity);
    }
    int error = usher__pool_usable(pool);
    if (error != 0) {
        return error;
    }
    found.issue = core_query_issue(&pool->core);
    found.round = guests != NULL ? usher__alive_round(pool, SNAPSHOT_LOCKS) : NULL;
    add_holders(pool, &found);
    add_unseated(pool, &found);
    size_t holders = found.count;
    add_waiters(pool, &found);
    free(found.round);
    if (info == NULL) {
        return (int)found.count;
    }
    memset(info, 0, sizeof *info);
    info->seats = usher__seats(pool);
    info->owed = core_query_owed(&pool->core);
    info->holders = (uint32_t)holders;
    info->free = holders < info->seats ? info->seats - info->holders : 0;
    info->waiters = (uint32_t)(found.count - holders);
    info->guests = pool->core.rows;
    info->most_seats = pool->core.seats;
    info->reaped = atomic_load(&pool->header->reaped);
    for (uint32_t row = 0; row < usher__rows_used(pool); row++) {
        info->served += format_served(atomic_load(&pool->rows[row].seat_hint));
        info->gave_up += atomic_load(&pool->rows[row].gave_up);
        info->guests_used += atomic_load(&pool->rows[row].owner) != 0;
    }
    return (int)found.count;
}

static struct format_past *past_of(const struct usher_pool *pool)
{
    return (void *)((char *)pool->header + FORMAT_PAST_AT);
}

static uint64_t milliseconds(int64_t ns)
{
    int64_t ms = ns / 1000000;
    return ms < 0 ? 0 : ms > UINT32_MAX ? UINT32_MAX : (uint64_t)ms;
}

/* If 220 other entries are noted meanwhile, two writers may mix one entry: it is for display only.
   */
void usher__past_note(struct usher_pool *pool, int64_t waited_ns, int64_t held_ns)
{
    uint64_t at = atomic_fetch_add(&pool->header->past_count, 1) % FORMAT_PAST;
    struct format_past *past = &past_of(pool)[at];
    atomic_store(&past->durations, milliseconds(waited_ns) << 32 | milliseconds(held_ns));
    atomic_store(&past->ended_ns, os_now_ns());
}

int usher_history(const struct usher_pool *pool, struct usher_past *past, size_t capacity)
{
    if (pool->module != NULL) {
        return usher__remote_usable(pool); /* ZooKeeper pools keep no history */
    }
    int error = usher__pool_usable(pool);
    if (error != 0) {
        return error;
    }
    uint64_t count = atomic_load(&pool->header->past_count);
    uint64_t known = count < FORMAT_PAST ? count : FORMAT_PAST;
    for (uint64_t p = 0; p < known && p < capacity; p++) {
        const struct format_past *noted = &past_of(pool)[(count - 1 - p) % FORMAT_PAST];
        uint64_t durations = atomic_load(&noted->durations);
        past[p] = (struct usher_past){.ended_ns = usher__noted_ns(atomic_load(&noted->ended_ns)),
                                      .waited_ms = (uint32_t)(durations >> 32),
                                      .held_ms = (uint32_t)durations};
    }
    return (int)known;
}
