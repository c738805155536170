/*
 * fife-bounded at n = 3, where there are too many states to explore all. Processes come a few times
 * each and stay in R afterwards; all interleavings of these are explored. A violation in such a
 * part is a violation of the machine; the converse need not hold.
 */
#include "check/decide/property.h"
#include "papers/papers.h"
#include "test.h"

#include <string.h>

static bool slow;

static struct {
    const struct step_machine *machine;
    unsigned come[CHECK_MAX_PROCESSES];
} part;

static int prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    int error = part.machine->prepare(system, why);
    system->private_bytes += (unsigned)sizeof(uint64_t); /* how many times it has come */
    return error;
}

static void step(const struct step_system *system, struct step_memory *memory, void *state,
                 unsigned process)
{
    uint64_t *come = (void *)((unsigned char *)state + system->private_bytes - sizeof *come);
    if (part.machine->region(system, state) == STEP_REMAINDER) {
        if (*come == part.come[process]) {
            (void)step_read(memory, process); /* a step that changes nothing */
            return;
        }
        ++*come;
    }
    part.machine->step(system, memory, state, process);
}

/* Explore a part; `come` has one digit for each process. */
static void explore(const struct step_machine *machine, unsigned k, const char *come,
                    bool only_exclusion, struct step_system *system, struct check_graph *graph)
{
    static struct step_machine few;
    struct check_options options = {.only_exclusion = only_exclusion};
    char why[STEP_WHY_BYTES];
    part.machine = machine;
    few = *machine;
    few.prepare = prepare;
    few.step = step;
    few.loose_regions = true;
    for (unsigned i = 0; come[i] != '\0'; i++) {
        part.come[i] = (unsigned)(come[i] - '0');
    }
    EXPECT_EQ(step_system_init(system, &few, (unsigned)strlen(come), k, 0, why), 0);
    EXPECT_EQ(check_explore(graph, system, &options), 0);
    EXPECT(graph->complete && graph->broken == NULL);
    (void)printf("  %s, n=%u, k=%u, come %s: %u states\n", machine->name, system->n, k, come,
                 check_states(graph));
    (void)fflush(stdout);
}

static void expect_promises(const struct step_machine *machine, unsigned k, const char *come,
                            uint32_t states)
{
    struct step_system system;
    struct check_graph graph;
    struct check_report report;
    explore(machine, k, come, false, &system, &graph);
    EXPECT_EQ(check_states(&graph), states);
    EXPECT_EQ(check_decide(&graph, &report), 0);
    EXPECT(check_claims_hold(&system, &report));
    EXPECT_EQ(report.results[STEP_FIRST_ENABLED].verdict, CHECK_HOLDS);
    EXPECT(report.results[STEP_LOCKOUT].tested > 0 || k >= system.n - 1);
    EXPECT(report.results[STEP_FIRST_ENABLED].tested > 0);
    check_report_free(&report);
    check_graph_free(&graph);
}

static void the_promises_hold_if_each_comes_once(void)
{
    expect_promises(&papers_fife_atomic, 1, "111", 14777);
    expect_promises(&papers_fife_atomic, 2, "111", 23843);
    expect_promises(&papers_fife_bounded, 2, "110", 9536);
    expect_promises(&papers_fife_bounded, 1, "111", 12075374);
    if (slow) {
        expect_promises(&papers_fife_bounded, 2, "111", 30463093);
    }
}

/* The number of steps after which two processes are in C; 0: never. */
static unsigned steps_to_crowd(const struct step_machine *machine, unsigned k, const char *come)
{
    struct step_system system;
    struct check_graph graph;
    explore(machine, k, come, true, &system, &graph);
    bool crowded = graph.first_crowded != CHECK_NO_STATE;
    unsigned depth = crowded ? check_depth(&graph, graph.first_crowded) : 0;
    (void)printf("  one too many after %u steps\n", depth);
    check_graph_free(&graph);
    return depth;
}

/* A collect in place of the snapshot is caught when each process comes twice. */
static void without_a_snapshot_exclusion_is_violated(void)
{
    const struct step_machine *collect = papers_find("mutant-fife-collect");
    EXPECT(collect != NULL);
    EXPECT_EQ(steps_to_crowd(collect, 1, "211"), 0);
    if (slow) {
        EXPECT_EQ(steps_to_crowd(collect, 1, "222"), 42);
    }
}

int main(int argc, char **argv)
{
    slow = argc > 1 && strcmp(argv[1], "slow") == 0;
    RUN(the_promises_hold_if_each_comes_once);
    RUN(without_a_snapshot_exclusion_is_violated);
    return 0;
}
