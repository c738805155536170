/*
 * Count overtakings at enabling in a real run.
 *
 * The instant at which a process becomes enabled cannot be observed, but some overtakings are
 * certain: j began after i had arrived (so j was in R while i waited), j was in C, and after that i
 * took one more step that left it in T. In a machine in which an enabled process enters with its
 * next step, i was not enabled at that step, hence not before it. Every counted overtaking
 * happened; overtakings between two steps of i may be missed.
 */
#include "lab/run.h"

/* The first entry of a log that began after a tick. Arrivals are in order in the log. */
static uint32_t first_after(const struct lab_process *process, uint64_t tick)
{
    uint32_t low = 0;
    uint32_t high = process->entries;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (process->log[middle].arriving > tick) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

void lab_count_overtaken(const struct lab_process *processes, unsigned n, struct lab_run *run)
{
    for (unsigned i = 0; i < n; i++) {
        run->logged += processes[i].entries;
        for (uint32_t e = 0; e < processes[i].entries; e++) {
            const struct lab_entry *waited = &processes[i].log[e];
            uint64_t overtaken = 0;
            for (unsigned j = 0; j < n; j++) {
                uint32_t at =
                    j == i ? processes[j].entries : first_after(&processes[j], waited->arrived);
                while (at < processes[j].entries &&
                       processes[j].log[at].entered <= waited->last_wait) {
                    overtaken++;
                    at++;
                }
            }
            run->overtakings += overtaken;
            run->most_overtaken = overtaken > run->most_overtaken ? overtaken : run->most_overtaken;
        }
    }
}
