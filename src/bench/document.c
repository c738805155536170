/*
 * docs/benchmarks.md, made from the results: so no figure in it was ever typed by hand. The words
 * are here, what is measured and why; the figures are what they are.
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
     "One thread acquires and releases, and nobody else is about: what the atomics cost. Rounds\n"
     "of a quarter of a millisecond, so that few are interrupted, in nine processes (`--quick`:\n"
     "five), one after the other, each executed anew. The same loop is about a seventh slower in\n"
     "some processes than in others, and stays so, by where its memory happens to lie: one\n"
     "process would measure its luck. The figures are of the rounds of all of them together.\n\n"
     "In a virtual machine another may run on the other half of the core, and slow down whoever\n"
     "needs many instructions. So before and after each round some work is timed; if that took\n"
     "longer than it can, the round is made again, a few times at most, and does not count,\n"
     "whoever the peer is (but where hardly any is left: then all do). How often that was is told\n"
     "above."},
    {"contended", "Many processes",
     "Processes that come again as soon as they have left. At first all have a seat who run, and\n"
     "the others are yet to run; it is a matter of luck for how long, and several times as fast "
     "as\n"
     "what comes after. So nothing is counted before each has had time for a turn on a processor.\n"
     "Then throughput is measured, then waits, and order in rounds of its own, so that clocks and\n"
     "counters slow nobody else. Longest waits of about 4 ms, or a multiple of that, are the\n"
     "kernel's: somebody had the seat, or was on the way to it, and had to wait for a processor.\n"
     "They are found where most get in without a sleep. `limit: one compare-and-swap` waits for\n"
     "nobody at all: its longest wait is how long one that could run was kept waiting by the "
     "kernel,\n"
     "and nobody who is as fast as that can have a shorter one. So waits are told against the\n"
     "longer one of the two limits', too. Peers that do not serve in order are fast\n"
     "where one process may keep coming in; the last table shows what that costs the others. An\n"
     "overtaking at the grant is a ticket let in before its turn; seen from outside, it is how\n"
     "many more have entered before a process than had come before it, and includes those who\n"
     "were stopped between coming and being in line.\n\n"
     "What is compared is measured in more rounds than the rest, and in the most where few come.\n"
     "Two peers are measured twice, "
     "the\n"
     "second time as `again`: what a peer is against itself is\n"
     "what chance makes of a cell. Where each entry is a wake-up it is the kernel's choice, cell "
     "by\n"
     "cell and round by round, whether the next one runs where the last one did, or on the other\n"
     "processor, which takes several times as long.\n\n"
     "In a virtual machine it may be that the processors do not run at the same time. So before\n"
     "each cell two processes, one on each, hand a cache line to each other; the mean of its ways\n"
     "over their median, told above, is about 1 if both always ran. If it is 2 or more, this\n"
     "section tells of the host. Throughput and waits that were measured while the host took\n"
     "processors away are measured again, at the same peer, a few times at most and for less than\n"
     "a minute in all, and the calmest counts; how often that was is told above, too."},
    {"handover", "Handed to a sleeper",
     "From just before a release to just after the other process has it. The limit is a futex and\n"
     "nothing else. Whoever has to wait comes 10 us before, and sleeps by then, unless it looks "
     "for\n"
     "its turn or gives way for longer: as the pool and the gate do."},
    {"parked", "With a long line",
     "A seat goes down a line of threads of 100 processes, all asleep. Wake-ups are counted by "
     "the\n"
     "kernel, as voluntary switches."},
    {"growth", "As N and k grow",
     "Of one that comes again and again, whatever it needs is near at hand: that does not depend\n"
     "on how many others there are. The other figures are of one call in a thread that was\n"
     "asleep: caches are cold for all alike. But who survives deaths has a row for each guest,\n"
     "and the more guests there are the colder is each row; nobody who has one grows as little as\n"
     "`limit_fifo`, which has none. `limit_fifo + a row each` shows what that alone costs: it is\n"
     "`limit_fifo`, and its guests write a row of their own when they come and when they leave. "
     "It\n"
     "still survives nothing."},
    {"recovery", "A holder is killed",
     "SIGKILL, while another process waits, at no moment in particular. Peers that are said to "
     "let\n"
     "nobody in any more were given a second."},
    {"idle", "Waiting", "Processes that wait while nothing happens, all of them together."},
    {"memory", "Memory", "The file of a pool, and the gate."},
    {"job", "A job", "`true`, by itself and behind a command that lets so many run at a time."},
    {"inspect", "Looking at it",
     "A pool with guests of 100 processes. Looking takes no lock. Whether those who come and go\n"
     "notice it is compared with another process that looks as much, but at another pool with as\n"
     "many guests: who reads so much slows its neighbour where the two share a core or a cache.\n"
     "One that is only busy shows how much that is."},
    {"checker", "The checker", "`src/bench/spin-compare`: the same states, one thread each."},
    {"zookeeper", "Pools on ZooKeeper",
     "One server on loopback, which does not wait for its disk; clients are processes, each\n"
     "with a session of its own. Beside usher: kazoo's Semaphore (a Python library; so its\n"
     "speed says little, and its round trips and notifications more), and the engine itself: a\n"
     "client that writes a node, waits for the answer, and writes again. A cycle of usher's is\n"
     "three such writes, in four round trips. Round trips are measured: time on a link that\n"
     "delays everything, over that delay. Notifications are counted by the server. A killed\n"
     "holder's seat is free when its session ends, of which kazoo's first in line is notified,\n"
     "while usher's look every third of a session time. But kazoo's first in line holds a\n"
     "lock, so that one that is stopped there holds up all others until its session ends,\n"
     "however many seats are free; usher's is granted one by whoever gives it back, and the\n"
     "next has the other."},
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
    (void)fprintf(file,
                  "| processors | %.0f |\n| load when it began | %.2f |\n| took | %.0f s |\n"
                  "| of which the host gave to others | %.0f s, of all processors together |\n",
                  bench_number(machine, "processors"), bench_number(machine, "load"),
                  bench_number(results, "seconds"), bench_number(results, "stolen"));
}

/* The median, and how far the quartiles are from it, in percent. */
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

/* The first three columns of a ratio. */
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

/* With one case: the peers, and each against the first. */
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

/* Could nothing of it be measured here? */
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
    (void)fprintf(
        file, "# Benchmarks\n\nWritten by `make bench` from what it measured; no figure here is "
              "typed by hand. `usher-bench --help`\nsays how to measure again. Every figure is "
              "the median of rounds in which all peers take turns, in\nchanging order; ± is half "
              "the distance of the quartiles. A wanted figure is a ratio round by round.\nThe "
              "limits are what nobody can beat who does this at all: one compare-and-swap; "
              "`limit_fifo`, a FIFO\nsemaphore on futexes that survives nothing; two processes "
              "that only wake each other. `limit: could be\nrepaired` is `limit_fifo` with the "
              "least that others need to tell what a guest had done when it died:\na row for "
              "each guest, words that name who changed them last, a look at that one's row "
              "before its\nname is overwritten, no sleep for ever. It repairs nothing, and has no "
              "numbers for seats.\n\n");
    if (strcmp(bench_text(results, "effort"), "full") != 0) {
        (void)fprintf(file, "**Few rounds (%s): to look at, not to quote.**\n\n",
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
