/*
 * Write docs/benchmarks.md from the results. The text is here; every figure comes from the results.
 */
#include "bench/bench.h"
#include "bench/plot.h"
#include "bench/results.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *title, *words;
} sections[] = {
    {"uncontended", "Alone",
     "One thread acquires and releases without contention: the cost of the atomics. Rounds\n"
     "take a quarter of a millisecond, so that few are interrupted. They run in nine processes\n"
     "(`--quick`: five), one after the other, each a new execution. The same loop is about a\n"
     "seventh slower in some processes than in others, depending on where its memory happens\n"
     "to lie; a single process would measure that. The figures are over the rounds of all\n"
     "processes together.\n\n"
     "In a virtual machine the host may run another guest on the other half of the core, which\n"
     "slows code with many instructions. So a probe is timed before and after each round. If\n"
     "the probe is slow, the round does not count and is repeated, a few times at most; this\n"
     "rule is the same for all peers. (If hardly any round is left, all count.) The number of\n"
     "repeated rounds is printed above."},
    {"contended", "Many processes",
     "Each process acquires again as soon as it has released. At the start the running\n"
     "processes share the seats while the others have not run yet; that phase is several times\n"
     "as fast as what follows, and its length is random. So nothing is counted before each\n"
     "process has had time for a turn on a CPU. Then throughput is measured, then waits. Order\n"
     "is measured in separate rounds, so that its clocks and counters slow nothing else.\n\n"
     "Longest waits of about 4 ms, or a multiple of that, come from the kernel: a holder, or a\n"
     "process about to get the seat, waited for a CPU. They appear where most processes get in\n"
     "without a sleep. `limit: one compare-and-swap` never waits for a seat: its longest wait\n"
     "is how long the kernel kept a runnable process from running, and no peer as fast as that\n"
     "can have a shorter one. So waits are compared with the longer one of the two limits as\n"
     "well. Peers that do not serve in order are fast where one process may enter again and\n"
     "again; the last table shows what that costs the others. An overtaking at the grant is a\n"
     "ticket that was let in before its turn. Seen from outside, it is the number of processes\n"
     "that entered before a process minus the number that arrived before it; this includes\n"
     "processes that were stopped between arriving and being in line.\n\n"
     "Compared cells have more rounds than the rest, and the most rounds where there are few\n"
     "processes. Two peers are measured twice, the second time as `again`: the ratio of a peer\n"
     "to itself shows the noise of a cell. Where each entry is a wake-up, the kernel decides,\n"
     "cell by cell and round by round, whether the next process runs on the same CPU as the\n"
     "last one or on the other CPU, which takes several times as long.\n\n"
     "In a virtual machine the CPUs may not run at the same time. So before each cell two\n"
     "processes, one on each CPU, pass a cache line to each other. The mean of a pass divided\n"
     "by the median, printed above, is about 1 if both CPUs always ran. If it is 2 or more,\n"
     "this section measures the host. Throughput and waits that were measured while the host\n"
     "took CPUs away are measured again for the same peer, a few times at most and for less\n"
     "than a minute in all; the least disturbed run counts. The number of repetitions is\n"
     "printed above as well."},
    {"cpu", "While the holders sleep",
     "A holder that waits for a disk, a device or a server sleeps with its seat. A waiter that\n"
     "stays awake wins nothing then. The table shows the processor time of all processes\n"
     "together for one entry. `semop+SEM_UNDO`, whose waiters always sleep, is the yardstick."},
    {"bystander", "Beside other work",
     "One or two processes that only compute run beside the processes that share seats. The\n"
     "first table shows what these bystanders compute: waiters that stay awake take it from\n"
     "them. The second table shows how fast the seats change hands meanwhile."},
    {"ablation", "What each trick of waiting wins and costs",
     "The policy of `src/wait/wait.h` has two tricks beyond sleeping: a waiter yields its\n"
     "processor for a while before it sleeps, and a guest that loses the race for a ticket\n"
     "backs off. The same library was built without the one, without the other, and without\n"
     "both. A trick stays if it wins 10 % in several cells and costs no processor time."},
    {"handover", "Handed to a sleeper",
     "The time from just before a release until just after the other process has the seat. The\n"
     "limit is a futex and nothing else. The waiting process arrives 10 us earlier and is\n"
     "asleep by then, unless it yields for longer, as the pool and the gate do."},
    {"parked", "With a long line",
     "A seat is handed down a line of threads of 100 processes, all asleep. The kernel counts\n"
     "the wake-ups, as voluntary context switches."},
    {"growth", "As N and k grow",
     "A thread that acquires repeatedly has all its data in the cache, so its cost does not\n"
     "depend on the number of other guests. The other figures are those of one call in a\n"
     "thread that was asleep: caches are cold for all peers. A peer that survives deaths has a\n"
     "row for each guest, and more guests make each row colder; no such peer grows as little\n"
     "as `limit_fifo`, which has no rows. `limit_fifo + a row each` measures that cost alone:\n"
     "it is `limit_fifo` whose guests write a row when they arrive and when they leave. It\n"
     "still survives nothing."},
    {"recovery", "A holder is killed",
     "SIGKILL at a random moment, while another process waits. For peers listed as letting no\n"
     "process in any more, the test waited one second."},
    {"idle", "Waiting",
     "The CPU time of waiting processes while nothing happens, all of them together."},
    {"memory", "Memory", "The file of a pool, and the gate."},
    {"job", "A job", "`true`, by itself and under a command that limits how many run at a time."},
    {"inspect", "Inspecting",
     "A pool with guests of 100 processes. Inspecting takes no lock. To see whether it slows\n"
     "acquire and release, it is compared with a process that inspects another pool with as\n"
     "many guests: reading so much memory slows a neighbour that shares a core or a cache. A\n"
     "neighbour that is only busy shows how much that is."},
    {"checker", "The checker", "`src/bench/spin-compare`: the same states, one thread each."},
    {"zookeeper", "Pools on ZooKeeper",
     "One server on loopback, which does not wait for its disk. Each client is a process with\n"
     "its own session. Compared with usher: kazoo's Semaphore (a Python library, so its speed\n"
     "says little, and its round trips and notifications more), and ZooKeeper alone: a client\n"
     "that writes a node, waits for the answer, and writes again. One cycle of usher is three\n"
     "such writes, in four round trips. Round trips are elapsed time on a link that delays\n"
     "everything, divided by the delay. The server counts notifications.\n\n"
     "The seat of a killed holder becomes free when its session ends. ZooKeeper notifies\n"
     "kazoo's first waiter of that; usher's first waiters scan every third of the session\n"
     "timeout. But kazoo's first waiter holds a lock, so if it is stopped, all others wait\n"
     "until its session ends, however many seats are free. In usher the releasing client\n"
     "grants a seat to the stopped waiter, and the next waiter gets the other seat."},
};

