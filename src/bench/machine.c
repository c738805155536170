/* Describe machine, kernel, compiler and commit; stored with the figures. */
#include "bench/bench.h"
#include "bench/results.h"

#include "build.h" /* made by the build: the commit */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* The value of the first line "key ... : value" of a file of /proc. */
static void proc_value(const char *path, const char *key, char *value, size_t room)
{
    char line[256];
    FILE *file = fopen(path, "r");
    (void)snprintf(value, room, "unknown");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (colon != NULL && strncmp(line, key, strlen(key)) == 0) {
            (void)snprintf(value, room, "%s", colon + 1 + strspn(colon + 1, " \t"));
            value[strcspn(value, "\n")] = '\0';
            break;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
}

/* Memory in GiB; /proc/meminfo prints KiB as "kB". */
static void read_memory(char *memory, size_t room)
{
    char *end;
    proc_value("/proc/meminfo", "MemTotal", memory, room);
    double kib = strtod(memory, &end);
    if (end != memory) {
        (void)snprintf(memory, room, "%.1f GiB", kib / (1024 * 1024));
    }
}

/* Return the CPU seconds, over all CPUs, that the host has given to other guests while we wanted
   them (steal time); 0 if the host does not report it. */
double bench_stolen_s(void)
{
    double ticks = 0;
    FILE *file = fopen("/proc/stat", "r");
    if (file != NULL) {
        if (fscanf(file, "cpu %*s %*s %*s %*s %*s %*s %*s %lf", &ticks) != 1) {
            ticks = 0;
        }
        (void)fclose(file);
    }
    return ticks / (double)sysconf(_SC_CLK_TCK);
}

json_t *bench_machine(void)
{
    struct utsname system;
    char processor[128];
    char memory[128];
    char when[32];
    double load[3] = {0, 0, 0};
    struct tm utc;
    time_t now = time(NULL);
    (void)uname(&system);
    (void)getloadavg(load, 3);
    (void)strftime(when, sizeof when, "%Y-%m-%d %H:%M UTC", gmtime_r(&now, &utc));
    proc_value("/proc/cpuinfo", "model name", processor, sizeof processor);
    read_memory(memory, sizeof memory);
    char kernel[sizeof system.sysname + sizeof system.release + 1];
    (void)snprintf(kernel, sizeof kernel, "%s %s", system.sysname, system.release);
    char name[sizeof system.machine + 160];
    (void)snprintf(name, sizeof name, "%s, %s", processor, system.machine);
    return json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:f}", "processor", name,
                     "processors", (int)sysconf(_SC_NPROCESSORS_ONLN), "memory", memory, "kernel",
                     kernel, "compiler", BUILD_COMPILER, "flags", BUILD_FLAGS, "commit",
                     BUILD_COMMIT, "when", when, "load", load[0]);
}
