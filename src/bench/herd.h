/*
 * A herd: thousands of threads that sleep until one gets a job. They live through all rounds, so
 * data that a peer keeps for each thread stays.
 */
#ifndef USHER_BENCH_HERD_H
#define USHER_BENCH_HERD_H

struct herd;
/* A job; it runs in the member's thread. */
typedef void herd_job(unsigned member);

/* Start `members` threads; NULL: not possible. */
struct herd *herd_new(unsigned members);
/* Give a member a job. It must be idle. A member may stay asleep inside its job. */
void herd_tell(struct herd *herd, unsigned member, herd_job *job);
/* Wait until the member's job is done. */
void herd_await(struct herd *herd, unsigned member);
/* End all threads. All must be idle. */
void herd_end(struct herd *herd);

#endif
