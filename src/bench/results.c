/* Store and print the results. results.h is the contract. */
#include "bench/results.h"

#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static json_t *results, *table;

json_t *bench_results(void)
{
    if (results == NULL) {
        static const char *const efforts[] = {"full", "quick", "smoke"};
        results = json_object();
        (void)json_object_set_new(results, "usher-bench", json_integer(1));
        (void)json_object_set_new(results, "machine", bench_machine());
        (void)json_object_set_new(results, "effort", json_string(efforts[bench_effort]));
        (void)json_object_set_new(results, "tables", json_array());
        (void)json_object_set_new(results, "wants", json_array());
        (void)json_object_set_new(results, "allows", json_array());
        (void)json_object_set_new(results, "absent", json_array());
    }
    return results;
}

void bench_table(const char *workload, const char *name, const char *title, const char *unit,
                 const char *better)
{
    table = json_pack("{s:s, s:s, s:s, s:s, s:s, s:[]}", "workload", workload, "name", name,
                      "title", title, "unit", unit, "better", better, "rows");
    (void)json_array_append_new(json_object_get(bench_results(), "tables"), table);
}

void bench_row(const char *where, double x, const char *peer, const double *samples, unsigned count)
{
    struct bench_summary s = bench_summarise(samples, count);
    (void)json_array_append_new(json_object_get(table, "rows"),
                                json_pack("{s:s, s:f, s:s, s:f, s:f, s:f, s:f, s:f, s:i}", "case",
                                          where, "x", x, "peer", peer, "median", s.median, "q1",
                                          s.q1, "q3", s.q3, "least", s.least, "most", s.most,
                                          "count", (int)s.count));
}

void bench_absent(const char *workload, const char *peer, const char *why)
{
    (void)json_array_append_new(
        json_object_get(bench_results(), "absent"),
        json_pack("{s:s, s:s, s:s}", "workload", workload, "peer", peer, "why", why));
    (void)printf("  not measured: %s: %s\n", peer, why);
}

/* Print the median and the quartiles. */
static void spread(char *text, size_t room, struct bench_summary value)
{
    char figure[3][16];
    bench_figure(figure[0], sizeof figure[0], value.median);
    bench_figure(figure[1], sizeof figure[1], value.q1);
    bench_figure(figure[2], sizeof figure[2], value.q3);
    (void)snprintf(text, room, "%s (%s to %s)", figure[0], figure[1], figure[2]);
}

void bench_want_met(const char *what, struct bench_summary value, const char *rule, bool met)
{
    char figures[64];
    met = met && value.count > 0;
    (void)json_array_append_new(json_object_get(bench_results(), "wants"),
                                json_pack("{s:s, s:s, s:f, s:f, s:f, s:s, s:b}", "workload",
                                          bench_text(table, "workload"), "what", what, "value",
                                          value.median, "q1", value.q1, "q3", value.q3, "rule",
                                          rule, "met", met));
    spread(figures, sizeof figures, value);
    (void)printf("  %s: %s, wanted %s: %s\n", what, figures, rule, met ? "yes" : "NO");
    (void)fflush(stdout);
}

void bench_want(const char *what, struct bench_summary value, bool at_most, double limit)
{
    char rule[64];
    (void)snprintf(rule, sizeof rule, "at %s %.4g", at_most ? "most" : "least", limit);
    bench_want_met(what, value, rule, at_most ? value.median <= limit : value.median >= limit);
}

void bench_tell(const char *what, struct bench_summary value)
{
    char figures[64];
    (void)json_array_append_new(json_object_get(bench_results(), "allows"),
                                json_pack("{s:s, s:s, s:f, s:f, s:f}", "workload",
                                          bench_text(table, "workload"), "what", what, "value",
                                          value.median, "q1", value.q1, "q3", value.q3));
    spread(figures, sizeof figures, value);
    (void)printf("  %s: %s\n", what, figures);
    (void)fflush(stdout);
}

void bench_want_rows(const char *peer, double limit)
{
    size_t r;
    const json_t *row;
    json_array_foreach(json_object_get(table, "rows"), r, row)
    {
        char what[160];
        if (strcmp(bench_text(row, "peer"), peer) == 0) {
            struct bench_summary value = {bench_number(row, "median"), bench_number(row, "q1"),
                                          bench_number(row, "q3"),     bench_number(row, "least"),
                                          bench_number(row, "most"),   1};
            (void)snprintf(what, sizeof what, "%s, %s, %s", peer, bench_text(row, "case"),
                           bench_text(table, "unit"));
            bench_want(what, value, true, limit);
        }
    }
}

const char *bench_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

double bench_number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

void bench_figure(char *text, size_t room, double value)
{
    double size = fabs(value);
    const char *unit = size >= 1e6 ? "M" : size >= 1e4 ? "k" : "";
    double shown = size >= 1e6 ? value / 1e6 : size >= 1e4 ? value / 1e3 : value;
    int digits = fabs(shown) >= 100 ? 0 : fabs(shown) >= 10 ? 1 : fabs(shown) >= 0.1 ? 2 : 4;
    if (shown == floor(shown)) {
        digits = 0;
    }
    (void)snprintf(text, room, "%.*f%s", digits, shown, unit);
}

