/*
 * First-in, first-enabled l-exclusion on registers of bounded size: Fig. 2 of Afek, Dolev, Gafni,
 * Merritt and Shavit (1994) over the bounded timestamps of bounded_timestamps.h. The paper's l is k
 * here. fife_machine.h lists the process line by line. There are two machines:
 *
 *     fife-bounded   on registers only: the snapshot of the labels is built from registers
 *                    (snapshot.h)
 *     fife-atomic    the same with a snapshot that is one step: all labels are one word. It needs
 *                    more than registers. It can be explored at n = 3, where fife-bounded has too
 *                    many states
 *
 * Over registers:
 *
 *     2., 12.  Label_i   n-1 reads, a scan of at least 4(n-1) steps, and one write or none
 *     7.       Scan_i    such a scan
 *
 * Over the atomic snapshot each is one step, with one more write, or none, for Label_i.
 *
 * The shared variables of fife-bounded: words 0..n-1 are the flags x_i, one bit each; then r(i), 9
 * bits at n = 2, 22 at n = 3, 39 at n = 4 and 61 at n = 5; then n(n-1) bits q(i,j). More than 5
 * processes do not fit a word. fife-atomic: the flags, then one word.
 *
 *     property                 promised   decided for k <= 3: fife-bounded, n <= 2; fife-atomic,
 *                                         n <= 3
 *     at most k in C           yes        holds
 *     progress, k-1 stopped    yes        holds
 *     lockout avoidance        yes        holds, with any k-1 stopped
 *     starvation               yes        holds
 *     first-in                 yes        holds: Definition 2.5
 *     first-enabled            no         holds: Definition 5.1, which the paper leaves open
 *     avoidance of k-deadlock  no         violated for k < n, as in fife
 *     FIFO enabling            no         violated for k < n, as in fife
 *     overtakings              no         k = 1: at most n-1; 1 < k < n: without bound
 *     shared values            bounded
 */
#include "papers/fife_bounded.h"

#include "papers/bounded_timestamps.h"
#include "papers/fife_machine.h"
#include "papers/papers.h"

#include <stdio.h>

/* Bits of step_machine.variant above fife_broken: guards that the labels or the snapshot drop. */
#define LABELS_BROKEN(bit) ((unsigned)(bit) << 8)
#define SNAPSHOT_BROKEN(bit) ((unsigned)(bit) << 16)

static const struct fife_timestamps over_registers;
static const struct fife_timestamps over_atomic;

static struct bounded_timestamps timestamps_of(const struct step_system *system)
{
    unsigned variant = system->machine->variant;
    return bounded_timestamps_at(system->n, system->n, system->machine->subject == &over_atomic,
                                 variant >> 8 & 0xff, variant >> 16);
}

static bool label(const struct step_system *system, void *part, unsigned process)
{
    struct bounded_timestamps ts = timestamps_of(system);
    return bounded_timestamps_label(&ts, part, process);
}

static bool label_step(const struct step_system *system, struct step_memory *memory, void *part,
                       unsigned process)
{
    struct bounded_timestamps ts = timestamps_of(system);
    return bounded_timestamps_label_step(&ts, memory, part, process);
}

static void scan(const struct step_system *system, void *part, unsigned process, uint64_t whom)
{
    struct bounded_timestamps ts = timestamps_of(system);
    bounded_timestamps_scan(&ts, part, process, whom);
}

static bool scan_step(const struct step_system *system, struct step_memory *memory, void *part,
                      unsigned process, unsigned *before)
{
    struct bounded_timestamps ts = timestamps_of(system);
    uint32_t all[BOUNDED_TIMESTAMPS_MOST];
    uint64_t found;
    bool last = bounded_timestamps_scan_step(&ts, memory, part, process, all, &found);
    *before = (unsigned)__builtin_popcountll(found);
    return last;
}

#define TIMESTAMPS                                                                                 \
    {                                                                                              \
        .state_bytes = sizeof(struct bounded_timestamps_state), .label = label,                    \
        .label_step = label_step, .scan = scan, .scan_step = scan_step                             \
    }

