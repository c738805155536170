/*
 * A herd: threads by the thousand that sleep until one is told to do something. They stay, so that
 * whatever a peer keeps for a thread is there in every round.
 */
#ifndef USHER_BENCH_HERD_H
#define USHER_BENCH_HERD_H

struct herd;
/* What a member does: `job(member)` runs in that member's thread. */
typedef void herd_job(unsigned member);

/* So many threads; NULL if there cannot be so many. */
struct herd *herd_new(unsigned members);
/* Tell one to do something; it must have nothing to do. Who sleeps in it can be left there. */
void herd_tell(struct herd *herd, unsigned member, herd_job *job);
/* Wait until a member has done what it was told. */
void herd_await(struct herd *herd, unsigned member);
/* All must have nothing to do. */
void herd_end(struct herd *herd);

#endif
