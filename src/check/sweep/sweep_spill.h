/*
 * States of groups whose turn is far off, in a file until it comes: for sweep.c alone.
 *
 * A group that is put away is as if nothing had been found of it: what is found after that may be
 * in the file already. When its turn comes all is read back, and what was found twice is one state
 * again.
 */
#ifndef USHER_CHECK_SWEEP_SPILL_H
#define USHER_CHECK_SWEEP_SPILL_H

#include "check/sweep/sweep_group.h"

/* Where states of a group are in the file. */
struct check_spilled {
    struct check_spilled *next;
    uint64_t offset;
    uint32_t count;
};

struct check_spill {
    int fd;                /* -1: there is no file */
    uint64_t end;          /* of what is written; under the lock */
    _Atomic uint64_t keys; /* put away, all in all */
    pthread_mutex_t lock;
};

/* A file that nobody else sees, in a directory; without one (NULL) there is none, and nothing is
   ever put away. 0, or -errno. */
int check_spill_init(struct check_spill *spill, const char *directory);
void check_spill_free(struct check_spill *spill);

/* Put away groups whose sum is above this one, those farthest off first, until all groups use no
   more than this. If another thread is about it, nothing is done. 0, or -errno. */
int check_spill_beyond(struct check_spill *spill, struct check_groups *groups, unsigned sum,
                       size_t use);

/* Read some of a group's states back. False when there are none left, or *error is -errno. */
bool check_spill_back(struct check_spill *spill, struct check_groups *groups,
                      struct check_group *group, int *error);

#endif
