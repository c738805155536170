/* The progress line of an exploration: see progress.h. */
#include "check/explore/progress.h"

#include <time.h>

enum { COLUMNS = 80 };

double check_now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void check_progress_init(struct check_progress *progress, const struct check_graph *graph)
{
    progress->graph = graph;
    progress->start = progress->last_shown = check_now();
}

void check_progress_show(struct check_progress *progress, uint32_t expanded)
{
    const struct check_graph *graph = progress->graph;
    double t = check_now();
    if (graph->options.progress == NULL || t - progress->last_shown < 0.2) {
        return;
    }
    progress->last_shown = t;
    char line[COLUMNS];
    (void)snprintf(line, sizeof line,
                   "%s: %.2f M states, frontier %.2f M, depth %u, %.1f M/s, %zu MiB",
                   graph->system->machine->name, check_states(graph) * 1e-6,
                   (check_states(graph) - expanded) * 1e-6, graph->level_count,
                   check_states(graph) / (t - progress->start) * 1e-6, graph->budget.used >> 20);
    (void)fprintf(graph->options.progress, "\r\033[K%s", line);
    (void)fflush(graph->options.progress);
}

void check_progress_clear(const struct check_progress *progress)
{
    FILE *file = progress->graph->options.progress;
    if (file != NULL && progress->last_shown != progress->start) {
        (void)fprintf(file, "\r\033[K");
        (void)fflush(file);
    }
}
