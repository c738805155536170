/*
 * The results as a JSON document. Everything that is printed, drawn, or written to CSV or to the
 * document comes from it.
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

/* Describe machine, kernel, compiler and commit. */
json_t *bench_machine(void);
double bench_stolen_s(void);

/* The document so far. */
json_t *bench_results(void);

const char *bench_text(const json_t *object, const char *key);
double bench_number(const json_t *object, const char *key);

/* Print a figure with 3 digits, and k or M if it is large. */
void bench_figure(char *text, size_t room, double value);

/* List a table's peers or cases in order of appearance. Return the count. */
enum { BENCH_MAX_NAMES = 64 };
unsigned bench_names(const json_t *table, const char *key, const char **names);
/* Return the row of a peer in a case, or NULL. */
const json_t *bench_find(const json_t *table, const char *where, const char *peer);

#endif