static const struct fife_timestamps over_registers = TIMESTAMPS;
static const struct fife_timestamps over_atomic = TIMESTAMPS;

static int prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    if (system->n > BOUNDED_TIMESTAMPS_MOST) {
        (void)snprintf(why, STEP_WHY_BYTES,
                       "at most %d processes: a register for %u would have %u bits, and a word has "
                       "64",
                       BOUNDED_TIMESTAMPS_MOST, BOUNDED_TIMESTAMPS_MOST + 1,
                       bounded_timestamps_bits(BOUNDED_TIMESTAMPS_MOST + 1));
        return -1;
    }
    struct bounded_timestamps ts = timestamps_of(system);
    system->shared_words = system->n + bounded_timestamps_words(&ts);
    system->private_bytes = fife_private_bytes(system->machine->subject);
    system->claims = FIFE_CLAIMS;
    return 0;
}

static void init(const struct step_system *system, uint64_t *words)
{
    struct bounded_timestamps ts = timestamps_of(system);
    for (unsigned i = 0; i < system->n; i++) {
        words[i] = 0;
    }
    bounded_timestamps_init(&ts, words);
}

static int print_word(const struct step_system *system, unsigned word, uint64_t value, char *out,
                      size_t size)
{
    struct bounded_timestamps ts = timestamps_of(system);
    return word < system->n ? snprintf(out, size, "x(%u)=%u", word + 1, (unsigned)value)
                            : bounded_timestamps_print(&ts, word, value, out, size);
}

static unsigned bits(const struct step_system *system, unsigned word)
{
    struct bounded_timestamps ts = timestamps_of(system);
    return word < system->n ? 1 : bounded_timestamps_word_bits(&ts, word);
}

static const struct step_space space = {
    .bits = bits,
    .says = "n registers of O(n^2) bits, or of O(n) (1994, section 3.1)",
    .note = "The smaller ones take another snapshot than this. Here n flags, n(n-1) bits q, and n "
            "registers of n^2-1 digits of 1..5 and n bits.",
};

static const struct step_space atomic_space = {
    .bits = bits,
    .says = "none: an atomic snapshot is not a register",
    .note = "n flags, and n labels of n-1 digits of 1..5 in one word.",
};

#define FIFE(name_, title_, variant_, subject_, space_)                                            \
    {                                                                                              \
        .name = (name_), .title = (title_), .variant = (variant_), .subject = &(subject_),         \
        .prepare = prepare, .init = init, .step = fife_step, .region = fife_region,                \
        .waiting_room = fife_waiting_room, .print_word = print_word, .space = &(space_)            \
    }

const struct step_machine papers_fife_bounded =
    FIFE("fife-bounded", "First-in, first-enabled on bounded registers (1994, Fig. 2; 1993)", 0,
         over_registers, space);

const struct step_machine papers_fife_atomic =
    FIFE("fife-atomic", "The same over a snapshot that is one step, no registers (1994)", 0,
         over_atomic, atomic_space);

const struct step_machine papers_fife_bounded_mutants[PAPERS_FIFE_BOUNDED_MUTANTS] = {
    FIFE("mutant-fife-label-start", "Bounded first-in, first-enabled, labels without 1 and 2",
         LABELS_BROKEN(BOUNDED_NO_START), over_atomic, atomic_space),
    FIFE("mutant-fife-label-level", "Bounded first-in, first-enabled, full places are not left",
         LABELS_BROKEN(BOUNDED_DEEPEST), over_atomic, atomic_space),
    FIFE("mutant-fife-label-always",
         "Bounded first-in, first-enabled, the last process takes a new label too",
         LABELS_BROKEN(BOUNDED_ALWAYS), over_atomic, atomic_space),
    FIFE("mutant-fife-collect",
         "Bounded first-in, first-enabled, a collect in place of the snapshot",
         SNAPSHOT_BROKEN(SNAPSHOT_COLLECT), over_registers, space),
};
