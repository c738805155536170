/* usher-lab run: run an algorithm on real threads or processes. */
#include "lab/lab.h"
#include "lab/run.h"

#include <string.h>

int lab_run_status(const struct lab_run *run)
{
    if (run->most_inside > run->system->k) {
        return lab_fail(LAB_VIOLATED, "%s: %u processes were inside at once, with k=%u",
                        run->system->machine->name, run->most_inside, run->system->k);
    }
    if (run->stuck > 0) {
        return lab_fail(LAB_VIOLATED,
                        "%s: %u process%s still waited ten seconds after the end of the run",
                        run->system->machine->name, run->stuck, run->stuck == 1 ? "" : "es");
    }
    return LAB_OK;
}

static json_t *document(const struct lab_run *run)
{
    return json_pack(
        "{s:s, s:i, s:i, s:f, s:b, s:I, s:I, s:I, s:i, s:i, s:I, s:I, s:I, s:{s:I, s:I, s:I}}",
        "algorithm", run->system->machine->name, "n", (int)run->system->workers, "k",
        (int)run->system->k, "seconds", run->seconds, "processes", run->processes, "cycles",
        (json_int_t)run->cycles, "least_cycles", (json_int_t)run->least_cycles, "most_cycles",
        (json_int_t)run->most_cycles, "most_inside", (int)run->most_inside, "stuck",
        (int)run->stuck, "entries_logged", (json_int_t)run->logged, "overtakings",
        (json_int_t)run->overtakings, "most_overtaken", (json_int_t)run->most_overtaken, "wait_ns",
        "median", (json_int_t)run->median_wait_ns, "p99", (json_int_t)run->p99_wait_ns, "longest",
        (json_int_t)run->longest_wait_ns);
}

static void show(const struct lab_run *run)
{
    (void)printf("%s, n=%u, k=%u, %g s on %s%s\n", run->system->machine->name, run->system->workers,
                 run->system->k, run->seconds, run->processes ? "forked processes" : "threads",
                 run->system->machine->supervised ? ", with a supervisor" : "");
    (void)printf("  cycles        %llu, from %llu to %llu a process\n",
                 (unsigned long long)run->cycles, (unsigned long long)run->least_cycles,
                 (unsigned long long)run->most_cycles);
    (void)printf("  most inside   %u of %u\n", run->most_inside, run->system->k);
    (void)printf("  overtakings   %llu certain%s in %llu entries, at most %llu in one wait\n",
                 (unsigned long long)run->overtakings,
                 run->system->machine->one_step_enabled ? "" : " (at entry)",
                 (unsigned long long)run->logged, (unsigned long long)run->most_overtaken);
    (void)printf("  waits         median %.1f us, p99 %.1f us, longest %.1f ms\n",
                 (double)run->median_wait_ns * 1e-3, (double)run->p99_wait_ns * 1e-3,
                 (double)run->longest_wait_ns * 1e-6);
}

static int run(const struct lab_options *options)
{
    struct step_system system;
    struct lab_run run = {.system = &system, .processes = options->processes};
    int status = lab_system(options, options->operands[0], &system);
    if (status != LAB_OK) {
        return status;
    }
    if (system.machine->events != 0) {
        return lab_fail(LAB_USAGE,
                        "%s is a model with events such as crashes: it can be checked, not run",
                        options->operands[0]);
    }
    run.seconds = options->seconds > 0 ? options->seconds : 1;
    int error = lab_run_for_real(&run);
    if (error != 0) {
        return lab_fail(LAB_OS, "%s: cannot run: %s", options->operands[0], strerror(-error));
    }
    if (options->json) {
        status = lab_print_json(document(&run));
    } else {
        show(&run);
    }
    return status != LAB_OK ? status : lab_run_status(&run);
}

const struct lab_command lab_run = {
    .name = "run",
    .usage = "run ALGORITHM -n N -k K [-r R] [--seconds S] [--processes]\n"
             "       [--json]",
    .help = "Run the step function that check explores on N threads (--processes: on N\n"
            "forked processes) that share its memory, for S seconds (default 1). Print the\n"
            "number of cycles, the most processes inside at once, the certain overtakings,\n"
            "and the waiting times. Exit 1 if more than K were inside, or a process never\n"
            "entered.\n"
            "\n"
            "    usher-lab run colored -n 16 -k 4 --seconds 3 --processes\n",
    .flags = "nkrspj",
    .operands = 1,
    .run = run,
};
