/* Bounded timestamps: see bounded_timestamps.h. */
#include "papers/bounded_timestamps.h"

#include <stdio.h>
#include <string.h>

struct bounded_timestamps bounded_timestamps_at(unsigned n, unsigned first, bool atomic,
                                                unsigned labels_broken, unsigned snapshot_broken)
{
    return (struct bounded_timestamps){.labels = {.n = n, .broken = labels_broken},
                                       .registers = {.n = n,
                                                     .values = bounded_labels_count(n),
                                                     .first = first,
                                                     .broken = snapshot_broken},
                                       .atomic = atomic};
}

unsigned bounded_timestamps_words(const struct bounded_timestamps *ts)
{
    return ts->atomic ? 1 : SNAPSHOT_WORDS(ts->registers.n);
}

unsigned bounded_timestamps_bits(unsigned n)
{
    return snapshot_bits(n, bounded_labels_count(n));
}

unsigned bounded_timestamps_word_bits(const struct bounded_timestamps *ts, unsigned word)
{
    uint64_t vectors = 1;
    if (!ts->atomic) {
        bool is_r = word < ts->registers.first + ts->registers.n;
        return is_r ? bounded_timestamps_bits(ts->registers.n) : 1;
    }
    for (unsigned j = 0; j < ts->labels.n; j++) {
        vectors *= ts->registers.values;
    }
    return step_bits_of(vectors);
}

/* All labels in one word: a number whose last digit is the label of process 0. */
static void unpack(const struct bounded_timestamps *ts, uint64_t word, uint32_t *all)
{
    for (unsigned j = 0; j < ts->labels.n; j++) {
        all[j] = (uint32_t)(word % ts->registers.values);
        word /= ts->registers.values;
    }
}

static uint64_t pack(const struct bounded_timestamps *ts, const uint32_t *all)
{
    uint64_t word = 0;
    for (unsigned j = ts->labels.n; j-- > 0;) {
        word = word * ts->registers.values + all[j];
    }
    return word;
}

void bounded_timestamps_init(const struct bounded_timestamps *ts, uint64_t *words)
{
    if (ts->atomic) {
        words[ts->registers.first] = 0;
    } else {
        snapshot_init(&ts->registers, words);
    }
}

bool bounded_timestamps_label(const struct bounded_timestamps *ts,
                              struct bounded_timestamps_state *x, unsigned process)
{
    if (ts->labels.n == 1) {
        return true;
    }
    x->labels = 1;
    if (!ts->atomic) {
        snapshot_begin(&ts->registers, &x->x, process, true);
    }
    return false;
}

static void finish(struct bounded_timestamps_state *x)
{
    x->labels = 0;
    x->whom = 0;
    x->next = 0;
    snapshot_end(&x->x);
}

/* Write the process's label into the word of all labels. */
static void write_atomic(const struct bounded_timestamps *ts, struct step_memory *memory,
                         unsigned process, uint32_t label)
{
    unsigned word = ts->registers.first;
    uint32_t all[BOUNDED_TIMESTAMPS_MOST];
    uint64_t before;
    do { /* a failure means that another process succeeded; in the checker this is one access */
        before = atomic_load(&memory->words[word]);
        unpack(ts, before, all);
        all[process] = label;
    } while (!step_swap(memory, word, before, pack(ts, all)));
}

static bool label_atomic(const struct bounded_timestamps *ts, struct step_memory *memory,
                         struct bounded_timestamps_state *x, unsigned process)
{
    uint32_t all[BOUNDED_TIMESTAMPS_MOST];
    if (x->labels == 2) {
        write_atomic(ts, memory, process, x->next);
        x->x.value = x->next;
        finish(x);
        return true;
    }
    unpack(ts, step_read(memory, ts->registers.first), all);
    x->next = bounded_labels_next(&ts->labels, all, process);
    x->labels = 2;
    if (x->next != all[process]) {
        return false;
    }
    finish(x);
    return true;
}

bool bounded_timestamps_label_step(const struct bounded_timestamps *ts, struct step_memory *memory,
                                   struct bounded_timestamps_state *x, unsigned process)
{
    if (ts->atomic) {
        return label_atomic(ts, memory, x, process);
    }
    if (snapshot_writes(&x->x)) {
        uint32_t next = bounded_labels_next(&ts->labels, x->x.view, process);
        snapshot_write(&ts->registers, memory, &x->x, process, next);
    } else if (!snapshot_step(&ts->registers, memory, &x->x, process) ||
               bounded_labels_next(&ts->labels, x->x.view, process) != x->x.value) {
        return false;
    }
    finish(x);
    return true;
}

void bounded_timestamps_scan(const struct bounded_timestamps *ts,
                             struct bounded_timestamps_state *x, unsigned process, uint64_t whom)
{
    x->whom = (uint16_t)whom;
    if (!ts->atomic) {
        snapshot_begin(&ts->registers, &x->x, process, false);
    }
}

bool bounded_timestamps_scan_step(const struct bounded_timestamps *ts, struct step_memory *memory,
                                  struct bounded_timestamps_state *x, unsigned process,
                                  uint32_t all[BOUNDED_TIMESTAMPS_MOST], uint64_t *before)
{
    *before = 0;
    if (ts->atomic) {
        unpack(ts, step_read(memory, ts->registers.first), all);
    } else if (snapshot_step(&ts->registers, memory, &x->x, process)) {
        memcpy(all, x->x.view, sizeof x->x.view);
    } else {
        return false;
    }
    for (unsigned j = 0; j < ts->labels.n; j++) {
        if (x->whom >> j & 1 &&
            bounded_labels_before(&ts->labels, all[j], j, all[process], process)) {
            *before |= UINT64_C(1) << j;
        }
    }
    finish(x);
    return true;
}

uint32_t bounded_timestamps_label_of(const struct bounded_timestamps *ts, const uint64_t *words,
                                     unsigned process)
{
    uint32_t all[BOUNDED_TIMESTAMPS_MOST];
    if (ts->atomic) {
        unpack(ts, words[ts->registers.first], all);
        return all[process];
    }
    return snapshot_value(&ts->registers, words[ts->registers.first + process]);
}

static int print_value(const void *context, uint32_t value, char *out, size_t size)
{
    const struct bounded_timestamps *ts = context;
    return bounded_labels_print(&ts->labels, value, out, size);
}

int bounded_timestamps_print(const struct bounded_timestamps *ts, unsigned word, uint64_t value,
                             char *out, size_t size)
{
    if (!ts->atomic) {
        return snapshot_print(&ts->registers, word, value, print_value, ts, out, size);
    }
    uint32_t all[BOUNDED_TIMESTAMPS_MOST];
    int length = snprintf(out, size, "labels");
    unpack(ts, value, all);
    for (unsigned j = 0; j < ts->labels.n && length >= 0 && (size_t)length < size; j++) {
        char text[BOUNDED_LABELS_MOST + 1];
        (void)bounded_labels_print(&ts->labels, all[j], text, sizeof text);
        length += snprintf(out + length, size - (size_t)length, "%c%s", j == 0 ? '=' : ',', text);
    }
    return length;
}
