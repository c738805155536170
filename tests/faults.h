/*
 * Calls that fail: the Nth that libusher makes of the C library and the kernel, of all that can
 * fail, each with an error that is likely for it. The linker puts these in their places (--wrap).
 */
#ifndef USHER_FAULTS_H
#define USHER_FAULTS_H

#include <stdbool.h>

/* From now on the nth call fails, and no other. 0: none does. */
void fault_begin(unsigned nth);
/* No more. Whether there was an nth call; *what: which it was, and with what error, positive. */
bool fault_end(const char **what, int *error);
/* How much memory the library has that it has not freed. */
long fault_memory(void);
/* Clocks that were asked for the time and are not CLOCK_MONOTONIC, since the program began. */
int fault_clocks(void);

#endif
