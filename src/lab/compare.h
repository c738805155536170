/*
 * Algorithms side by side at one size or several: what a passage costs alone, what it costs and how
 * long one waits when all come at once, who is overtaken, and how much is shared.
 */
#ifndef USHER_LAB_COMPARE_H
#define USHER_LAB_COMPARE_H

#include "lab/run.h"
#include "lab/space_stated.h"

#include <stdio.h>

/* A passage with nobody else there: the dearest of the first three of each process. */
struct lab_alone {
    bool comes_in;         /* false: it never comes in, or never comes out, on its own */
    unsigned enter, leave; /* accesses from R to C, and from there to R */
    bool updates;          /* some step reads and writes a word at once; if not, registers do */
};

struct lab_alone lab_alone_of(const struct step_system *system);

/* What is compared, in the order in which it is shown. */
enum lab_measure {
    LAB_ALONE,     /* accesses of a passage, alone */
    LAB_CONTENDED, /* the same on average in the run */
    LAB_CYCLES,    /* passages a second, of all together; the median of the rounds */
    LAB_MEDIAN,    /* waits, in ns */
    LAB_P99,
    LAB_LONGEST,
    LAB_OVERTAKEN,      /* overtakings in a thousand entries */
    LAB_MOST_OVERTAKEN, /* of one wait */
    LAB_BITS,           /* of shared memory */
    LAB_MEASURES
};

struct lab_measure_info {
    const char *name;    /* in JSON */
    const char *head[2]; /* above a column */
    bool more_is_better; /* else less is */
    bool measured;       /* in a run, so with noise; else exact */
};

extern const struct lab_measure_info lab_measures[LAB_MEASURES];

enum { LAB_MOST_ROUNDS = 16 };

/* One algorithm at one size. */
struct lab_compared {
    struct step_system system;
    bool takes; /* this size; if not, there is nothing else */
    struct lab_alone alone;
    struct lab_space space;
    struct lab_run run;
    double rates[LAB_MOST_ROUNDS]; /* passages a second in each round */
};

/* All of them at one size. */
struct lab_size {
    unsigned n, k;
    struct lab_compared *rows; /* as many as the comparison has machines */
};

struct lab_comparison {
    const struct step_machine *const *machines; /* NULL ends the list */
    unsigned machine_count;
    struct lab_size *sizes;
    unsigned size_count;
    double seconds; /* of each algorithm at each size, in all rounds */
    unsigned rounds;
    bool processes;
};

/* Run all, interleaved: the first round of each at every size, then the second, ... 0 or -errno. */
int lab_compare_run(struct lab_comparison *all);

/* The value of a measure; NAN where there is none, or no bound. */
double lab_value(const struct lab_compared *row, enum lab_measure measure);

/* What one may ask of an algorithm before asking which is best. */
enum lab_demand {
    LAB_ANY,       /* at most k */
    LAB_IN_ORDER,  /* FIFO enabling, and with k-1 stopped everyone else comes in */
    LAB_REGISTERS, /* the latter, by reads and writes only */
    LAB_DEMANDS
};

bool lab_meets(const struct lab_compared *row, enum lab_demand demand);

/* The best row of those that meet a demand, the first of equals; NULL if there is none. */
const struct lab_compared *lab_best(const struct lab_comparison *all, const struct lab_size *size,
                                    enum lab_measure measure, enum lab_demand demand);

/* Is a value as good as the best: equal if it was counted, within a fifth if it was measured? */
bool lab_as_good(enum lab_measure measure, double value, double best);

/* "1.21M", "38", "0.4": at most five characters. Returns `out`. */
enum { LAB_SHORT_BYTES = 16 };
char *lab_short(double value, char out[LAB_SHORT_BYTES]);

/* A value as people read it: a wait with its unit. Returns `out`. */
char *lab_value_text(const struct lab_compared *row, enum lab_measure measure,
                     char out[LAB_SHORT_BYTES]);

/* As SVG: one size as a table with bars; several as maps of who is best where. */
void lab_compare_draw_table(FILE *file, const struct lab_comparison *all);
void lab_compare_draw_maps(FILE *file, const struct lab_comparison *all);

/* "S L F" of what is promised at this size: starvation, lockout, FIFO enabling (f: first-in,
   first-enabled). Returns `out`. */
char *lab_promises(const struct lab_compared *row, char out[LAB_SHORT_BYTES]);

/* "0.8 s each, 4 rounds, on threads; 2 processors": how it was measured. Returns `out`. */
enum { LAB_HOW_BYTES = 128 };
char *lab_compare_how(const struct lab_comparison *all, char out[LAB_HOW_BYTES]);

#endif
