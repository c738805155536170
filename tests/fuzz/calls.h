/* The library calls of a fuzzed input, one byte each, and their allowed results. */
#ifndef USHER_FUZZ_CALLS_H
#define USHER_FUZZ_CALLS_H

#include "usher.h"

#include <stdint.h>

enum { CALLS_MOST = 24 };

/* The path of a pool file, one for each input. */
const char *calls_path(void);
/* Check that usher_open may return this error. */
void calls_opened(int error);
/* Open the file, which need not be a pool, make the calls, and close it. */
void calls_make(const uint8_t *calls, size_t count);

#endif
