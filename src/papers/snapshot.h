/*
 * An atomic snapshot of n values from registers (Afek, Attiya, Dolev, Gafni, Merritt, Shavit, 1993:
 * bounded, single writer). This is not a machine but a component for machines on registers.
 *
 *     scan     returns all values as they were at one moment between its begin and its end
 *     update   scans, then writes the process's value together with the result of the scan
 *
 * The registers of process i:
 *
 *     r(i)     value, view[0..n-1], p[j] for each other j, toggle; i writes them in one step
 *              n bits and n+1 values: with 5^(n-1) values 39 bits at n = 4, 61 at n = 5
 *     q(i,j)   one bit for each other j, written by i
 *
 *     | value and view: n+1 digits to base `values` | toggle | p[n-2] .. p[0] |   a word r(i)
 *
 * scan_i, one step for each access; the process remembers its own r(i):
 *
 *     1.  for all j: q(i,j) := r(j).p[i]
 *     2.  collect a: read r(j) for all j; then collect b, in the same way
 *     3.  if for all j a.p[i] = b.p[i] = q(i,j) and the toggles of a and b agree: return b's values
 *     4.  else each j that fails 3 has moved; if it moved in an earlier round too: return b(j).view
 *     5.  goto 1
 *
 * update_i: f[j] := not q(j,i) for all j; scan; write value, view = the result of the scan, p = f,
 * toggle = not toggle. In line 4 the second move of j began within this scan, and so did the scan
 * whose view it carries. There are at most n+1 rounds; a round is at most 4(n-1) steps.
 *
 * Line 4 is decided for each j when b reads r(j); if it returns, b reads no more registers. A
 * process remembers what it wrote in r(i) and q(i,j), and clears what it will not use.
 */
#ifndef USHER_PAPERS_SNAPSHOT_H
#define USHER_PAPERS_SNAPSHOT_H

#include "step/step.h"

enum { SNAPSHOT_MOST = 5 }; /* processes: a register of labels for 5 still fits a word */

/* The guard that a broken variant drops. */
enum snapshot_broken {
    SNAPSHOT_COLLECT = 1 << 0,      /* everything but one collect */
    SNAPSHOT_NO_TOGGLE = 1 << 1,    /* the toggles agree */
    SNAPSHOT_FIRST_MOVE = 1 << 2,   /* the view of j is used at its second move only */
    SNAPSHOT_NO_HANDSHAKE = 1 << 3, /* a.p[i] = b.p[i] = q(i,j) */
    SNAPSHOT_GREET_ONCE = 1 << 4,   /* line 5 goes to 1, not to 2 */
    SNAPSHOT_NO_P_IN_A = 1 << 5,    /* a.p[i] = q(i,j) */
    SNAPSHOT_NO_P_IN_B = 1 << 6,    /* b.p[i] = q(i,j) */
    SNAPSHOT_SAME_F = 1 << 7        /* f is the negation of q: p changes with every update */
};

/* The place and the size of a snapshot object. */
struct snapshot {
    unsigned n;      /* 1..SNAPSHOT_MOST */
    uint32_t values; /* a value is less than this; snapshot_bits(n, values) <= 64 */
    unsigned first;  /* the word of r(0); the other r follow, then q(0,1), q(0,2) .. */
    unsigned broken; /* bits of enum snapshot_broken; 0: correct */
};

/* The words that n processes need. */
#define SNAPSHOT_WORDS(n) ((n) * (n))

/* The bits of a register r(i). */
unsigned snapshot_bits(unsigned n, uint32_t values);

/* One process's part. All zero: value 0 and no operation. There is no padding, so that equal states
   are equal bytes. Sets of processes are bit masks. */
struct snapshot_state {
    uint32_t value;               /* the value in r(i) */
    uint32_t view[SNAPSHOT_MOST]; /* read by collect b so far; 0 once a process has moved */
    uint8_t toggle;               /* the toggle in r(i) */
    uint8_t stage;                /* what the next step does; 0: no operation */
    uint8_t at;                   /* the process whose register is accessed next */
    uint8_t updates;              /* 1: update; 0: scan */
    uint8_t f;                    /* in update: the p to write */
    uint8_t q;                    /* the values of q(i,j) */
    uint8_t toggles;              /* read by collect a */
    uint8_t failed;               /* processes that moved in this round */
    uint8_t moved;                /* processes that moved in an earlier round */
    uint8_t spare[3];
};

/* Set every value to 0, and every view to all 0. */
void snapshot_init(const struct snapshot *s, uint64_t *words);

/* The value in a register r(i). */
uint32_t snapshot_value(const struct snapshot *s, uint64_t word);

/* Begin a scan or, with `updates`, an update. There must be another process: n > 1. */
void snapshot_begin(const struct snapshot *s, struct snapshot_state *x, unsigned process,
                    bool updates);

/* Take one step. True if the scan is finished: x->view is its result. Then call snapshot_end, or
   for an update snapshot_write as the next step. */
bool snapshot_step(const struct snapshot *s, struct step_memory *memory, struct snapshot_state *x,
                   unsigned process);

/* End the operation without a write, and clear the view. */
void snapshot_end(struct snapshot_state *x);

/* Has an update finished its scan? Then the next step is snapshot_write. */
bool snapshot_writes(const struct snapshot_state *x);

/* The last step of an update. */
void snapshot_write(const struct snapshot *s, struct step_memory *memory, struct snapshot_state *x,
                    unsigned process, uint32_t value);

/* Print a word, with the contract of snprintf; `print` prints a value. */
int snapshot_print(const struct snapshot *s, unsigned word, uint64_t content,
                   int (*print)(const void *context, uint32_t value, char *out, size_t size),
                   const void *context, char *out, size_t size);

#endif