static void write_machine(FILE *file, const json_t *results)
{
    static const char *const keys[][2] = {{"processor", "processor"},
                                          {"memory", "memory"},
                                          {"kernel", "kernel"},
                                          {"compiler", "compiler"},
                                          {"flags", "flags"},
                                          {"commit", "commit"},
                                          {"when", "when"}};
    const json_t *machine = json_object_get(results, "machine");
    (void)fprintf(file, "| | |\n|---|---|\n");
    for (unsigned k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        (void)fprintf(file, "| %s | %s |\n", keys[k][0], bench_text(machine, keys[k][1]));
    }
    (void)fprintf(
        file,
        "| processors | %.0f |\n| load at the start | %.2f |\n| took | %.0f s |\n"
        "| of which the host gave to other guests | %.0f s, of all processors together |\n",
        bench_number(machine, "processors"), bench_number(machine, "load"),
        bench_number(results, "seconds"), bench_number(results, "stolen"));
}

/* Write the median and half the distance of the quartiles, in percent. */
static void write_figure(FILE *file, const json_t *row)
{
    char text[16];
    double median = bench_number(row, "median");
    double spread = (bench_number(row, "q3") - bench_number(row, "q1")) / 2;
    bench_figure(text, sizeof text, median);
    (void)fprintf(file, "%s", text);
    if (bench_number(row, "count") > 1 && median > 0) {
        (void)fprintf(file, " ±%.0f%%", 100 * spread / median);
    }
}

/* Write the first three columns of a ratio. */
static void write_measured(FILE *file, const json_t *ratio)
{
    char figure[3][16];
    bench_figure(figure[0], sizeof figure[0], bench_number(ratio, "value"));
    bench_figure(figure[1], sizeof figure[1], bench_number(ratio, "q1"));
    bench_figure(figure[2], sizeof figure[2], bench_number(ratio, "q3"));
    (void)fprintf(file, "| %s | %s | %s (%s to %s) |", bench_text(ratio, "workload"),
                  bench_text(ratio, "what"), figure[0], figure[1], figure[2]);
}

