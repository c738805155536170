/*
 * A crowd: processes with a herd of threads each. Member m is a thread of process m modulo the
 * number of processes, so that a few members are of as many processes as all of them.
 */
#ifndef USHER_BENCH_CROWD_H
#define USHER_BENCH_CROWD_H

#include "bench/herd.h"

struct crowd;

/* So many processes, each with so many threads; each calls prepare first. NULL if that fails. */
struct crowd *crowd_new(unsigned processes, unsigned threads, int (*prepare)(void));
/* Tell the first so many members to do something. */
void crowd_tell(struct crowd *crowd, unsigned members, herd_job *job);
/* Wait until they have done it. */
void crowd_await(struct crowd *crowd);
/* Wait until they sleep, in whatever they do, and have slept for a while. */
void crowd_settle(struct crowd *crowd);
/* How often members have gone to sleep, so far: as the kernel counts. */
long crowd_sleeps(struct crowd *crowd);
/* Kill them all. */
void crowd_end(struct crowd *crowd);

#endif
