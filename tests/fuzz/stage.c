/* The stage. stage.h is the contract. Built without hostile.h: its own accesses are not the
   library's. */
#include "stage.h"

#include "hostile.h"
#include "pool/format.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef mmap
#undef munmap
#undef close

enum { MOST_MAPS = 8, FENCE = 1 << 20 };

static struct map {
    uint8_t *memory;
    size_t size, pages;
} maps[MOST_MAPS];
static const uint8_t *script;
static size_t script_size, next_edit;
static uint32_t countdown;
static uint32_t accesses;
static const char *calling;
static uint64_t before_last; /* the old value of the word that was changed last */
static bool editing;

uint8_t stage_locked;
bool stage_enough;
unsigned stage_sleeps;
void (*stage_interrupt)(void);

void stage_fail(const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    /* to the descriptor: a target may have redirected stderr */
    (void)dprintf(STDERR_FILENO, "fuzz: %s (in %s)\n", text, calling == NULL ? "no call" : calling);
    abort();
}

void stage_begin(void)
{
    memset(maps, 0, sizeof maps);
    script = NULL;
    script_size = next_edit = 0;
    before_last = 0;
    stage_locked = 0;
    stage_enough = false;
    stage_reset_os();
    stage_call("no call");
}

static void wind_up(void)
{
    countdown = next_edit + STAGE_EDIT <= script_size
                    ? 1U + script[next_edit] + 256U * script[next_edit + 1]
                    : UINT32_MAX;
}

void stage_edits(const uint8_t *edits, size_t size)
{
    script = edits;
    script_size = size;
    next_edit = 0;
    wind_up();
    editing = true;
}

void stage_quiet(void)
{
    editing = false;
}

void stage_call(const char *name)
{
    calling = name;
    accesses = stage_sleeps = 0;
    stage_enough = false;
}

/* Return the offset of the word that an edit changes. */
static size_t place_of(const struct format_shape *shape, size_t size, const uint8_t *edit,
                       size_t here)
{
    static const size_t in_row[] = {
        offsetof(struct format_row, word),      offsetof(struct format_row, owner),
        offsetof(struct format_row, identity),  offsetof(struct format_row, since_ns),
        offsetof(struct format_row, seat_hint), offsetof(struct format_row, gave_up)};
    size_t index = edit[3];
    unsigned where = edit[2] % STAGE_WHERES;
    size_t at = here;
    if (where >= STAGE_I && where <= STAGE_K) {
        at = FORMAT_WORDS + 64UL * (where - STAGE_I);
    } else if (where >= STAGE_ROW && where <= STAGE_WATCH) {
        at = FORMAT_PAGE + 48 * (index % shape->guests) + in_row[where - STAGE_ROW];
    } else if (where == STAGE_LINE) {
        at = shape->line_at + 8 * (index % shape->places);
    } else if (where == STAGE_SEAT) {
        at = shape->seats_at + 8 * (index % shape->most_seats);
    } else if (where == STAGE_COUNTERS) {
        at = 128 + 8 * (index % 3);
    } else if (where == STAGE_SHAPE) {
        at = 8 * (index % 9);
    } else if (where == STAGE_ANY) {
        at = 8 * index;
    }
    at &= ~(size_t)7;
    return at + 8 <= size ? at : 0;
}

static uint64_t changed(uint64_t now, uint64_t i, const uint8_t *edit)
{
    uint64_t value = 0;
    for (int byte = 7; byte >= 0; byte--) {
        value = value << 8 | edit[5 + byte];
    }
    unsigned where = edit[2] % STAGE_WHERES;
    unsigned shift = where == STAGE_V || where == STAGE_LINE ? 44 : where == STAGE_I ? 32 : 0;
    switch (edit[4] % STAGE_HOWS) {
    case STAGE_SET:
        return value;
    case STAGE_XOR:
        return now ^ value;
    case STAGE_ADD_TO:
        return now + value;
    case STAGE_SHORT:
        shift = (unsigned)(value >> 16) & 48;
        return (now & ~(0xffffULL << shift)) | (value & 0xffff) << shift;
    case STAGE_STATE:
        return (now << 3 >> 3) | value << 61;
    case STAGE_ISSUED:
        return (now & ~((uint64_t)CORE_TICKET_MASK << shift)) |
               (((i >> 32) + value) & CORE_TICKET_MASK) << shift;
    default:
        return before_last;
    }
}

/* A guest takes every seat that V says is owed, at most 65535: bounded, but slow. Only inputs
   that ask for it do that. */
static uint64_t value_of(size_t at, uint64_t now, uint64_t i, const uint8_t *edit)
{
    uint64_t value = changed(now, i, edit);
    return at == FORMAT_WORDS + 64 && edit[3] != 0xff ? value & ~(0xff0ULL << 32) : value;
}

