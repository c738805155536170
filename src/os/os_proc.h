/* What /proc says of processes. Of src/os alone. */
#ifndef USHER_OS_PROC_H
#define USHER_OS_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Of one process, all read at one instant. */
struct os_stat {
    uint64_t start; /* clock ticks since the boot, shifted by the reader's time namespace */
    bool ended;     /* a zombie, and all its threads have ended */
    int status;     /* of a zombie: as wait(2) gives it; 0 if we may not see it */
};

/*
 * Read about the process that is `pid` in our pid namespace. One call needs one free descriptor.
 *
 *     -ESRCH            there is certainly none
 *     -EMFILE, -ENFILE  no file descriptor left
 *     -ENODATA          cannot tell: /proc is missing, is no procfs, belongs to another pid
 *                       namespace, or hides the process (hidepid)
 */
int os_proc_stat(pid_t pid, struct os_stat *stat);
/* Is `pid` a process, and not another thread of one? Errors as above. */
int os_proc_is_process(pid_t pid, bool *is);
/* How start times are shifted for us, as a hash of 20 bits; 0: not at all. Two processes with the
   same hash read the same start time of a process. -ENODATA: cannot tell. */
int os_proc_shift(uint32_t *shift);
/* Which boot this is, as a hash of 20 bits; 0: it cannot be known now, or what stands there is made
   up. */
uint32_t os_proc_boot(void);

#endif
