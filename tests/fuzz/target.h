/* What a fuzzed target is: one function, for libFuzzer and for main.c alike. */
#ifndef USHER_FUZZ_TARGET_H
#define USHER_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* Remove what it has made, if it makes anything: before the end, and when it fails. */
__attribute__((weak)) void target_tidy(void);

#endif
