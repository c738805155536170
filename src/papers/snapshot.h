/*
 * An atomic snapshot of n values from registers, each process writing its own (Afek, Attiya, Dolev,
 * Gafni, Merritt, Shavit, 1993: bounded, single writer). Not a machine: a component for machines on
 * registers.
 *
 *     scan     returns all values as they were together at one moment between its begin and end
 *     update   scans, then writes a value of its own, with what it saw
 *
 * Registers, of process i:
 *
 *     r(i)     value, view[0..n-1], p[j] for each other j, toggle; written at once by i
 *              n bits and n+1 values: with 5^(n-1) values 39 bits at n = 4, 61 at n = 5
 *     q(i,j)   one bit for each other j, written by i
 *
 *     | value and view: n+1 digits to base `values` | toggle | p[n-2] .. p[0] |   a word r(i)
 *
 * scan_i, one step for each access; its own r(i) it knows:
 *
 *     1.  for all j: q(i,j) := r(j).p[i]
 *     2.  collect a: read r(j) for all j; then b, the same
 *     3.  if of all j  a.p[i] = b.p[i] = q(i,j)  and the toggles of a and b agree: the values of b
 *     4.  else each of the other j has moved; if one of them had moved before: its view, from b
 *     5.  goto 1
 *
 * update_i: f[j] := not q(j,i) for all j; scan; write value, view = what the scan returned, p = f,
 * toggle = not toggle. In line 4 the second move began within this scan, and so did the scan whose
 * view it carries. At most n+1 rounds; a round is at most 4(n-1) steps.
 *
 * Line 4 is decided for each j when b reads r(j): what would be read of the others then is not
 * looked at any more. A process remembers what it wrote in r(i) and q(i,j), and forgets what it
 * will not use.
 */
#ifndef USHER_PAPERS_SNAPSHOT_H
#define USHER_PAPERS_SNAPSHOT_H

#include "step/step.h"

enum { SNAPSHOT_MOST = 5 }; /* processes: as many as a register of labels has room for */

/* What a broken variant drops. */
enum snapshot_broken {
    SNAPSHOT_COLLECT = 1 << 0,      /* all but one collect */
    SNAPSHOT_NO_TOGGLE = 1 << 1,    /* the toggles agree */
    SNAPSHOT_FIRST_MOVE = 1 << 2,   /* it had moved before */
    SNAPSHOT_NO_HANDSHAKE = 1 << 3, /* a.p[i] = b.p[i] = q(i,j) */
    SNAPSHOT_GREET_ONCE = 1 << 4,   /* goto 1, not to 2 */
    SNAPSHOT_NO_P_IN_A = 1 << 5,    /* a.p[i] = q(i,j) */
    SNAPSHOT_NO_P_IN_B = 1 << 6,    /* b.p[i] = q(i,j) */
    SNAPSHOT_SAME_F = 1 << 7        /* f is not q: p changes with every update */
};

/* Where it is, and of what size. */
struct snapshot {
    unsigned n;      /* 1..SNAPSHOT_MOST */
    uint32_t values; /* a value is less than this; snapshot_bits(n, values) <= 64 */
    unsigned first;  /* r(0) is this word, then the other r, then q(0,1), q(0,2) .. */
    unsigned broken; /* bits of enum snapshot_broken; 0: as it should be */
};

/* Words that n processes need. */
#define SNAPSHOT_WORDS(n) ((n) * (n))

/* The bits of a register r(i). */
unsigned snapshot_bits(unsigned n, uint32_t values);

/* One process's part. All zero is a process that holds value 0 and does nothing. Without padding,
   so that equal states are equal bytes. Sets of processes are bit masks. */
struct snapshot_state {
    uint32_t value;               /* what r(i) holds */
    uint32_t view[SNAPSHOT_MOST]; /* of collect b so far; 0 once somebody has moved */
    uint8_t toggle;               /* what r(i) holds */
    uint8_t stage;                /* what the next step does; 0: nothing was begun */
    uint8_t at;                   /* whose register is read or written next */
    uint8_t updates;              /* 1: an update */
    uint8_t f;                    /* of an update: p, to be written */
    uint8_t q;                    /* what q(i,j) are */
    uint8_t toggles;              /* of collect a */
    uint8_t failed;               /* who has moved in this round */
    uint8_t moved;                /* who has in an earlier one */
    uint8_t spare[3];
};

/* Everybody holds value 0 and has seen it. */
void snapshot_init(const struct snapshot *s, uint64_t *words);

/* The value in a register r(i). */
uint32_t snapshot_value(const struct snapshot *s, uint64_t word);

/* Begin to scan or, with `updates`, to update. There must be another process: n > 1. */
void snapshot_begin(const struct snapshot *s, struct snapshot_state *x, unsigned process,
                    bool updates);

/* One step of it. True if the scan is finished: x->view is what it returns. Then either end with
   snapshot_end, or write with the next step. */
bool snapshot_step(const struct snapshot *s, struct step_memory *memory, struct snapshot_state *x,
                   unsigned process);

/* Forget the view; nothing is begun. */
void snapshot_end(struct snapshot_state *x);

/* Has an update finished its scan? Then its next step is snapshot_write. */
bool snapshot_writes(const struct snapshot_state *x);

/* The last step of an update. */
void snapshot_write(const struct snapshot *s, struct step_memory *memory, struct snapshot_state *x,
                    unsigned process, uint32_t value);

/* Write a word for people, as snprintf does; `print` writes a value. */
int snapshot_print(const struct snapshot *s, unsigned word, uint64_t content,
                   int (*print)(const void *context, uint32_t value, char *out, size_t size),
                   const void *context, char *out, size_t size);

#endif
