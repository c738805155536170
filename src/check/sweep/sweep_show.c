/* What a sweep prints: progress lines, and the state that violates a property. */
#include "check/explore/progress.h"
#include "check/sweep/sweep_run.h"

#include <string.h>

size_t check_sweep_used(struct check_sweep_run *run)
{
    return check_sweep_parts_used(&run->parts) + atomic_load(&run->groups.used);
}

void check_sweep_progress(struct check_sweep_run *run)
{
    FILE *file = run->options->progress;
    double t = file == NULL ? 0 : check_now();
    double next = atomic_load_explicit(&run->next_line, memory_order_relaxed);
    if (file == NULL || t < next ||
        !atomic_compare_exchange_strong(&run->next_line, &next, t + CHECK_SWEEP_LINE_SECONDS)) {
        return;
    }
    double states = (double)atomic_load(&run->expanded) * 1e-6;
    (void)fprintf(file,
                  "%s: %.1f million states, %.2f million a second, %.0f MiB of memory, "
                  "%.1f million states on disk\n",
                  run->system->machine->name, states, states / (t - run->start),
                  (double)check_sweep_used(run) / (1 << 20),
                  (double)atomic_load(&run->spill.on_disk) * 1e-6);
    (void)fflush(file);
}

static void show_process(const struct check_sweep_run *run, FILE *file, const unsigned char *state,
                         unsigned process)
{
    (void)fprintf(file, "    P%u in %c, nonzero bytes of its private state:", process + 1,
                  step_region_letter(run->system->machine->region(run->system, state)));
    for (size_t b = 0; b < run->parts.private.bytes; b++) {
        if (state[b] != 0) {
            (void)fprintf(file, " %zu:%02x", b, state[b]);
        }
    }
    (void)fprintf(file, "\n");
}

void check_sweep_show_state(const struct check_sweep_run *run, const uint32_t *key)
{
    const struct check_sweep_options *options = run->options;
    const struct step_machine *machine = run->system->machine;
    FILE *file = options->violation != NULL ? options->violation : options->progress;
    if (file == NULL) {
        return;
    }
    const char *words = check_numbers_value(&run->parts.shared, key[0]);
    for (unsigned w = 0; machine->print_word != NULL && w < run->system->shared_words; w++) {
        char text[128];
        uint64_t value;
        memcpy(&value, words + w * sizeof value, sizeof value);
        (void)machine->print_word(run->system, w, value, text, sizeof text);
        (void)fprintf(file, "    %s\n", text);
    }
    for (unsigned i = 0; i < run->system->n; i++) {
        show_process(run, file, check_numbers_value(&run->parts.private, key[1 + i]), i);
    }
}
