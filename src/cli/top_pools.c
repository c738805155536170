/* The state of the pools that usher top shows: see top.h. */
#include "cli/top.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_PAST = 220 }; /* the most that usher_history returns */

static const int64_t second_ns = 1000000000;

static void close_pool(struct top_pool *pool, int error)
{
    if (pool->handle != NULL) {
        usher_close(pool->handle);
    }
    pool->handle = NULL;
    pool->open = false;
    pool->error = error;
    pool->sampled = 0;
    memset(&pool->info, 0, sizeof pool->info);
    memset(&pool->minute, 0, sizeof pool->minute);
}

/* Does the name have another file now, or none? rm(1) does not mark the old one as removed. */
static bool replaced(const struct top_pool *pool)
{
    struct stat status;
    if (stat(usher_path(pool->handle), &status) != 0) {
        return pool->inode != 0;
    }
    return status.st_dev != pool->device || status.st_ino != pool->inode;
}

static void open_pool(struct top_pool *pool)
{
    struct usher_options existing = {.flags = USHER_EXISTING | USHER_INSPECT};
    struct stat status = {.st_ino = 0}; /* stays 0 if the file was deleted while in use */
    int error = usher_open(&pool->handle, pool->name, &existing);
    if (error == 0) {
        (void)stat(usher_path(pool->handle), &status);
        pool->device = status.st_dev;
        pool->inode = status.st_ino;
        pool->open = true;
        pool->error = 0;
    } else {
        close_pool(pool, error);
    }
}

