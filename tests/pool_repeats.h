/*
 * The sizes at which pool_test.c explores the core with words that are short enough to repeat, and
 * with store buffers; and the guards that only these sizes need.
 *
 * pauses: a step is a whole operation, and at most that many operations are interrupted at the same
 * time. Tags have 1 or 2 bits, cycles and questions one more. Tickets have as few bits as the size
 * allows: 3 bits, so 8 tickets, for k + line up to 3, otherwise 4. The first process enters until
 * its words repeat while another process is interrupted.
 */
#ifndef USHER_TESTS_POOL_REPEATS_H
#define USHER_TESTS_POOL_REPEATS_H

#include "pool_sizes.h"

/* `simple` leaves out what a size is not about: see step_limits. */
static const struct size repeat_sizes[] = {
    {2, 1, {.cycles = 10, .fewer = 9, .tag_bits = 1, .line = 1, .pauses = 2, .simple = 3}},
    {2,
     1,
     {.cycles = 9, .fewer = 8, .crashes = 1, .tag_bits = 1, .line = 2, .pauses = 1, .simple = 3}},
    {2, 2, {.cycles = 8, .fewer = 7, .tag_bits = 1, .line = 1, .pauses = 2, .simple = 3}},
    {2, 2, {.cycles = 6, .fewer = 4, .tag_bits = 1, .line = 1, .pauses = 1, .simple = 2}},
    {2,
     2,
     {.cycles = 1, .grows = 1, .shrinks = 2, .tag_bits = 1, .line = 1, .pauses = 1, .simple = 3}},
    {3, 1, {.cycles = 2, .fewer = 1, .tag_bits = 1, .line = 2, .pauses = 1, .simple = 3}},
    {3,
     1,
     {.cycles = 6, .fewer = 6, .crashes = 1, .tag_bits = 1, .line = 1, .pauses = 1, .simple = 3}},
    {3, 2, {.cycles = 1, .crashes = 1, .tag_bits = 1, .line = 2, .pauses = 1, .simple = 3}},
};

static const struct size slow_repeat_sizes[] = {
    {2, 1, {.cycles = 10, .fewer = 8, .tag_bits = 1, .line = 1, .pauses = 1}},
    {2, 1, {.cycles = 10, .fewer = 9, .crashes = 1, .tag_bits = 2, .line = 1, .pauses = 1}},
    {2,
     2,
     {.cycles = 9, .fewer = 7, .crashes = 1, .tag_bits = 1, .line = 1, .pauses = 1, .simple = 3}},
    {2,
     2,
     {.cycles = 2,
      .crashes = 1,
      .gives_up = 1,
      .shrinks = 1,
      .tag_bits = 2,
      .line = 2,
      .pauses = 1,
      .simple = 3}},
    {3, 1, {.cycles = 2, .tag_bits = 1, .line = 2, .pauses = 1, .simple = 3}},
    {3, 2, {.cycles = 8, .fewer = 7, .tag_bits = 1, .line = 2, .pauses = 1, .simple = 3}},
    {3, 2, {.cycles = 9, .fewer = 8, .tag_bits = 1, .line = 1, .pauses = 1, .simple = 3}},
};

/* With store buffers: x86-TSO. */
static const struct size tso_sizes[] = {
    {2, 1, {.cycles = 2, .crashes = 1, .buffer = 1}},
    {2, 1, {.cycles = 1, .crashes = 1, .buffer = 2}},
    {2,
     1,
     {.cycles = 9, .fewer = 8, .tag_bits = 1, .line = 1, .pauses = 1, .buffer = 2, .simple = 3}},
};

static const struct size slow_tso_sizes[] = {
    {2,
     1,
     {.cycles = 10, .fewer = 8, .tag_bits = 1, .line = 1, .pauses = 1, .buffer = 1, .simple = 3}},
};

static const struct row repeat_rows[] = {
    {"take-i-still",
     {3, 1, {.cycles = 2, .fewer = 1, .tag_bits = 1, .line = 2, .pauses = 1, .simple = 3}}},
    {"v-still",
     {3, 1, {.cycles = 9, .fewer = 8, .tag_bits = 1, .line = 2, .pauses = 1, .simple = 7}}},
    {"repeat-until",
     {2, 1, {.cycles = 10, .fewer = 8, .tag_bits = 1, .line = 1, .pauses = 1, .simple = 1}}},
    {"announce-i",
     {2, 1, {.cycles = 10, .fewer = 8, .tag_bits = 1, .line = 1, .pauses = 1, .simple = 3}}},
    {"announce-v",
     {2, 2, {.cycles = 10, .fewer = 8, .tag_bits = 1, .line = 1, .pauses = 1, .simple = 3}}},
    {"announce-k",
     {2,
      2,
      {.cycles = 1, .grows = 1, .shrinks = 2, .tag_bits = 1, .line = 1, .pauses = 1, .simple = 3}}},
    {"announce-line",
     {3, 1, {.cycles = 9, .fewer = 8, .tag_bits = 1, .line = 2, .pauses = 1, .simple = 3}}},
    {"announce-row",
     {3,
      1,
      {.cycles = 6, .fewer = 6, .crashes = 1, .tag_bits = 1, .line = 1, .pauses = 1, .simple = 3}}},
    {"second-i",
     {2, 1, {.cycles = 10, .fewer = 8, .tag_bits = 1, .line = 1, .pauses = 1, .simple = 3}}},
    {"second-v",
     {2, 2, {.cycles = 10, .fewer = 8, .tag_bits = 1, .line = 1, .pauses = 1, .simple = 3}}},
    {"announce-order",
     {2,
      1,
      {.cycles = 10, .fewer = 8, .tag_bits = 1, .line = 1, .pauses = 1, .buffer = 1, .simple = 3}}},
    {"scan-i",
     {2,
      1,
      {.cycles = 2, .crashes = 1, .grows = 1, .tag_bits = 1, .line = 1, .pauses = 1, .simple = 3}}},
    {"scan-v",
     {2,
      1,
      {.cycles = 2,
       .gives_up = 1,
       .grows = 1,
       .tag_bits = 1,
       .line = 2,
       .pauses = 1,
       .simple = 3}}},
    {"scan-k",
     {1, 1, {.cycles = 2, .grows = 2, .tag_bits = 1, .line = 1, .pauses = 1, .simple = 3}}},
    {"scan-announced",
     {2, 1, {.cycles = 10, .fewer = 8, .tag_bits = 1, .line = 1, .pauses = 1, .simple = 3}}},
};

