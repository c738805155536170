/*
 * Make the Nth call of libusher to the C library or the kernel fail, of all calls that can fail,
 * with a typical error for that call. The linker substitutes these functions (--wrap).
 */
#ifndef USHER_FAULTS_H
#define USHER_FAULTS_H

#include <stdbool.h>

/* From now on the nth call fails, and no other. 0: none. */
void fault_begin(unsigned nth);
/* Stop. Return whether there was an nth call; *what is its name, *error its errno (positive). */
bool fault_end(const char **what, int *error);
/* The number of memory blocks that the library has not freed. */
long fault_memory(void);
/* The number of reads of clocks other than CLOCK_MONOTONIC since the start. */
int fault_clocks(void);

#endif
