/*
 * The hidden queue as step machines: with its supervisor (1979, Lemma 4.5), and without (Theorem
 * 4.4), by the construction of Lemma 4.3 (eliminated.c). The report's l is k, and its k is r, the
 * robustness; by default r = k. hidden_queue.h and eliminated.h describe the shared variables.
 *
 *     property                 promised    with its supervisor     without
 *     at most k in C           yes         holds                   holds
 *     (r,k)-deadlock-free, C2  yes         holds                   holds
 *     FIFO enabling, C5'       yes         holds, 0 overtakings    holds, 0 overtakings
 *     (R1) to (R8)             yes         hold                    -
 *     failures in T            r-1         r-1                     r-1
 *     shared values            O(N (log N)^c), c = (max(1, r-1) - 1) (2k+3r-2)
 *                                          formula; at all sizes the values reached are fewer
 *
 * Decided with supervisor for n, k, r = 2,1,1  2,1,2  2,2,1  2,2,2  3,1,1  4,2,1, and by make model
 * 3,1,2  3,1,3  3,2,1  3,2,2  4,1,1  4,1,2  5,1,1. Without: 2,1,1  2,1,2, and by make model 3,1,1.
 * By schedules of an adversary: n up to 32, k up to 3, r up to 4 (tests/hidden_queue_test.c, which
 * also checks (R1) to (R6) and (R8) in every step); without supervisor,
 * tests/eliminated_drive_test.c. (R7) is checked through the condition that implies it: no number
 * in the supervisor's memory is larger than the number of processes in T plus r-1.
 */
#include "papers/eliminated.h"
#include "papers/hidden_queue.h"
#include "papers/papers.h"

static unsigned cell_bits(const struct supervised_size *size, unsigned cell, unsigned byte)
{
    if (cell >= hidden_queue_cells(size)) {
        return 0;
    }
    return byte == 0   ? step_bits_of(cell < size->k ? 3 : 2) /* INSIDE only in the first k */
           : byte == 1 ? step_bits_of(hidden_queue_colors(size))
                       : step_bits_of(hidden_queue_names(size) + 1); /* 0: empty */
}

static unsigned channel_bits(const struct supervised_size *size, unsigned channel, unsigned byte)
{
    if (channel >= hidden_queue_channels(size)) {
        return 0;
    }
    return byte == 0   ? step_bits_of(HIDDEN_QUEUE_DONE + 1)
           : byte == 1 ? step_bits_of(hidden_queue_colors(size))
                       : step_bits_of(HIDDEN_QUEUE_SYMBOLS);
}

static unsigned map_bits(const struct supervised_size *size, unsigned color, unsigned byte)
{
    unsigned names = hidden_queue_names(size);
    unsigned last_position = offsetof(struct short_names, position) + names - 1;
    if (color >= hidden_queue_colors(size)) {
        return 0;
    }
    if (byte == 0) {
        return step_bits_of(names + 1);
    }
    if (byte < offsetof(struct short_names, codes)) {
        return byte < last_position ? step_bits_of(step_bits_of(size->n + 1)) : 0;
    }
    return byte == offsetof(struct short_names, codes) ? names * (names - 1) : 0;
}

/* The bits of one byte of a value. */
static unsigned byte_bits(const struct supervised_size *size, size_t byte)
{
    unsigned colors = hidden_queue_colors(size);
    size_t cells = offsetof(struct hidden_queue_value, cells);
    size_t channels = offsetof(struct hidden_queue_value, channels);
    size_t cancelled = offsetof(struct hidden_queue_value, cancelled);
    size_t unused = offsetof(struct hidden_queue_value, unused);
    size_t maps = offsetof(struct hidden_queue_value, maps);
    if (byte < cells) {
        return byte == offsetof(struct hidden_queue_value, issue)    ? step_bits_of(colors)
               : byte == offsetof(struct hidden_queue_value, issued) ? step_bits_of(size->n + 1)
                                                                     : step_bits_of(colors + 1);
    }
    if (byte < channels) {
        return cell_bits(size, (unsigned)((byte - cells) / sizeof(struct hidden_queue_cell)),
                         (unsigned)((byte - cells) % sizeof(struct hidden_queue_cell)));
    }
    if (byte < cancelled) {
        return channel_bits(size,
                            (unsigned)((byte - channels) / sizeof(struct hidden_queue_channel)),
                            (unsigned)((byte - channels) % sizeof(struct hidden_queue_channel)));
    }
    if (byte < maps) {
        return byte < unused && byte - cancelled < colors ? hidden_queue_names(size) : 0;
    }
    return map_bits(size, (unsigned)((byte - maps) / sizeof(struct short_names)),
                    (unsigned)((byte - maps) % sizeof(struct short_names)));
}

