/*
 * The results as a JSON document, the only form they are kept in: what is printed, written as CSV,
 * drawn and put into the document is read from there.
 *
 *     {"usher-bench": 1, "machine": {...}, "effort": "quick", "seconds": 41.2, "stolen": 0.3,
 *      "tables": [{"workload", "name", "title", "unit", "better",
 *                  "rows": [{"case", "x", "peer", "median", "q1", "q3", "least", "most",
 *                            "count"}]}],
 *      "wants": [{"workload", "what", "value", "q1", "q3", "rule", "met"}],
 *      "allows": [{"workload", "what", "value", "q1", "q3"}],
 *      "absent": [{"workload", "peer", "why"}]}
 */
#ifndef USHER_BENCH_RESULTS_H
#define USHER_BENCH_RESULTS_H

#include <jansson.h>
#include <stddef.h>

/* The machine, the kernel, the compiler, the commit. */
json_t *bench_machine(void);
double bench_stolen_s(void);

/* The document so far. */
json_t *bench_results(void);

const char *bench_text(const json_t *object, const char *key);
double bench_number(const json_t *object, const char *key);

/* A figure in a few characters: 3 digits, and k or M if it is large. */
void bench_figure(char *text, size_t room, double value);

/* Tables: the peers, and the cases, in order of appearance. How many. */
enum { BENCH_MAX_NAMES = 64 };
unsigned bench_names(const json_t *table, const char *key, const char **names);
/* The row of a peer in a case, or NULL. */
const json_t *bench_find(const json_t *table, const char *where, const char *peer);

#endif
