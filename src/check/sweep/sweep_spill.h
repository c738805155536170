/*
 * A file for the states of groups whose turn is far off: for sweep.c alone.
 *
 * A group that is written to the file becomes empty in memory, so that a state may be found and
 * written again. When the group's turn comes, all its states are read back into the set, which
 * removes the duplicates.
 */
#ifndef USHER_CHECK_SWEEP_SPILL_H
#define USHER_CHECK_SWEEP_SPILL_H

#include "check/sweep/sweep_group.h"

/* A run of states of one group in the file. */
struct check_spilled {
    struct check_spilled *next;
    uint64_t offset;
    uint32_t count;
};

struct check_spill {
    int fd;                   /* -1: there is no file */
    uint64_t end;             /* of the written part; under the lock */
    _Atomic uint64_t keys;    /* states written, in all */
    _Atomic uint64_t on_disk; /* states written and not read back */
    pthread_mutex_t lock;
};

/* Create an unlinked file in the directory; NULL: no file, and nothing is ever written. 0, or
   -errno. */
int check_spill_init(struct check_spill *spill, const char *directory);
void check_spill_free(struct check_spill *spill);

/* Write groups with a sum above `sum` to the file, the largest sum first, until all groups use at
   most `use` bytes. Do nothing if another thread is writing. 0, or -errno. */
int check_spill_beyond(struct check_spill *spill, struct check_groups *groups, unsigned sum,
                       size_t use);

/* Read a block of a group's states back. False: none are left, or *error is -errno. */
bool check_spill_back(struct check_spill *spill, struct check_groups *groups,
                      struct check_group *group, int *error);

#endif