static unsigned bits(const struct step_system *system, unsigned word)
{
    struct supervised_size size = supervised_size_of(system);
    unsigned all = 0;
    for (size_t byte = 8 * (size_t)word; byte < 8 * ((size_t)word + 1); byte++) {
        all += byte_bits(&size, byte);
    }
    return all;
}

static unsigned talk_bits(const struct supervised_size *size, unsigned byte, unsigned waiting,
                          unsigned longest)
{
    const unsigned values[] = {HIDDEN_QUEUE_TELLS + 1, hidden_queue_colors(size), longest + 1,
                               step_bits_of(longest + 1) + 1, waiting + 1};
    size_t talk = sizeof(struct hidden_queue_talk);
    return byte / talk < size->r ? step_bits_of(values[byte % talk]) : 0;
}

/* The bits of one byte of the supervisor's state in shared memory. It is there while at most c1
   processes are in T, so (R7) bounds its numbers. */
static unsigned supervisor_bits(const struct supervised_size *size, size_t byte)
{
    unsigned c1 = papers_hidden_queue_system.threshold(size);
    unsigned waiting = c1 < size->n ? c1 : size->n;
    unsigned longest = c1 + size->r - 1 < size->n ? c1 + size->r - 1 : size->n;
    unsigned colors = hidden_queue_colors(size);
    const unsigned values[] = {waiting + 1, colors,     waiting + 1,
                               colors + 1,  colors + 1, waiting + 1};
    size_t talks = offsetof(struct hidden_queue_supervisor, talks);
    size_t unused = offsetof(struct hidden_queue_supervisor, unused);
    size_t hidden = offsetof(struct hidden_queue_supervisor, hidden);
    if (byte < talks) {
        return step_bits_of(values[byte]);
    }
    if (byte < unused) {
        return talk_bits(size, (unsigned)(byte - talks), waiting, longest);
    }
    if (byte < hidden || (byte - hidden) / sizeof(struct hidden_queue_entry) >= waiting) {
        return 0;
    }
    return (byte - hidden) % 2 == 0 ? step_bits_of(colors) : 1 + step_bits_of(longest + 1);
}

static unsigned bits_eliminated(const struct step_system *system, unsigned word)
{
    static const struct hidden_queue_supervisor outside = {0};
    static const struct hidden_queue_supervisor inside = {.fresh = 1};
    struct supervised_size size = supervised_size_of(system);
    unsigned a = hidden_queue_transitions(&size, &outside);
    unsigned b = hidden_queue_transitions(&size, &inside);
    size_t value = sizeof(struct hidden_queue_value);
    size_t byte = 8 * (size_t)word;
    unsigned all = 0;
    if (byte < value) {
        return bits(system, word);
    }
    if (byte >= value + sizeof(struct hidden_queue_supervisor)) {
        return eliminated_bits(system, word, a > b ? a : b);
    }
    for (unsigned i = 0; i < 8; i++) {
        all += supervisor_bits(&size, byte - value + i);
    }
    return all;
}

static double bound(const struct step_system *system)
{
    struct supervised_size size = supervised_size_of(system);
    return hidden_queue_values(&size);
}

static const struct step_space space = {
    .bits = bits,
    .says = "O(N (log N)^c) for each k and r (1979, Lemma 4.5)",
    .note = "The formula counts maps for as many colours as can have one; here every colour has "
            "room for one.",
};

static const struct step_space space_eliminated = {
    .bits = bits_eliminated,
    .says = "O(N (log N)^c) for each k and r (1979, Theorem 4.4)",
};

const struct step_machine papers_hidden_queue_supervised = {
    .name = "hidden-queue-supervised",
    .title = "Hidden queue, with a supervisor (1979, Lemma 4.5)",
    .subject = &papers_hidden_queue_system,
    .wide = true,
    .supervised = true,
    .prepare = supervised_prepare,
    .init = supervised_init,
    .step = supervised_step,
    .region = supervised_region,
    .wrong = supervised_wrong,
    .print_all = supervised_print_all,
    .bound = bound,
    .space = &space,
};

const struct step_machine papers_hidden_queue = {
    .name = "hidden-queue",
    .title = "Hidden queue, the supervisor eliminated (1979, Theorem 4.4)",
    .subject = &papers_hidden_queue_system,
    .anonymous = true,
    .wide = true,
    .prepare = eliminated_prepare,
    .init = eliminated_init,
    .step = eliminated_step,
    .region = eliminated_region,
    .wrong = eliminated_wrong,
    .print_all = eliminated_print_all,
    .space = &space_eliminated,
};