static const struct row slow_repeat_rows[] = {
    /* B holds. X and G give up. X takes the last place again. G resizes until its cycle repeats,
       and waits: its old place is before X's. */
    {"scan-line",
     {3,
      1,
      {.cycles = 2,
       .gives_up = 2,
       .grows = 1,
       .shrinks = 2,
       .tag_bits = 1,
       .line = 4,
       .pauses = 1,
       .last = 2,
       .simple = 7}}},
    /* A has scanned the announcements. B announces K's author, A. C finishes B's resize. A scans K,
       and resizes with the tag that B relies on. */
    {"scan-order",
     {3,
      1,
      {.cycles = 1,
       .fewer = 1,
       .fewer_only = 3,
       .grows = 2,
       .shrinks = 1,
       .tag_bits = 1,
       .line = 1,
       .pauses = 2,
       .last = 2,
       .simple = 7}}},
};

/* The four losses that repeated words cause. The rule on replaced values is off (`simple` 4), so
   the loss itself is found. */
static const struct row harm_rows[] = {
    /* two holders of one seat */
    {"announce-i",
     {2, 1, {.cycles = 10, .fewer = 8, .tag_bits = 1, .line = 1, .pauses = 1, .simple = 7}}},
    /* K counts a resize that was undone: a seat is made up */
    {"announce-k",
     {2,
      2,
      {.cycles = 1, .grows = 1, .shrinks = 2, .tag_bits = 1, .line = 1, .pauses = 1, .simple = 7}}},
    /* a dead place is recorded: one guest too many is granted */
    {"announce-line",
     {3, 1, {.cycles = 9, .fewer = 8, .tag_bits = 1, .line = 2, .pauses = 1, .simple = 7}}},
};

static const struct row slow_harm_rows[] = {
    /* V is published over before it is finished: the author has grown the pool, and K is not
       changed. (With waiters instead of a resize this takes four guests: too many states.) */
    {"announce-v",
     {2,
      2,
      {.cycles = 18, .fewer = 17, .grows = 1, .tag_bits = 1, .line = 1, .pauses = 2, .simple = 7}}},
};

/* The mutant breaks no rule at this size. */
static const struct row spare_rows[] = {
    /* without a store buffer the second read cannot overtake the announcement */
    {"announce-order",
     {2, 1, {.cycles = 10, .fewer = 8, .tag_bits = 1, .line = 1, .pauses = 1, .simple = 3}}},
};

/* Caught at no size that was tried, but elsewhere: by src/core/get_test.c, built without the guard
   (get_without_*), or by the walks of pool_walk_test.c. */
static const char *const caught_elsewhere[] = {
    "second-k",      "second-line", "second-seat", "second-row",
    "announce-seat", "scan-first",  "scan-seats",  "slide-waits",
};

enum {
    REPEAT_SIZES = sizeof repeat_sizes / sizeof repeat_sizes[0],
    SLOW_REPEAT_SIZES = sizeof slow_repeat_sizes / sizeof slow_repeat_sizes[0],
    TSO_SIZES = sizeof tso_sizes / sizeof tso_sizes[0],
    SLOW_TSO_SIZES = sizeof slow_tso_sizes / sizeof slow_tso_sizes[0],
    REPEAT_ROWS = sizeof repeat_rows / sizeof repeat_rows[0],
    SLOW_REPEAT_ROWS = sizeof slow_repeat_rows / sizeof slow_repeat_rows[0],
    HARM_ROWS = sizeof harm_rows / sizeof harm_rows[0],
    SLOW_HARM_ROWS = sizeof slow_harm_rows / sizeof slow_harm_rows[0],
    SPARE_ROWS = sizeof spare_rows / sizeof spare_rows[0],
    CAUGHT_ELSEWHERE = sizeof caught_elsewhere / sizeof caught_elsewhere[0],
};

#endif