/* The seats released since the oldest sample of the last minute. */
static uint64_t released_since_sample(struct top_pool *pool, int64_t now)
{
    unsigned newest = (pool->sampled - 1) % TOP_SAMPLES;
    if (pool->sampled == 0 || now - pool->samples[newest].at_ns >= second_ns) {
        unsigned next = pool->sampled++ % TOP_SAMPLES;
        pool->samples[next].at_ns = now;
        pool->samples[next].served = pool->info.served;
    }
    uint64_t least = pool->info.served;
    for (unsigned s = 0; s < TOP_SAMPLES && s < pool->sampled; s++) {
        if (now - pool->samples[s].at_ns <= TOP_MINUTE_S * second_ns &&
            pool->samples[s].served < least) {
            least = pool->samples[s].served;
        }
    }
    return pool->info.served - least;
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static uint32_t median(uint32_t *numbers, size_t count)
{
    qsort(numbers, count, sizeof *numbers, compare_numbers);
    return numbers[count / 2];
}

/*
 * Summarize the last minute. The history of the pool reaches back before usher top started, but it
 * is short, and has only holders that recorded times. The counter has all releases, but only since
 * usher top started. So the larger count is closer to the truth.
 */
static void summarize_minute(struct top_pool *pool)
{
    struct usher_past past[MOST_PAST];
    uint32_t waited[MOST_PAST];
    uint32_t held[MOST_PAST];
    int64_t now = cli_now_ns();
    int known = pool->handle == NULL ? 0 : usher_history(pool->handle, past, MOST_PAST);
    size_t recent = 0;
    int64_t span = 1;
    for (int p = 0; p < known && p < MOST_PAST; p++) {
        int64_t ago = now - past[p].ended_ns;
        if (past[p].ended_ns > 0 && ago >= 0 && ago <= TOP_MINUTE_S * second_ns) {
            waited[recent] = past[p].waited_ms;
            held[recent++] = past[p].held_ms;
            span = ago > span ? ago : span;
        }
    }
    uint64_t noted = recent;
    if (recent == MOST_PAST) { /* the history covers less than a minute: extrapolate */
        noted = (uint64_t)((double)recent * TOP_MINUTE_S * (double)second_ns / (double)span);
    }
    uint64_t seen = released_since_sample(pool, now);
    pool->minute = (struct top_minute){.served = noted > seen ? noted : seen, .timed = recent > 0};
    if (recent > 0) {
        pool->minute.waited_ms = median(waited, recent);
        pool->minute.held_ms = median(held, recent);
    }
}

/* Inspect a pool; of a remote pool, read the last answer of its servers. */
static int inspect_pool(struct top_pool *pool, struct usher_guest *guests, size_t room)
{
    if (pool->watch == NULL) {
        pool->seen_ns = pool->due_ns = cli_now_ns();
        return usher_inspect(pool->handle, &pool->info, guests, room);
    }
    int found =
        top_watch_read(pool->watch, &pool->info, guests, room, &pool->seen_ns, &pool->due_ns);
    if (found > 0 && guests != NULL) {
        cli_name_shells(guests, (size_t)found < room ? (size_t)found : room);
    }
    return found;
}

static void refresh_pool(struct top_pool *pool)
{
    if (pool->watch != NULL) {
        pool->open = true;
    } else if (pool->handle != NULL && replaced(pool)) {
        close_pool(pool, -ENOENT);
    }
    if (pool->handle == NULL && pool->watch == NULL) {
        open_pool(pool);
    }
    if (pool->open) {
        int found = inspect_pool(pool, NULL, 0);
        if (found < 0) {
            close_pool(pool, found);
        } else {
            summarize_minute(pool);
        }
    }
}

struct top_pool *top_add(struct top *top, const char *name)
{
    for (size_t p = 0; p < top->count; p++) {
        if (strcmp(top->pools[p]->name, name) == 0) {
            return top->pools[p];
        }
    }
    struct top_pool **pools = realloc(top->pools, (top->count + 1) * sizeof(struct top_pool *));
    struct top_pool *pool = calloc(1, sizeof *pool);
    char *copy = strdup(name);
    top->pools = pools == NULL ? top->pools : pools;
    if (pools == NULL || pool == NULL || copy == NULL) {
        free(pool);
        free(copy);
        return NULL;
    }
    pool->name = copy;
    pool->error = -ENOENT;
    if (top->named && cli_is_remote(name)) {
        pool->watch = top_watch_start(copy);
        if (pool->watch == NULL) {
            free(pool);
            free(copy);
            return NULL;
        }
    }
    pools[top->count++] = pool;
    return pool;
}

static void drop_pool(struct top *top, size_t at)
{
    struct top_pool *pool = top->pools[at];
    top->count--;
    memmove(&top->pools[at], &top->pools[at + 1], (top->count - at) * sizeof(struct top_pool *));
    if (top->selected == pool) { /* select the pool that takes its place */
        top->selected = top->count == 0   ? NULL
                        : at < top->count ? top->pools[at]
                                          : top->pools[top->count - 1];
    }
    close_pool(pool, 0);
    if (pool->watch != NULL) {
        top_watch_stop(pool->watch);
    }
    free(pool->name);
    free(pool);
}

/* Add the pools that are new in the directories, drop those that are gone. Returns false if memory
   is short. */
static bool scan_directory(struct top *top)
{
    bool enough_memory = true;
    for (size_t p = 0; p < top->count; p++) {
        top->pools[p]->listed = false;
    }
    struct cli_names names;
    int error = cli_list_pools(&names, false);
    top->directory_error = error == 0 ? 0 : -error;
    for (size_t n = 0; enough_memory && n < names.count; n++) {
        struct top_pool *pool = top_add(top, names.names[n]);
        enough_memory = pool != NULL;
        if (enough_memory) {
            pool->listed = true;
        }
    }
    cli_free_names(&names);
    for (size_t p = top->count; enough_memory && p-- > 0;) {
        if (!top->pools[p]->listed) {
            drop_pool(top, p);
        }
    }
    return enough_memory;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(struct top_pool *const *)a)->name, (*(struct top_pool *const *)b)->name);
}

static int by_waiting(const void *a, const void *b)
{
    uint32_t x = (*(struct top_pool *const *)a)->info.waiters;
    uint32_t y = (*(struct top_pool *const *)b)->info.waiters;
    return x == y ? by_name(a, b) : x < y ? 1 : -1;
}

static int by_free(const void *a, const void *b)
{
    uint32_t x = (*(struct top_pool *const *)a)->info.free;
    uint32_t y = (*(struct top_pool *const *)b)->info.free;
    return x == y ? by_name(a, b) : x < y ? 1 : -1;
}

static void sort_pools(struct top *top)
{
    static int (*const orders[])(const void *, const void *) = {
        [TOP_BY_NAME] = by_name, [TOP_BY_WAITING] = by_waiting, [TOP_BY_FREE] = by_free};
    if (top->count > 0) {
        qsort(top->pools, top->count, sizeof(struct top_pool *), orders[top->pool_order]);
        top->selected = top->selected == NULL ? top->pools[0] : top->selected;
    }
}

