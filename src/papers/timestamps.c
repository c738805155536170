/* Timestamps with unbounded labels: see timestamps.h. */
#include "papers/timestamps.h"

/* The first process from `at` on that is not this one. */
static unsigned other_from(unsigned at, unsigned process)
{
    return at == process ? at + 1 : at;
}

/* Is the pair (label, process) less than (than_label, than)? */
static bool is_less(uint64_t label, unsigned process, uint64_t than_label, unsigned than)
{
    return label < than_label || (label == than_label && process < than);
}

/* Record the label of another process. */
static void record(const struct timestamps *ts, struct timestamps_state *x, unsigned process,
                   unsigned other, uint64_t label)
{
    bool printed = ts->broken & TIMESTAMPS_PRINTED;
    if (printed ? x->label < label : is_less(x->label, process, label, other)) {
        x->behind = 1;
    }
    x->highest = label > x->highest ? label : x->highest;
}

/* All labels are read. True if there is nothing to write. */
static bool finish_reading(const struct timestamps *ts, struct timestamps_state *x)
{
    if (x->behind) {
        x->at = ts->n;
        return false;
    }
    *x = (struct timestamps_state){.label = x->label};
    return true;
}

bool timestamps_label(const struct timestamps *ts, struct timestamps_state *x, unsigned process)
{
    *x = (struct timestamps_state){
        .label = x->label, .highest = x->label, .labels = 1, .at = other_from(0, process)};
    return x->at >= ts->n && finish_reading(ts, x);
}

bool timestamps_label_step(const struct timestamps *ts, struct step_memory *memory,
                           struct timestamps_state *x, unsigned process)
{
    if (x->at >= ts->n) { /* Label[i] := y */
        uint64_t next = x->highest + (ts->broken & TIMESTAMPS_EQUAL ? 0 : 1);
        step_write(memory, ts->first + process, next);
        *x = (struct timestamps_state){.label = next};
        return true;
    }
    record(ts, x, process, x->at, step_read(memory, ts->first + x->at)); /* Temp[j] := Label[j] */
    x->at = other_from(x->at + 1U, process);
    return x->at >= ts->n && finish_reading(ts, x);
}

void timestamps_scan(struct timestamps_state *x, uint64_t whom)
{
    x->whom = whom;
}

bool timestamps_scan_step(const struct timestamps *ts, struct step_memory *memory,
                          struct timestamps_state *x, unsigned process, bool *before)
{
    unsigned other = (unsigned)__builtin_ctzll(x->whom);
    *before = is_less(step_read(memory, ts->first + other), other, x->label, process);
    x->whom &= x->whom - 1;
    return x->whom == 0;
}

static struct timestamps_state *state_of(void *states, size_t stride, unsigned process)
{
    return (void *)((unsigned char *)states + stride * process);
}

/*
 * Canonical form, part 1: a process in Label records at once the labels that it has not read yet.
 * Sound: labels only grow, so it will read these or greater ones. Only the greatest label and
 * whether any pair is above its own matter in the end, and both come out the same. Its steps
 * remain: it reads the registers again.
 */
static void record_unread_labels(const struct timestamps *ts, const uint64_t *labels, void *states,
                                 size_t stride)
{
    for (unsigned i = 0; i < ts->n; i++) {
        struct timestamps_state *x = state_of(states, stride, i);
        for (unsigned j = x->at; x->labels && j < ts->n; j++) {
            if (j != i) {
                record(ts, x, i, j, labels[j]);
            }
        }
    }
}

/* The least value above `value` among the labels and the recorded labels; `value` if there is
   none. */
static uint64_t next_above(const struct timestamps *ts, const uint64_t *labels, void *states,
                           size_t stride, uint64_t value)
{
    uint64_t next = UINT64_MAX;
    for (unsigned i = 0; i < ts->n; i++) {
        const struct timestamps_state *x = state_of(states, stride, i);
        next = labels[i] > value && labels[i] < next ? labels[i] : next;
        next = x->labels && x->highest > value && x->highest < next ? x->highest : next;
    }
    return next == UINT64_MAX ? value : next;
}

/* Subtract `less` from every value that is at least `from`. */
static void lower(const struct timestamps *ts, uint64_t *labels, void *states, size_t stride,
                  uint64_t from, uint64_t less)
{
    for (unsigned i = 0; i < ts->n; i++) {
        struct timestamps_state *x = state_of(states, stride, i);
        labels[i] -= labels[i] >= from ? less : 0;
        x->label = labels[i];
        x->highest -= x->labels && x->highest >= from ? less : 0;
    }
}

/* The number of processes in Label whose recorded labels, after part 1, are at most `value`. */
static unsigned count_low(const struct timestamps *ts, void *states, size_t stride, uint64_t value)
{
    unsigned low = 0;
    for (unsigned i = 0; i < ts->n; i++) {
        const struct timestamps_state *x = state_of(states, stride, i);
        low += x->labels && x->highest <= value;
    }
    return low;
}

/*
 * Part 2: shift the least label to 0, and shorten gaps that cannot be filled. Let u < v be
 * neighbours among the labels and the recorded labels, and let c be the number of processes in
 * Label that have recorded at most u. A gap v - u above c+1 becomes c+1. Sound:
 *
 * - Steps compare labels and add 1 to the greatest seen, so a shift changes no future.
 * - A recorded label was read from a register, and registers only grow. So some register holds v or
 *   more from now on. A process that begins Label later reads that register, or owns it; in the
 *   latter case it writes nothing, or has read a greater label. Either way it writes nothing up to
 *   v. The same holds for all processes in Label now except those c.
 * - Each of the c writes at most once before its next Label, and writes 1 more than it has seen: at
 *   most u+1, or u+2 if it has read u+1, and so on, at most u+c. So while v is above u+c, the
 *   distance makes no difference. A write reduces c by one, and the gap by at most one.
 *
 * The form is finite: at most 2n values, with gaps of at most n+1.
 */
void timestamps_rebase(const struct timestamps *ts, uint64_t *labels, void *states, size_t stride)
{
    record_unread_labels(ts, labels, states, stride);
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < ts->n; i++) {
        least = labels[i] < least ? labels[i] : least;
    }
    lower(ts, labels, states, stride, least, least);
    uint64_t at = 0;
    uint64_t next;
    while ((next = next_above(ts, labels, states, stride, at)) != at) {
        uint64_t widest = 1U + count_low(ts, states, stride, at);
        uint64_t less = next - at > widest ? next - at - widest : 0;
        lower(ts, labels, states, stride, next, less);
        at = next - less;
    }
}
