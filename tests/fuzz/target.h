/* A fuzz target: one function, for libFuzzer and for main.c. */
#ifndef USHER_FUZZ_TARGET_H
#define USHER_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* Remove the target's files, if any; called at the end and at a failure. */
__attribute__((weak)) void target_tidy(void);

#endif