void stage_edit_bytes(uint8_t *bytes, size_t size, const uint8_t *edit)
{
    struct format_shape shape;
    uint64_t now;
    uint64_t i;
    memcpy(&shape, bytes, sizeof shape);
    if (shape.guests == 0 || shape.places == 0 || shape.most_seats == 0) {
        shape.guests = shape.places = shape.most_seats = 1; /* damaged by an earlier edit */
    }
    size_t at = place_of(&shape, size, edit, 128);
    memcpy(&now, bytes + at, 8);
    memcpy(&i, bytes + FORMAT_WORDS, 8);
    uint64_t value = value_of(at, now, i, edit);
    memcpy(bytes + at, &value, 8);
    before_last = now;
}

/* Edit shared memory atomically, as a peer would. */
static void edit_map(const struct map *map, size_t here)
{
    const uint8_t *edit = script + next_edit;
    struct format_shape shape;
    next_edit += STAGE_EDIT;
    memcpy(&shape, map->memory, sizeof shape);
    if (shape.guests == 0 || shape.places == 0 || shape.most_seats == 0) {
        shape.guests = shape.places = shape.most_seats = 1;
    }
    size_t at = place_of(&shape, map->size, edit, here);
    uint64_t now;
    uint64_t i;
    memcpy(&now, map->memory + at, 8);
    memcpy(&i, map->memory + FORMAT_WORDS, 8);
    uint64_t value = value_of(at, now, i, edit);
    memcpy(map->memory + at, &value, 8);
    before_last = now;
    wind_up();
}

static void edit_before(const struct map *map, size_t here)
{
    while (editing && countdown != UINT32_MAX && --countdown == 0) {
        edit_map(map, here);
        accesses = 0;
        if (countdown != 1) { /* the next edit is not due */
            break;
        }
    }
}

static const struct map *any_map(void)
{
    for (unsigned m = 0; m < MOST_MAPS; m++) {
        if (maps[m].memory != NULL) {
            return &maps[m];
        }
    }
    return NULL;
}

void stage_moment(void)
{
    const struct map *map = any_map();
    if (map != NULL) {
        edit_before(map, FORMAT_WORDS);
    }
}

void stage_access(const volatile void *at, size_t size)
{
    uintptr_t address = (uintptr_t)at;
    for (unsigned m = 0; m < MOST_MAPS; m++) {
        uintptr_t begin = (uintptr_t)maps[m].memory;
        if (begin == 0 || address < begin - FENCE || address >= begin + maps[m].pages + FENCE) {
            continue;
        }
        if (address < begin || address + size > begin + maps[m].size) {
            stage_fail("access at offset %td of a pool of %zu bytes", (ptrdiff_t)(address - begin),
                       maps[m].size);
        }
        edit_before(&maps[m], address - begin);
        if (++accesses > STAGE_MOST_ACCESSES) {
            stage_fail("the call does not end after %u accesses", accesses - 1);
        }
        return;
    }
}

void *stage_map(void *where, size_t size, int protection, int flags, int fd, off_t from)
{
    unsigned m = 0;
    while (m < MOST_MAPS && maps[m].memory != NULL) {
        m++;
    }
    size_t pages = (size + 4095) & ~(size_t)4095;
    uint8_t *room = mmap(where, pages + 2UL * FENCE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (m == MOST_MAPS || room == MAP_FAILED) {
        stage_fail("no room for a map of %zu bytes", size);
    }
    void *memory = mmap(room + FENCE, size, protection, flags | MAP_FIXED, fd, from);
    if (memory == MAP_FAILED) {
        (void)munmap(room, pages + 2UL * FENCE);
        return memory;
    }
    maps[m] = (struct map){memory, size, pages};
    return memory;
}

int stage_unmap(void *memory, size_t size)
{
    for (unsigned m = 0; m < MOST_MAPS; m++) {
        if (maps[m].memory == memory) {
            if (size != maps[m].size) {
                stage_fail("unmapped %zu of %zu bytes", size, maps[m].size);
            }
            int error = munmap(maps[m].memory - FENCE, maps[m].pages + 2UL * FENCE);
            maps[m].memory = NULL;
            return error;
        }
    }
    stage_fail("unmapped memory that was not mapped");
}

int stage_close(int fd)
{
    stage_forget_locks(fd);
    return close(fd);
}

int stage_nap(const struct timespec *time, struct timespec *left)
{
    (void)time;
    (void)left;
    stage_moment();
    return 0;
}

pid_t stage_no_fork(void)
{
    errno = EAGAIN;
    return -1;
}

int stage_no_exec(const char *file, char *const argv[])
{
    (void)file;
    (void)argv;
    errno = ENOENT;
    return -1;
}
