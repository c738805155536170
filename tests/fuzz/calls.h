/* The calls of the library that a fuzzed input makes, a byte each, and what they may return. */
#ifndef USHER_FUZZ_CALLS_H
#define USHER_FUZZ_CALLS_H

#include "usher.h"

#include <stdint.h>

enum { CALLS_MOST = 24 };

/* A pool file of one's own for each input; the path of it. */
const char *calls_path(void);
/* An errno that usher_open may return. */
void calls_opened(int error);
/* Open the pool, which need not be one, make the calls, close it. */
void calls_make(const uint8_t *calls, size_t count);

#endif
