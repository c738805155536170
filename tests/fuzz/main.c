/*
 * Run a fuzz target without libFuzzer: on each file of its corpus, then on random mutations of
 * them.
 *
 * usage: fuzz_TARGET CORPUS [INPUTS [SEED]], or fuzz_TARGET FILE
 *
 * The same seed gives the same inputs. A failing input is kept in the working directory.
 */
#include "target.h"

#include <dirent.h>
#include <fcntl.h>
#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FILES = 1024, MOST_BYTES = 4096, INPUT_SECONDS = 20 };

static struct {
    uint8_t *bytes;
    size_t size;
} files[MOST_FILES];
static unsigned file_count;
static uint8_t input[MOST_BYTES];
static size_t input_size;
static uint64_t state;

static uint64_t chance(uint64_t below)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    uint64_t x = state;
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdULL;
    return (x ^ x >> 33) % below;
}

static char failed[4096 + 16]; /* absolute path for a failing input: a target may change
                                  directory */

static void keep(void)
{
    static const char said[] = "fuzz: the input is kept in fuzz-failed\n";
    int fd = open(failed, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd >= 0 && write(fd, input, input_size) == (ssize_t)input_size) {
        (void)!write(STDERR_FILENO, said, sizeof said - 1);
    }
    if (target_tidy != NULL) {
        target_tidy(); /* NOLINT(bugprone-signal-handler): the end, and it is only unlink */
    }
}

static void on_abort(int signal_)
{
    keep();
    (void)signal(signal_, SIG_DFL);
    (void)raise(signal_);
}

static void run(void)
{
    /* exact size, so that a read beyond the end is detected */
    uint8_t *copy = malloc(input_size == 0 ? 1 : input_size);
    if (copy == NULL) {
        exit(1);
    }
    memcpy(copy, input, input_size);
    struct itimerval patience = {.it_value.tv_sec = INPUT_SECONDS}; /* CPU time */
    (void)setitimer(ITIMER_PROF, &patience, NULL);
    (void)LLVMFuzzerTestOneInput(copy, input_size);
    patience.it_value.tv_sec = 0;
    (void)setitimer(ITIMER_PROF, &patience, NULL);
    free(copy);
}

static void load(const char *path)
{
    struct stat status;
    FILE *file = fopen(path, "r");
    if (file == NULL || fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode)) {
        (void)fprintf(stderr, "fuzz: cannot read %s\n", path);
        exit(1);
    }
    size_t size = status.st_size < MOST_BYTES ? (size_t)status.st_size : MOST_BYTES;
    files[file_count].bytes = malloc(size + 1);
    if (files[file_count].bytes == NULL || fread(files[file_count].bytes, 1, size, file) != size) {
        exit(1);
    }
    files[file_count++].size = size;
    (void)fclose(file);
}

static void load_all(const char *path)
{
    struct dirent **names;
    int count = scandir(path, &names, NULL, alphasort); /* the same order everywhere */
    if (count < 0) {
        load(path);
        return;
    }
    for (int n = 0; n < count; n++) {
        char whole[4096];
        (void)snprintf(whole, sizeof whole, "%s/%s", path, names[n]->d_name);
        if (names[n]->d_name[0] != '.' && file_count < MOST_FILES) {
            load(whole);
        }
        free(names[n]);
    }
    free(names);
}

static void take(unsigned file)
{
    input_size = files[file].size;
    memcpy(input, files[file].bytes, input_size);
}

/* Insert, delete, or copy a few bytes from another file. */
static void shift(size_t at, size_t count)
{
    uint64_t way = chance(3);
    if (way == 0 && at + count < input_size) {
        memmove(input + at, input + at + count, input_size - at - count);
        input_size -= count;
    } else if (way == 1 && input_size + count <= MOST_BYTES) {
        memmove(input + at + count, input + at, input_size - at);
        input_size += count;
        for (size_t c = 0; c < count; c++) {
            input[at + c] = (uint8_t)chance(256);
        }
    } else if (way == 2) {
        unsigned other = (unsigned)chance(file_count);
        for (size_t c = at; c < input_size && c < files[other].size && c < at + 2 * count; c++) {
            input[c] = files[other].bytes[c];
        }
    }
}

static void mutate(void)
{
    static const uint8_t odd[] = {0, 1, 2, 3, 7, 8, 0x7f, 0x80, 0xfe, 0xff};
    for (uint64_t times = 1 + chance(8); times > 0; times--) {
        size_t at = input_size == 0 ? 0 : chance(input_size);
        uint64_t way = chance(6);
        if (way == 0 || input_size == 0) {
            shift(at, chance(2) == 0 ? 13 : 1 + chance(16));
        } else if (way == 1) {
            input[at] = odd[chance(sizeof odd)];
        } else if (way == 2) {
            input[at] ^= (uint8_t)(1U << chance(8));
        } else if (way == 3) {
            input[at] = (uint8_t)(input[at] + chance(9) - 4);
        } else if (way == 4) {
            input[at] = input[chance(input_size)];
        } else {
            input[at] = (uint8_t)chance(256);
        }
    }
}

int main(int argc, char **argv)
{
    uint64_t inputs = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : (uint64_t)time(NULL);
    if (argc < 2) {
        (void)fprintf(stderr, "usage: %s CORPUS [INPUTS [SEED]]\n", argv[0]);
        return 64;
    }
    if (getcwd(failed, sizeof failed - 16) == NULL) {
        return 1;
    }
    (void)strcat(failed, "/fuzz-failed"); /* NOLINT: there is room */
    (void)signal(SIGABRT, on_abort);
    (void)signal(SIGPROF, on_abort);
    __sanitizer_set_death_callback(keep);
    load_all(argv[1]);
    if (file_count == 0) {
        (void)fprintf(stderr, "fuzz: no files in %s\n", argv[1]);
        return 1;
    }
    /* to the descriptor: a target may redirect stdout */
    (void)dprintf(STDOUT_FILENO, "seed %llu\n", (unsigned long long)seed);
    for (unsigned f = 0; f < file_count; f++) {
        take(f);
        run();
    }
    state = seed;
    for (uint64_t i = 0; i < inputs; i++) {
        if (i % 4 == 0) { /* a few mutations away from a file, then back */
            take((unsigned)chance(file_count));
        }
        mutate();
        run();
    }
    (void)dprintf(STDOUT_FILENO, "%u files, %llu mutations of them\n", file_count,
                  (unsigned long long)inputs);
    return 0;
}
