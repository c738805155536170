/* Giving way before one sleeps in a line: for pools and gates. giveway.c says what for. */
#ifndef USHER_LIB_GIVEWAY_H
#define USHER_LIB_GIVEWAY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Let others run, if that pays where there are so many seats and so many in line: has its turn
   come meanwhile? *crowded_ns is theirs who share that line, for this alone: 0 in the beginning. */
bool usher__give_way(uint32_t seats, uint32_t ahead, _Atomic int64_t *crowded_ns,
                     bool (*has_come)(const void *turn), const void *turn);

#endif
