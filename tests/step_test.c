/*
 * Kill and stop a process at every machine instruction. A real process runs a call of the library
 * up to a point after exactly i machine instructions. There it is killed with SIGKILL, or stopped
 * with SIGSTOP and continued later. This is done for every i to the end of the call, including
 * system calls, C library functions and sleep. The others lose nothing (step_judge.c).
 *
 * The quick run tries some points, evenly spaced from a random first one; `slow` tries all, `every
 * N` each Nth. WORD selects the situations whose call or name contains it. Exits 77 if the machine
 * is not x86-64 or ptrace is not permitted.
 *
 * usage: step_test [slow | every N] [SEED] [WORD]
 */
#include "few_processes.h"
#include "step_run.h"

#include <sched.h>

#ifndef STEP_LIBRARY
#define STEP_LIBRARY "as it ships"
#endif
#ifndef STEP_BROKEN
#define STEP_BROKEN 0
#endif
#ifndef STEP_SHARE
#define STEP_SHARE 1 /* the quick run tries 1 in this many situations */
#endif

enum { QUICK_POINTS = 20 };

static bool terminal;

uint32_t step_below(uint32_t limit)
{
    return below(limit);
}

void step_doing(const char *call, const char *name, uint32_t seats, const char *how, uint32_t point)
{
    now_doing("%s, %s, k=%u: %s after %u instructions", call, name, seats, how, point);
}

void step_progress(const char *call, const char *name, uint32_t at, uint32_t of)
{
    if (terminal) {
        (void)printf("\r  %-16s %-27s %3u %%\r", call, name, of == 0 ? 0 : at * 100 / of);
        (void)fflush(stdout);
    }
}

void step_table_begin(void)
{
    (void)printf("  %-18s %-27s %1s %12s %7s %7s %7s\n", "call", "situation", "k", "instructions",
                 "killed", "stopped", "failed");
}

void step_table_row(const char *call, const char *name, uint32_t seats, const struct tally *tally,
                    bool stops)
{
    char stopped[16];
    (void)snprintf(stopped, sizeof stopped, "%u", tally->stopped);
    (void)printf("  %-18s %-27s %u %12u %7u %7s %7u\n", call, name, seats, tally->instructions,
                 tally->killed, stops ? stopped : "-", tally->failed);
    (void)fflush(stdout);
}

static void refuse(void)
{
    (void)printf("ptrace is not permitted here: skipped\n");
    exit(77);
}

/* The arguments except the seed. */
struct choice {
    const char *word; /* NULL: all */
    uint32_t most, every;
};

static struct choice read_arguments(int *argc, char **argv)
{
    struct choice choice = {.most = QUICK_POINTS, .every = 1};
    int left = 1;
    for (int a = 1; a < *argc; a++) {
        bool every = strcmp(argv[a], "every") == 0 && a + 1 < *argc;
        if (every || strcmp(argv[a], "slow") == 0) {
            choice.most = 0;
            choice.every = every ? (uint32_t)strtoul(argv[++a], NULL, 10) : 1;
        } else if (strspn(argv[a], "0123456789") != strlen(argv[a])) {
            choice.word = argv[a];
        } else {
            argv[left++] = argv[a]; /* the seed */
        }
    }
    *argc = left;
    choice.every = choice.every == 0 ? 1 : choice.every;
    return choice;
}

static bool is_chosen(uint32_t situation, const char *word, uint32_t first)
{
    const struct situation *s = &step_situations[situation];
    if (word != NULL) {
        return strstr(s->call, word) != NULL || strstr(s->name, word) != NULL;
    }
    return step_most == 0 || situation % STEP_SHARE == first;
}

static void add(struct tally *sum, const struct tally *tally)
{
    sum->instructions += tally->instructions;
    sum->killed += tally->killed;
    sum->stopped += tally->stopped;
    sum->failed += tally->failed;
    sum->shorter += tally->shorter;
    sum->astray += tally->astray;
    sum->seconds += tally->seconds;
}

/* Try each situation, then the other mechanisms for comparison. Return whether all is right. */
static bool try_all(const char *word)
{
    struct tally sum = {0};
    struct tally sem = {0};
    struct tally tally;
    uint32_t first = below(STEP_SHARE);
    (void)printf("libusher %s\n", STEP_LIBRARY);
    step_table_begin();
    for (uint32_t i = 0; i < step_situation_count; i++) {
        const struct situation *s = &step_situations[i];
        if (!is_chosen(i, word, first)) {
            continue;
        }
        if (!step_try(s, &tally)) {
            refuse();
        }
        EXPECT(tally.instructions >= s->least);
        step_table_row(s->call, s->name, s->seats, &tally, true);
        add(&sum, &tally);
    }
    if (!step_peers(&sem)) {
        refuse();
    }
    now_doing("%s", "the sums");
    (void)printf("  libusher: %u instructions, %u killed, %u stopped, %u failed; %.0f s\n",
                 sum.instructions, sum.killed, sum.stopped, sum.failed, sum.seconds);
    (void)printf(
        "  %u more died elsewhere, because the call took another path; %u points were never "
        "reached\n",
        sum.astray, sum.shorter);
    EXPECT(sem.failed > 0); /* otherwise the harness detects nothing */
    return sum.failed == 0;
}

/* The library is built without one of its guards; the test passes if that is detected. */
static int expect_failure(const char *word)
{
    struct child child;
    int status;
    if (begin_child(&child)) {
        exit(try_all(word) ? 0 : 1);
    }
    EXPECT_EQ(waitpid(child.pid, &status, 0), child.pid);
    EXPECT(WIFEXITED(status));
    if (WEXITSTATUS(status) != 77) {
        EXPECT_EQ(WEXITSTATUS(status), 1);
        (void)printf("the missing guard was detected\n");
    }
    return WEXITSTATUS(status) == 77 ? 77 : 0;
}

int main(int argc, char **argv)
{
#ifndef __x86_64__
    (void)printf("not x86-64: skipped\n");
    return 77;
#endif
    cpu_set_t one;
    few_processes();
    struct choice choice = read_arguments(&argc, argv);
    support_begin(argc, argv);
    terminal = isatty(STDOUT_FILENO);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    (void)sched_setaffinity(0, sizeof one, &one); /* stepping across CPUs is far slower */
    step_most = choice.most;
    step_every = choice.every;
    step_board = share(sizeof *step_board);
    if (STEP_BROKEN) {
        return expect_failure(choice.word);
    }
    return try_all(choice.word) ? 0 : 1;
}
