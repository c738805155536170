/*
 * usher-bench: peers x workloads. What the workloads have in common: how much to do, samples and
 * what is made of them, tables of results, and wanted figures.
 *
 * The rule of every workload: measure in rounds, all peers in each round, beginning with another
 * one each time, so that all see the same noise and none profits from its place; report the median
 * and the quartiles; and compare round by round, so that a ratio is of two figures from the same
 * moment.
 */
#ifndef USHER_BENCH_H
#define USHER_BENCH_H

#include "usher.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { BENCH_MAX_PEERS = 24, BENCH_MAX_ROUNDS = 512 };

/* How much to do. FULL is for figures to be shown, QUICK for a look, SMOKE to see that it runs. */
enum bench_effort { BENCH_FULL, BENCH_QUICK, BENCH_SMOKE };
extern enum bench_effort bench_effort;
/* One of three, by effort. */
unsigned bench_pick(unsigned full, unsigned quick, unsigned smoke);

/* What is known of a figure: the median of its samples, their quartiles, and the extremes. */
struct bench_summary {
    double median, q1, q3, least, most;
    unsigned count;
};
struct bench_summary bench_summarise(const double *samples, unsigned count);
/* The q-quantile of samples, 0 <= q <= 1: the least value that a share q of them do not exceed. */
double bench_quantile(const double *samples, unsigned count, double q);
/* What becomes of a figure from round to round, against another's: summary of one[r] / other[r]. */
struct bench_summary bench_ratio(const double *one, const double *other, unsigned count);

/* A table: rows for peers and cases, in one unit. "less" or "more" of it is better. */
void bench_table(const char *workload, const char *name, const char *title, const char *unit,
                 const char *better);
/* A row of the last table. `where` is the case ("" if there is but one), x its number for plots. */
void bench_row(const char *where, double x, const char *peer, const double *samples,
               unsigned count);
/* A peer that has no row, and why. */
void bench_absent(const char *workload, const char *peer, const char *why);
/* Print the last table. */
void bench_show(void);

/* A wanted figure of the workload of the last table: yes or NO. `at_most`, or at least. */
void bench_want(const char *what, struct bench_summary value, bool at_most, double limit);
/* The same where `met` was decided otherwise; `rule` says how. */
void bench_want_met(const char *what, struct bench_summary value, const char *rule, bool met);

/* A figure that nothing is wanted of: it shows what the machine allows. */
void bench_tell(const char *what, struct bench_summary value);

/* Of a peer's rows in the last table: each median at most so much. */
void bench_want_rows(const char *peer, double limit);

/* The results so far, as a JSON document or as CSV. 0, or -1: it could not be written. */
int bench_write_json(const char *path);
int bench_write_csv(const char *path);
/* From a JSON document of ours, or from the results so far if it is NULL: DIRECTORY/benchmarks.md
   and DIRECTORY/bench-*.svg. 0, or -1. */
int bench_document(const char *json, const char *directory);

double bench_now_ns(void);
void bench_nap_us(unsigned us);
/* Keep the processor busy for about that long: work done, not time passed. */
void bench_work_ns(unsigned ns);
/* fork, with a child that does not outlive us. */
pid_t bench_fork(void);
/* Memory that children share, all zero. Ends the program if there is none. */
void *bench_shared(size_t size);
void bench_unshare(void *memory, size_t size);
/* Sleep while *word is `seen`; wake `count` sleepers. */
void bench_futex_wait(const void *word, uint32_t seen);
void bench_futex_wait_for(const void *word, uint32_t seen, unsigned ms); /* at most */
void bench_futex_wake(const void *word, unsigned count);
/* The first two processors that we may use; how many there are, at most two. Run on that one. */
unsigned bench_processors(unsigned found[2]);
void bench_stay_on(unsigned processor);
/* Do two processors run at the same time? 1 if they do, more if they often do not: together.c. 0:
   that cannot be known. In a process without children. */
double bench_together(void);
/* A path for a pool, or for another file of that suffix, that nobody else has. */
const char *bench_pool(void);
void bench_path(char *path, size_t room, const char *suffix);
/* Called first in a program that `process` has executed: use the names of that process. */
void bench_name_after(pid_t process);
/* The program of that name that was built with us. */
void bench_program(char *path, size_t room, const char *name);

/* The workloads, one file each. */
void bench_uncontended(void);
void bench_contended(void);
void bench_cpu(void);
void bench_bystander(void);
void bench_ablation(void);
void bench_handover(void);
void bench_parked(void);
void bench_growth(void);
void bench_recovery(void);
void bench_idle(void);
void bench_memory(void);
void bench_job(void);
void bench_inspect(void);
void bench_checker(void);
void bench_zookeeper(void);
/* What bench_uncontended has this program do in a process of its own: measure, into the memory that
   the descriptor is of. The exit status. */
int bench_alone(const char *descriptor);

#endif