static void write_wants(FILE *file, const json_t *results)
{
    size_t w;
    const json_t *want;
    unsigned met = 0;
    const json_t *wants = json_object_get(results, "wants");
    json_array_foreach(wants, w, want)
    {
        met += json_is_true(json_object_get(want, "met"));
    }
    (void)fprintf(file,
                  "\n## Wanted figures\n\n%u of %zu are met.\n\n| workload | what | measured "
                  "(quartiles) | wanted | |\n|---|---|---:|---|---|\n",
                  met, json_array_size(wants));
    json_array_foreach(wants, w, want)
    {
        write_measured(file, want);
        (void)fprintf(file, " %s | %s |\n", bench_text(want, "rule"),
                      json_is_true(json_object_get(want, "met")) ? "yes" : "**NO**");
    }
}

static void write_allows(FILE *file, const json_t *results)
{
    size_t a;
    const json_t *one;
    const json_t *allows = json_object_get(results, "allows");
    if (json_array_size(allows) == 0) {
        return;
    }
    (void)fprintf(file, "\n### What the machine allows\n\n| workload | what | measured (quartiles) "
                        "|\n|---|---|---:|\n");
    json_array_foreach(allows, a, one)
    {
        write_measured(file, one);
        (void)fprintf(file, "\n");
    }
}

/* A table with one case: list the peers, each relative to the first. */
static void write_peers(FILE *file, const json_t *table, const char *const *peers, unsigned count)
{
    double first = bench_number(bench_find(table, "", peers[0]), "median");
    (void)fprintf(file, "| | %s | least to most | times the first |\n|---|---:|---:|---:|\n",
                  bench_text(table, "unit"));
    for (unsigned p = 0; p < count; p++) {
        const json_t *row = bench_find(table, "", peers[p]);
        char figure[2][16];
        bench_figure(figure[0], sizeof figure[0], bench_number(row, "least"));
        bench_figure(figure[1], sizeof figure[1], bench_number(row, "most"));
        (void)fprintf(file, "| %s | ", peers[p]);
        write_figure(file, row);
        (void)fprintf(file, " | %s to %s | %.2f |\n", figure[0], figure[1],
                      first > 0 ? bench_number(row, "median") / first : 0);
    }
}

static void write_cases(FILE *file, const json_t *table, const char *const *peers, unsigned count)
{
    const char *cases[BENCH_MAX_NAMES];
    unsigned case_count = bench_names(table, "case", cases);
    (void)fprintf(file, "| %s |", bench_text(table, "unit"));
    for (unsigned p = 0; p < count; p++) {
        (void)fprintf(file, " %s |", peers[p]);
    }
    (void)fprintf(file, "\n|---|");
    for (unsigned p = 0; p < count; p++) {
        (void)fprintf(file, "---:|");
    }
    (void)fprintf(file, "\n");
    for (unsigned c = 0; c < case_count; c++) {
        (void)fprintf(file, "| %s |", cases[c]);
        for (unsigned p = 0; p < count; p++) {
            const json_t *row = bench_find(table, cases[c], peers[p]);
            (void)fprintf(file, " ");
            if (row != NULL) {
                write_figure(file, row);
            } else {
                (void)fprintf(file, "-");
            }
            (void)fprintf(file, " |");
        }
        (void)fprintf(file, "\n");
    }
}

static void write_table(FILE *file, const json_t *table)
{
    const char *peers[BENCH_MAX_NAMES];
    const char *cases[BENCH_MAX_NAMES];
    unsigned count = bench_names(table, "peer", peers);
    unsigned case_count = bench_names(table, "case", cases);
    (void)fprintf(file, "\n%s; %s is better:\n\n", bench_text(table, "title"),
                  bench_text(table, "better"));
    if (case_count == 1 && count > 0 && cases[0][0] == '\0') {
        write_peers(file, table, peers, count);
    } else if (case_count > 0) {
        write_cases(file, table, peers, count);
    }
}