unsigned bench_names(const json_t *of, const char *key, const char **names)
{
    size_t r;
    const json_t *row;
    unsigned count = 0;
    json_array_foreach(json_object_get(of, "rows"), r, row)
    {
        const char *name = bench_text(row, key);
        unsigned n = 0;
        while (n < count && strcmp(names[n], name) != 0) {
            n++;
        }
        if (n == count && count < BENCH_MAX_NAMES) {
            names[count++] = name;
        }
    }
    return count;
}

const json_t *bench_find(const json_t *of, const char *where, const char *peer)
{
    size_t r;
    const json_t *row;
    json_array_foreach(json_object_get(of, "rows"), r, row)
    {
        if (strcmp(bench_text(row, "case"), where) == 0 &&
            strcmp(bench_text(row, "peer"), peer) == 0) {
            return row;
        }
    }
    return NULL;
}

/* A table with one case: print the peers and their spread, each relative to the first. */
static void show_peers(const char *const *peers, unsigned count)
{
    double first = bench_number(bench_find(table, "", peers[0]), "median");
    for (unsigned p = 0; p < count; p++) {
        const json_t *row = bench_find(table, "", peers[p]);
        char figure[3][16];
        bench_figure(figure[0], sizeof figure[0], bench_number(row, "median"));
        bench_figure(figure[1], sizeof figure[1], bench_number(row, "q1"));
        bench_figure(figure[2], sizeof figure[2], bench_number(row, "q3"));
        (void)printf("  %-28s %10s  (%s to %s)", peers[p], figure[0], figure[1], figure[2]);
        if (p > 0 && first > 0) {
            (void)printf("  %.2fx", bench_number(row, "median") / first);
        }
        (void)printf("\n");
    }
}

void bench_show(void)
{
    const char *peers[BENCH_MAX_NAMES];
    const char *cases[BENCH_MAX_NAMES];
    unsigned peer_count = bench_names(table, "peer", peers);
    unsigned case_count = bench_names(table, "case", cases);
    (void)printf("\n%s, %s\n\n", bench_text(table, "title"), bench_text(table, "unit"));
    if (case_count == 1 && peer_count > 0 && cases[0][0] == '\0') {
        show_peers(peers, peer_count);
        (void)fflush(stdout);
        return;
    }
    for (unsigned c = 0; c < case_count; c++) {
        (void)printf("  %s\n   ", cases[c]);
        for (unsigned p = 0; p < peer_count; p++) {
            const json_t *row = bench_find(table, cases[c], peers[p]);
            char figure[16];
            if (row != NULL) {
                bench_figure(figure, sizeof figure, bench_number(row, "median"));
                (void)printf(" %s %s;", peers[p], figure);
            }
        }
        (void)printf("\n");
    }
    (void)fflush(stdout);
}

int bench_write_json(const char *path)
{
    /* all digits, so that a document from the file equals one made at once */
    if (json_dump_file(bench_results(), path, JSON_INDENT(1)) == 0) {
        return 0;
    }
    (void)fprintf(stderr, "usher-bench: cannot write %s\n", path);
    return -1;
}

static void quote(FILE *file, const char *text)
{
    (void)fputc('"', file);
    for (; *text != '\0'; text++) {
        (void)fprintf(file, *text == '"' ? "\"\"" : "%c", *text);
    }
    (void)fputc('"', file);
}

static void write_rows(FILE *file, const json_t *of)
{
    static const char *const numbers[] = {"x", "median", "q1", "q3", "least", "most", "count"};
    size_t r;
    const json_t *row;
    json_array_foreach(json_object_get(of, "rows"), r, row)
    {
        static const char *const texts[] = {"workload", "name", "unit"};
        for (unsigned t = 0; t < 3; t++) {
            quote(file, bench_text(of, texts[t]));
            (void)fputc(',', file);
        }
        quote(file, bench_text(row, "case"));
        (void)fputc(',', file);
        quote(file, bench_text(row, "peer"));
        for (unsigned n = 0; n < sizeof numbers / sizeof numbers[0]; n++) {
            (void)fprintf(file, ",%.6g", bench_number(row, numbers[n]));
        }
        (void)fputc('\n', file);
    }
}

int bench_write_csv(const char *path)
{
    FILE *file = fopen(path, "w");
    size_t t;
    const json_t *each;
    if (file == NULL) {
        (void)fprintf(stderr, "usher-bench: cannot write %s\n", path);
        return -1;
    }
    (void)fprintf(file, "workload,table,unit,case,peer,x,median,q1,q3,least,most,count\n");
    json_array_foreach(json_object_get(bench_results(), "tables"), t, each)
    {
        write_rows(file, each);
    }
    return fclose(file) == 0 ? 0 : -1;
}