/* Read the guests of the selected pool. Returns false if memory is short. */
static bool read_guests(struct top *top)
{
    struct top_pool *pool = top->selected;
    int found = 0;
    top->holders = 0;
    top->waiters = 0;
    while (pool != NULL && pool->open) {
        found = inspect_pool(pool, top->guests, top->guest_room);
        if (found < 0) {
            close_pool(pool, found);
            return true;
        }
        if ((size_t)found <= top->guest_room) {
            break;
        }
        size_t room = (size_t)found + 64; /* guests may arrive before the next call */
        struct usher_guest *guests = calloc(room, sizeof *guests);
        if (guests == NULL) {
            return false;
        }
        free(top->guests);
        top->guests = guests;
        top->guest_room = room;
    }
    for (int g = 0; g < found; g++) {
        *(top->guests[g].position == 0 ? &top->holders : &top->waiters) += 1;
    }
    return true;
}

static void add_seat(struct top *top, const struct usher_guest *holder, uint32_t first,
                     uint32_t last)
{
    top->seats[top->seat_count++] = (struct top_seat){holder, first, last};
}

/* The key to sort seats by: held since when; then unknown times, then free seats. */
static int64_t held_since(const struct top_seat *seat)
{
    return seat->holder == NULL          ? INT64_MAX
           : seat->holder->since_ns == 0 ? INT64_MAX - 1
                                         : seat->holder->since_ns;
}

static int longest_first(const void *a, const void *b)
{
    const struct top_seat *x = a;
    const struct top_seat *y = b;
    return held_since(x) != held_since(y)
               ? (held_since(x) > held_since(y)) - (held_since(x) < held_since(y))
               : (x->first > y->first) - (x->first < y->first);
}

/* Make the list of seats. Adjacent free seats share an entry. Returns false if memory is short. */
static bool list_seats(struct top *top)
{
    size_t room = 2 * top->holders + 2;
    top->seat_count = 0;
    if (top->selected == NULL || !top->selected->open) {
        return true;
    }
    if (room > top->seat_room) {
        struct top_seat *seats = realloc(top->seats, room * sizeof *seats);
        if (seats == NULL) {
            return false;
        }
        top->seats = seats;
        top->seat_room = room;
    }
    const struct usher_info *info = &top->selected->info;
    uint32_t below = 0; /* holders of the seats 0 to k-1 */
    for (size_t g = 0; g < top->holders; g++) {
        below += top->guests[g].seat < info->seats;
    }
    /* After a resize a holder can have a seat beyond k-1; then it is unknown which seats are
       free. */
    bool which = info->owed == 0 && info->seats - below == info->free;
    uint32_t next = 0;
    for (size_t g = 0; g < top->holders; g++) {
        uint32_t seat = top->guests[g].seat;
        uint32_t end = seat < info->seats ? seat : info->seats;
        if (which && end > next) {
            add_seat(top, NULL, next, end - 1);
        }
        add_seat(top, &top->guests[g], seat, seat);
        next = end + 1 > next ? end + 1 : next;
    }
    if (which && next < info->seats) {
        add_seat(top, NULL, next, info->seats - 1);
    } else if (!which && info->free > 0) {
        add_seat(top, NULL, UINT32_MAX, UINT32_MAX);
    }
    if (top->seat_order == TOP_BY_TIME && top->seat_count > 0) {
        qsort(top->seats, top->seat_count, sizeof *top->seats, longest_first);
    }
    return true;
}

bool top_refresh(struct top *top)
{
    if (!top->named && !scan_directory(top)) {
        return false;
    }
    for (size_t p = 0; p < top->count; p++) {
        refresh_pool(top->pools[p]);
    }
    sort_pools(top);
    return read_guests(top) && list_seats(top);
}

void top_select(struct top *top, long by)
{
    long at = 0;
    if (top->count == 0) {
        return;
    }
    while (top->pools[at] != top->selected) {
        at++;
    }
    at += by;
    at = at < 0 ? 0 : at >= (long)top->count ? (long)top->count - 1 : at;
    top->scroll = top->selected == top->pools[at] ? top->scroll : 0;
    top->selected = top->pools[at];
}

void top_free(struct top *top)
{
    while (top->count > 0) {
        drop_pool(top, top->count - 1);
    }
    free(top->pools);
    free(top->guests);
    free(top->seats);
}
