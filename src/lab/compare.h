/*
 * Compare algorithms at one size or several: the cost of a passage alone and contended, waiting
 * times, overtakings, and the bits of shared memory.
 */
#ifndef USHER_LAB_COMPARE_H
#define USHER_LAB_COMPARE_H

#include "lab/run.h"
#include "lab/space_stated.h"

#include <stdio.h>

/* A passage while no other process runs: the most expensive of the first three of each process. */
struct lab_alone {
    bool comes_in;         /* false: alone, a process never enters or never leaves */
    unsigned enter, leave; /* accesses from R to C, and from C to R */
    bool updates;          /* some step reads and writes a word; false: registers are enough */
};

struct lab_alone lab_alone_of(const struct step_system *system);

/* The measures, in the order in which they are printed. */
enum lab_measure {
    LAB_ALONE,     /* accesses of a passage, alone */
    LAB_CONTENDED, /* the average in the run */
    LAB_CYCLES,    /* passages of all processes a second; the median of the rounds */
    LAB_MEDIAN,    /* waits, in ns */
    LAB_P99,
    LAB_LONGEST,
    LAB_OVERTAKEN,      /* overtakings in a thousand entries */
    LAB_MOST_OVERTAKEN, /* most overtakings in one wait */
    LAB_BITS,           /* of shared memory */
    LAB_MEASURES
};

struct lab_measure_info {
    const char *name;    /* in JSON */
    const char *head[2]; /* above a column */
    bool more_is_better; /* false: less is better */
    bool measured;       /* in a run, with noise; false: exact */
};

extern const struct lab_measure_info lab_measures[LAB_MEASURES];

enum { LAB_MOST_ROUNDS = 16 };

/* One algorithm at one size. */
struct lab_compared {
    struct step_system system;
    bool takes; /* the algorithm takes this size; if not, nothing else is set */
    struct lab_alone alone;
    struct lab_space space;
    struct lab_run run;
    double rates[LAB_MOST_ROUNDS]; /* passages a second in each round */
};

/* All algorithms at one size. */
struct lab_size {
    unsigned n, k;
    struct lab_compared *rows; /* machine_count of them */
};

struct lab_comparison {
    const struct step_machine *const *machines; /* NULL ends the list */
    unsigned machine_count;
    struct lab_size *sizes;
    unsigned size_count;
    double seconds; /* for each algorithm at each size, in all rounds together */
    unsigned rounds;
    bool processes;
};

/* Run all, interleaved: the first round of each at every size, then the second, .. 0 or -errno. */
int lab_compare_run(struct lab_comparison *all);

/* The value of a measure; NAN if there is none, or no bound. */
double lab_value(const struct lab_compared *row, enum lab_measure measure);

/* Requirements by which the algorithms of a map are selected. */
enum lab_demand {
    LAB_ANY,       /* at most k */
    LAB_IN_ORDER,  /* FIFO enabling and lockout */
    LAB_REGISTERS, /* lockout, by reads and writes only */
    LAB_DEMANDS
};

bool lab_meets(const struct lab_compared *row, enum lab_demand demand);

/* The best row that meets a demand, the first of equals; NULL if there is none. */
const struct lab_compared *lab_best(const struct lab_comparison *all, const struct lab_size *size,
                                    enum lab_measure measure, enum lab_demand demand);

/* Is a value as good as the best? Counted: equal. Measured: within a fifth. */
bool lab_as_good(enum lab_measure measure, double value, double best);

/* "1.21M", "38", "0.4": at most five characters. Returns `out`. */
enum { LAB_SHORT_BYTES = 16 };
char *lab_short(double value, char out[LAB_SHORT_BYTES]);

/* A value as text, a wait with its unit. Returns `out`. */
char *lab_value_text(const struct lab_compared *row, enum lab_measure measure,
                     char out[LAB_SHORT_BYTES]);

/* Draw as SVG: one size as a table with bars; several as maps of the best algorithms. */
void lab_compare_draw_table(FILE *file, const struct lab_comparison *all);
void lab_compare_draw_maps(FILE *file, const struct lab_comparison *all);

/* The promises at this size as "SLF": starvation, lockout, FIFO enabling (f: first-in,
   first-enabled). Returns `out`. */
char *lab_promises(const struct lab_compared *row, char out[LAB_SHORT_BYTES]);

/* "0.8 s each, 4 rounds, on threads; 2 processors": how it was measured. Returns `out`. */
enum { LAB_HOW_BYTES = 128 };
char *lab_compare_how(const struct lab_comparison *all, char out[LAB_HOW_BYTES]);

#endif
