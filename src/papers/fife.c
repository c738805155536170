/*
 * First-in, first-enabled l-exclusion on registers (Afek, Dolev, Gafni, Merritt, Shavit, 1994, Fig.
 * 2), over the timestamps with unbounded labels of Fig. 1. The paper's l is k here.
 *
 * A process raises its flag, takes a label, and records which other processes have their flag up;
 * that is the doorway. In the waiting room it reads flags and labels until fewer than k of the
 * recorded processes still have their flag up and an earlier label.
 *
 * fife_machine.h lists the process line by line. Over these timestamps (timestamps.h):
 *
 *     2., 12.  Label_i   n-1 reads, and one write or none
 *     7.       Scan_i    one read for each process asked about
 *
 * The shared variables: words 0..n-1 are the flags x_i, words n..2n-1 the labels.
 *
 *     property                 promised   decided for all n <= 3, k <= 3
 *     at most k in C           yes        holds
 *     progress, k-1 stopped    yes        holds
 *     lockout avoidance        yes        holds, with any k-1 stopped
 *     starvation               yes        holds
 *     first-in                 yes        holds: Definition 2.5, with the doorway as above
 *     first-enabled            yes        holds: Definition 5.1
 *     avoidance of k-deadlock  no         violated for k < n: all wait for a process in the doorway
 *     FIFO enabling            no         violated for k < n: there T begins with the doorway
 *     overtakings              no         k = 1: at most n-1; 1 < k < n: without bound, in the
 *                                         doorway
 *     prompt                   no         holds: 0 overtakings, n-1 entries of others if k < n
 *     shared values            unbounded (64 bits when it runs)
 *
 * Difference from the print: timestamps.h.
 */
#include "papers/fife.h"
#include "papers/fife_machine.h"
#include "papers/papers.h"
#include "papers/timestamps.h"

#include <stdio.h>

static struct timestamps timestamps_of(const struct step_system *system)
{
    unsigned broken = system->machine->variant & (TIMESTAMPS_PRINTED | TIMESTAMPS_EQUAL);
    return (struct timestamps){.n = system->n, .first = system->n, .broken = broken};
}

static bool label(const struct step_system *system, void *part, unsigned process)
{
    struct timestamps ts = timestamps_of(system);
    return timestamps_label(&ts, part, process);
}

static bool label_step(const struct step_system *system, struct step_memory *memory, void *part,
                       unsigned process)
{
    struct timestamps ts = timestamps_of(system);
    return timestamps_label_step(&ts, memory, part, process);
}

static void scan(const struct step_system *system, void *part, unsigned process, uint64_t whom)
{
    (void)system;
    (void)process;
    timestamps_scan(part, whom);
}

static bool scan_step(const struct step_system *system, struct step_memory *memory, void *part,
                      unsigned process, unsigned *before)
{
    struct timestamps ts = timestamps_of(system);
    bool is_before;
    bool last = timestamps_scan_step(&ts, memory, part, process, &is_before);
    *before = is_before;
    return last;
}

static const struct fife_timestamps unbounded = {
    .state_bytes = sizeof(struct timestamps_state),
    .label = label,
    .label_step = label_step,
    .scan = scan,
    .scan_step = scan_step,
};

static int prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    if (2 * system->n > STEP_MAX_SHARED_WORDS) {
        (void)snprintf(why, STEP_WHY_BYTES, "at most %d processes: each needs two registers",
                       STEP_MAX_SHARED_WORDS / 2);
        return -1;
    }
    system->shared_words = 2 * system->n;
    system->private_bytes = fife_private_bytes(&unbounded);
    system->claims = FIFE_CLAIMS | STEP_CLAIM(STEP_FIRST_ENABLED);
    return 0;
}

static void init(const struct step_system *system, uint64_t *words)
{
    for (unsigned i = 0; i < system->shared_words; i++) {
        words[i] = 0;
    }
}

/* The canonical form of the labels (timestamps.c); everything else is finite. */
static void rebase(const struct step_system *system, uint64_t *words, void *states)
{
    struct timestamps ts = timestamps_of(system);
    timestamps_rebase(&ts, words + ts.first, fife_parts(states), system->private_bytes);
}

static int print_word(const struct step_system *system, unsigned word, uint64_t value, char *out,
                      size_t size)
{
    return word < system->n ? snprintf(out, size, "x(%u)=%u", word + 1, (unsigned)value)
                            : snprintf(out, size, "Label(%u)=%llu", word - system->n + 1,
                                       (unsigned long long)value);
}

static unsigned bits(const struct step_system *system, unsigned word)
{
    return word < system->n ? 1 : 64;
}

static const struct step_space space = {
    .bits = bits,
    .says = "no bound: n flags, and n labels that grow (1994, Figs 1, 2)",
    .note = "There is no bound; here a label has 64 bits, which no run exhausts.",
};

#define FIFE(name_, title_, variant_)                                                              \
    {                                                                                              \
        .name = (name_), .title = (title_), .variant = (variant_), .subject = &unbounded,          \
        .unbounded = true, .prepare = prepare, .init = init, .step = fife_step,                    \
        .region = fife_region, .waiting_room = fife_waiting_room, .heedless = fife_heedless,       \
        .rebase = rebase, .print_word = print_word, .space = &space,                               \
        .printed = (unsigned)(variant_) == (unsigned)TIMESTAMPS_PRINTED                            \
    }

const struct step_machine papers_fife =
    FIFE("fife", "First-in, first-enabled l-exclusion on registers (1994, Fig. 2)", 0);

const struct step_machine papers_mutant_fife_printed =
    FIFE("fife-printed", "First-in, first-enabled, Label as printed (1994, Figs 1, 2)",
         TIMESTAMPS_PRINTED);

const struct step_machine papers_mutant_fife_no_relabel =
    FIFE("mutant-fife-no-relabel", "First-in, first-enabled without line 12", FIFE_NO_RELABEL);

const struct step_machine papers_mutant_fife_label_first =
    FIFE("mutant-fife-label-first", "First-in, first-enabled, label before flag", FIFE_LABEL_FIRST);

const struct step_machine papers_mutant_fife_equal = FIFE(
    "mutant-fife-equal", "First-in, first-enabled, a new label equals the last", TIMESTAMPS_EQUAL);

const struct step_machine papers_mutant_fife_everyone =
    FIFE("mutant-fife-everyone", "First-in, first-enabled without line 4", FIFE_EVERYONE);

const struct step_machine papers_mutant_fife_one_more =
    FIFE("mutant-fife-one-more", "First-in, first-enabled, a process may have k others before it",
         FIFE_ONE_MORE);
