/* Calling the next in line before its turn: for pools and gates. call.c says what for. */
#ifndef USHER_LIB_CALL_H
#define USHER_LIB_CALL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Is whoever leaves to call the next, where there are so many seats, and so many in line behind
   those who are in? *vain is theirs who share that line (or, at gates, a process), *spared the
   caller's own, both for this alone: 0 in the beginning. */
bool usher__call_pays(uint32_t seats, uint32_t ahead, const _Atomic uint32_t *vain,
                      uint32_t *spared);
/* One was called: did its turn come while it was awake? */
void usher__call_learn(_Atomic uint32_t *vain, bool come);

#endif