static void write_absent(FILE *file, const json_t *results, const char *workload)
{
    size_t a;
    const json_t *absent;
    bool any = false;
    json_array_foreach(json_object_get(results, "absent"), a, absent)
    {
        if (strcmp(bench_text(absent, "workload"), workload) == 0) {
            (void)fprintf(file, "%s- %s: %s\n", any ? "" : "\nNot in the tables:\n\n",
                          bench_text(absent, "peer"), bench_text(absent, "why"));
            any = true;
        }
    }
}

/* Return whether nothing of this workload could be measured. */
static bool is_all_absent(const json_t *results, const char *workload)
{
    size_t a;
    const json_t *absent;
    json_array_foreach(json_object_get(results, "absent"), a, absent)
    {
        if (strcmp(bench_text(absent, "workload"), workload) == 0 &&
            strcmp(bench_text(absent, "peer"), "all") == 0) {
            return true;
        }
    }
    return false;
}

static int write_section(FILE *file, const json_t *results, unsigned s, const char *directory)
{
    size_t t;
    const json_t *table;
    bool begun = false;
    int drawn = 0;
    json_array_foreach(json_object_get(results, "tables"), t, table)
    {
        if (strcmp(bench_text(table, "workload"), sections[s].name) != 0 ||
            json_array_size(json_object_get(table, "rows")) == 0) {
            continue;
        }
        if (!begun) {
            (void)fprintf(file, "\n## %s\n\n%s\n", sections[s].title, sections[s].words);
            drawn = bench_plot(results, sections[s].name, directory);
            if (drawn > 0) {
                (void)fprintf(file, "\n![%s](bench-%s.svg)\n", sections[s].title, sections[s].name);
            }
        }
        begun = true;
        write_table(file, table);
    }
    if (!begun && is_all_absent(results, sections[s].name)) {
        (void)fprintf(file, "\n## %s\n\n%s\n", sections[s].title, sections[s].words);
        begun = true;
    }
    if (begun) {
        write_absent(file, results, sections[s].name);
    }
    return drawn < 0 ? -1 : 0;
}

static void write_head(FILE *file, const json_t *results)
{
    (void)fputs("# Benchmarks\n\n"
                "`make bench` writes this file from its measurements; no figure here is typed\n"
                "by hand. `usher-bench --help` says how to measure again. Every figure is the\n"
                "median of rounds in which all peers take turns, in changing order; ± is half\n"
                "the distance of the quartiles. A wanted figure is a ratio computed round by\n"
                "round.\n\n"
                "The limits are lower bounds for any implementation: one compare-and-swap;\n"
                "`limit_fifo`, a FIFO semaphore on futexes that survives nothing; two processes\n"
                "that only wake each other. `limit: could be repaired` is `limit_fifo` with the\n"
                "least work that lets others find out what a dead guest had done: a row for\n"
                "each guest, words that name the guest that changed them last, a check of that\n"
                "guest's row before its name is overwritten, and no unbounded sleep. It repairs\n"
                "nothing, and its seats have no numbers."
                "\n\n",
                file);
    if (strcmp(bench_text(results, "effort"), "full") != 0) {
        (void)fprintf(file, "**Few rounds (%s): a rough impression, not to quote.**\n\n",
                      bench_text(results, "effort"));
    }
    write_machine(file, results);
    write_wants(file, results);
    write_allows(file, results);
}

static int write_document(const json_t *results, const char *directory)
{
    char path[4096];
    int bad = 0;
    (void)snprintf(path, sizeof path, "%s/benchmarks.md", directory);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        (void)fprintf(stderr, "usher-bench: cannot write %s\n", path);
        return -1;
    }
    write_head(file, results);
    for (unsigned s = 0; s < sizeof sections / sizeof sections[0]; s++) {
        bad |= write_section(file, results, s, directory);
    }
    return fclose(file) != 0 || bad != 0 ? -1 : 0;
}

int bench_document(const char *json, const char *directory)
{
    json_error_t error;
    if (json == NULL) {
        return write_document(bench_results(), directory);
    }
    json_t *results = json_load_file(json, 0, &error);
    if (results == NULL || json_integer_value(json_object_get(results, "usher-bench")) != 1) {
        (void)fprintf(stderr, "usher-bench: %s: %s\n", json,
                      results == NULL ? error.text : "not a result of usher-bench");
        json_decref(results);
        return -1;
    }
    int status = write_document(results, directory);
    json_decref(results);
    return status;
}
