/*
 * The bucket algorithm without its supervisor (1979, Theorem 4.3): the construction of Lemma 4.3
 * (eliminated.c) applied to Lemma 4.4 (bucket.c). The report's l is k, and its k is r, the
 * robustness; by default r = k. eliminated.h describes the shared variable.
 *
 *     property                 promised    decided
 *     at most k in C           yes         holds
 *     (r,k)-deadlock-free, C2  yes         holds
 *     bounded waiting, C4'     yes         holds, 1 cycle
 *     FIFO enabling            no          violated
 *     simulates `bucket`       yes         (S1) to (S4) hold
 *     failures in T            r-1         r-1: with r failures the supervisor's steps can cease
 *     shared values            O(n), for fixed k and r:
 *                                          one bit more if n doubles
 *
 * The properties are decided at n <= 3, r = k (tests/verdicts_test.c). The simulation is decided at
 * n <= 3, k = r = 1; by make model at n = 4, k = r = 1, and, with messages of one bit, at n = 4, k
 * = 1, r = 2 (tests/eliminated_test.c); by schedules at n up to 16, k and r up to 3
 * (tests/eliminated_drive_test.c). The supervisor's state leaves shared memory when more than k
 * max(1, r-1) + 2r-2 processes are in T.
 */
#include "papers/bucket.h"
#include "papers/eliminated.h"
#include "papers/papers.h"

static unsigned width_of(unsigned most)
{
    unsigned width = 0;
    while (most >> width != 0) {
        width++;
    }
    return width;
}

/* Bits of one byte of the supervisor's state in shared memory. It is there while at most c1
   processes are in T, so maincount is at most c1. */
static unsigned byte_bits(const struct supervised_size *size, unsigned byte)
{
    unsigned queue = offsetof(struct bucket_supervisor, queue);
    unsigned count = offsetof(struct bucket_supervisor, count);
    if (byte < queue) {
        unsigned c1 = papers_bucket_system.threshold(size);
        unsigned maincount = c1 < size->n ? c1 : size->n;
        const unsigned most[] = {BUCKET_PLACES - 1, size->k, bucket_limit(size), maincount};
        return width_of(most[byte]);
    }
    unsigned most = byte < count ? size->k + 2 : bucket_limit(size);
    return byte - (byte < count ? queue : count) < size->k ? width_of(most) : 0;
}

static unsigned bits(const struct step_system *system, unsigned word)
{
    struct supervised_size size = supervised_size_of(system);
    unsigned value_words = sizeof(struct bucket_value) / 8;
    unsigned xs_words = sizeof(struct bucket_supervisor) / 8;
    /* c3: the set of empty buckets on the queue, or the colour that joins it */
    unsigned steps = 1U << size.k > size.k + 3 ? 1U << size.k : size.k + 3;
    if (word < value_words) {
        return bucket_space.bits(system, word);
    }
    if (word >= value_words + xs_words) {
        return eliminated_bits(system, word, steps);
    }
    unsigned sum = 0;
    for (unsigned i = 0; i < 8; i++) {
        sum += byte_bits(&size, 8 * (word - value_words) + i);
    }
    return sum;
}

static const struct step_space space = {
    .bits = bits,
    .says = "O(N) for each k and r (1979, Theorem 4.3)",
};

const struct step_machine papers_bucket_eliminated = {
    .name = "bucket-eliminated",
    .title = "Buckets, the supervisor eliminated (1979, Theorem 4.3)",
    .subject = &papers_bucket_system,
    .anonymous = true,
    .wide = true,
    .prepare = eliminated_prepare,
    .init = eliminated_init,
    .step = eliminated_step,
    .region = eliminated_region,
    .wrong = eliminated_wrong,
    .print_all = eliminated_print_all,
    .space = &space,
};
