/*
 * One acquire and one release without contention: the cost of the atomics.
 *
 * It is measured in several processes (9, or 5 with --quick), one after the other, because the
 * result depends on where memory happens to lie. The same loop takes 10.2 ns in most processes and
 * 10.6 or 11.7 ns in some. It stays so until the peer is closed, and often when the same process
 * opens it again. Some CPUs predict a line's cache way from part of its address, and two lines with
 * the same prediction evict each other. (On one AMD CPU, bits 16 and 21 of a pool's address
 * identified nine in ten of the slow cases.) So each process is a new execution of this program and
 * shares no memory layout with its parent. All peers are measured in each process, in rounds.
 * Medians, quartiles and ratios are over the rounds of all processes together.
 */
#include "bench/bench.h"
#include "bench/calm.h"
#include "bench/peers.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { CASES = 2, ENOUGH = 20 };
static const struct {
    unsigned seats;
    const char *name, *title;
} cases[CASES] = {
    {4, "four", "acquire and release, one thread, alone, k = 4"},
    {1, "one", "acquire and release, one thread, alone, k = 1"},
};

/* Shared by this process and the measuring process. Peers are indexed as in bench_peers. */
static struct sheet {
    /* written by this process before the start */
    pid_t parent;
    enum bench_effort effort;
    unsigned first, rounds; /* the rounds of this measuring process */
    /* written by the measuring process */
    unsigned opened[CASES][BENCH_MAX_PEERS]; /* number of processes that opened it */
    double took[CASES][BENCH_MAX_PEERS][BENCH_MAX_ROUNDS];
    bool ours[CASES][BENCH_MAX_PEERS][BENCH_MAX_ROUNDS]; /* the core was ours in this round */
    struct bench_calm calm;                              /* of all processes together */
    bool is_whole;                                       /* written last; cleared by this process */
} * sheet;

/* Return how many times a peer runs in a round. */
static uint64_t times_a_round(const struct bench_peer *peer)
{
    const double wanted_ns = 0.25e6; /* short: few rounds are interrupted */
    uint64_t times = 64;
    double needed = 0;
    while (needed < wanted_ns / 4) {
        times *= 2;
        double begin = bench_now_ns();
        peer->run(times);
        needed = bench_now_ns() - begin;
    }
    return (uint64_t)((double)times * wanted_ns / needed) + 1;
}

/* Store the indices of the peers to measure. Return the count. */
static unsigned choose(unsigned c, unsigned *chosen)
{
    const struct bench_peer *all[BENCH_MAX_PEERS];
    unsigned count = bench_choose(all, 0, cases[c].seats > 1 ? PEER_ONE : 0);
    for (unsigned i = 0; i < count; i++) {
        chosen[i] = bench_index(bench_peers, bench_peer_count, all[i]->name);
    }
    return count;
}

static bool open_peer(const struct bench_peer *peer, unsigned seats)
{
    if (peer->open(seats, 16) != 0) {
        return false;
    }
    if (peer->attach() != 0) {
        peer->close();
        return false;
    }
    return true;
}

static void measure(unsigned c)
{
    unsigned peers[BENCH_MAX_PEERS];
    uint64_t times[BENCH_MAX_PEERS];
    unsigned count = 0;
    unsigned chosen = choose(c, peers);
    for (unsigned i = 0; i < chosen; i++) {
        if (open_peer(bench_peers[peers[i]], cases[c].seats)) {
            sheet->opened[c][peers[i]]++;
            peers[count++] = peers[i];
        }
    }
    for (unsigned i = 0; i < count; i++) {
        times[i] = times_a_round(bench_peers[peers[i]]);
    }
    for (unsigned round = sheet->first; round < sheet->first + sheet->rounds; round++) {
        for (unsigned i = 0; i < count; i++) {
            unsigned p = (i + round) % count;
            double before = sheet->calm.ours;
            sheet->took[c][peers[p]][round] =
                bench_calmly(&sheet->calm, bench_peers[peers[p]]->run, times[p]);
            sheet->ours[c][peers[p]][round] = sheet->calm.ours > before;
        }
    }
    for (unsigned i = 0; i < count; i++) {
        bench_peers[peers[i]]->detach();
        bench_peers[peers[i]]->close();
    }
}

static bool map_sheet(int fd)
{
    sheet = mmap(NULL, sizeof *sheet, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return sheet != MAP_FAILED;
}

int bench_alone(const char *descriptor)
{
    char *end;
    struct stat about;
    long fd = strtol(descriptor, &end, 10);
    if (end == descriptor || *end != '\0' || fd < 0 || fd > INT_MAX ||
        fstat((int)fd, &about) != 0 || about.st_size != (off_t)sizeof *sheet) {
        (void)fprintf(stderr, "usher-bench: --alone is for usher-bench itself\n");
        return 64;
    }
    if (!map_sheet((int)fd)) {
        perror("usher-bench: mmap");
        return 71;
    }
    (void)close((int)fd);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != sheet->parent) {
        return 71; /* the parent had ended before prctl */
    }
    bench_effort = sheet->effort;
    bench_name_after(sheet->parent);
    for (unsigned c = 0; c < CASES; c++) {
        measure(c);
    }
    sheet->is_whole = true;
    return 0;
}

/* Start a process that measures its rounds. Return whether it succeeded; if not, say how it
   ended. */
static bool run_process(int fd, char *fate, size_t room)
{
    char descriptor[16];
    pid_t child;
    posix_spawn_file_actions_t files;
    int status = 0;
    (void)snprintf(descriptor, sizeof descriptor, "%d", fd);
    char *const words[] = {"usher-bench", "--alone", descriptor, NULL};
    sheet->is_whole = false;
    (void)posix_spawn_file_actions_init(&files);
    (void)posix_spawn_file_actions_adddup2(&files, fd, fd); /* clears close-on-exec */
    int error = posix_spawn(&child, "/proc/self/exe", &files, NULL, words, environ);
    (void)posix_spawn_file_actions_destroy(&files);
    if (error != 0) {
        (void)snprintf(fate, room, "could not be started: %s", strerror(error));
        return false;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) {
        (void)snprintf(fate, room, "was killed by signal %d (%s)", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
    } else if (WEXITSTATUS(status) != 0) {
        (void)snprintf(fate, room, "ended with status %d", WEXITSTATUS(status));
    } else {
        (void)snprintf(fate, room, "ended before it had measured all");
    }
    return status == 0 && sheet->is_whole;
}

/* Remove the files of a process that could not do it. Their names contain our pid. */
static void remove_files(void)
{
    (void)usher_discard(bench_pool());
    bench_flock.close();
    bench_ofd.close();
}

/* Run all processes, one after the other. Return whether all succeeded; if not, say why. */
static bool run_processes(int fd, unsigned processes, char *why, size_t room)
{
    sheet->parent = getpid();
    sheet->effort = bench_effort;
    sheet->rounds = bench_pick(20, 10, 2);
    for (unsigned p = 0; p < processes; p++) {
        char fate[96];
        sheet->calm.spare_ns += bench_pick(30, 5, 0) * 1e9 / processes;
        sheet->first = p * sheet->rounds;
        if (!run_process(fd, fate, sizeof fate)) {
            (void)snprintf(why, room, "process %u of the %u that measure %s", p + 1, processes,
                           fate);
            remove_files();
            return false;
        }
    }
    return true;
}

/* Collect the rounds of a peer, or of two peers, in which the core was ours; all rounds if these
   are too few. Return the count. */
static unsigned gather(unsigned c, unsigned one, unsigned other, unsigned processes, double *first,
                       double *second)
{
    const unsigned rounds = processes * sheet->rounds;
    unsigned count = 0;
    for (int all = 0; all < 2 && count < ENOUGH; all++) {
        count = 0;
        for (unsigned r = 0; r < rounds; r++) {
            if (all || (sheet->ours[c][one][r] && sheet->ours[c][other][r])) {
                first[count] = sheet->took[c][one][r];
                second[count++] = sheet->took[c][other][r];
            }
        }
    }
    return count;
}

static void report(unsigned c, unsigned processes)
{
    double took[BENCH_MAX_ROUNDS];
    double same[BENCH_MAX_ROUNDS];
    unsigned peers[BENCH_MAX_PEERS];
    unsigned count = choose(c, peers);
    for (unsigned i = 0; i < count; i++) {
        if (sheet->opened[c][peers[i]] < processes) {
            bench_absent("uncontended", bench_peers[peers[i]]->name, "could not be opened");
        }
    }
    bench_table("uncontended", cases[c].name, cases[c].title, "ns", "less");
    for (unsigned i = 0; i < count; i++) {
        if (sheet->opened[c][peers[i]] == processes) {
            unsigned rounds = gather(c, peers[i], peers[i], processes, took, same);
            bench_row("", cases[c].seats, bench_peers[peers[i]]->name, took, rounds);
        }
    }
    bench_show();
}

/* limit 0: only print it. */
static void want(const char *peer, const char *against, unsigned c, unsigned processes,
                 double limit)
{
    char what[128];
    double took[BENCH_MAX_ROUNDS];
    double beside[BENCH_MAX_ROUNDS];
    unsigned one = bench_index(bench_peers, bench_peer_count, peer);
    unsigned other = bench_index(bench_peers, bench_peer_count, against);
    if (one == bench_peer_count || other == bench_peer_count || sheet->opened[c][one] < processes ||
        sheet->opened[c][other] < processes) {
        return;
    }
    (void)snprintf(what, sizeof what, "%s / %s, k = %u", peer, against, cases[c].seats);
    unsigned rounds = gather(c, one, other, processes, took, beside);
    struct bench_summary ratio = bench_ratio(took, beside, rounds);
    if (limit > 0) {
        bench_want(what, ratio, true, limit);
    } else {
        bench_tell(what, ratio);
    }
}

static void report_all(unsigned processes)
{
    report(0, processes);
    want("usher pool", "sem_t", 0, processes, 1.5);
    want("usher gate", "sem_t", 0, processes, 1.2);
    want("usher pool", "semop+SEM_UNDO", 0, processes, 0.1);
    want("usher pool", "limit: could be repaired", 0, processes, 0);
    want("limit: could be repaired", "sem_t", 0, processes, 0);
    report(1, processes);
    want("usher pool", "sem_t", 1, processes, 1.5);
    want("usher pool", "robust mutex", 1, processes, 1.2);
    want("usher pool", "semop+SEM_UNDO", 1, processes, 0.1);
    want("usher pool", "limit: could be repaired", 1, processes, 0);
    const double made = sheet->calm.counted + sheet->calm.redone;
    const double share = made / (sheet->calm.ours > 0 ? sheet->calm.ours : 1);
    bench_tell("rounds made / those in which no other ran on the same core",
               bench_summarise(&share, 1));
    bench_peers_absent("uncontended");
}

void bench_uncontended(void)
{
    char why[160];
    unsigned processes = bench_pick(9, 5, 1);
    int fd = memfd_create("usher-bench", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)sizeof *sheet) != 0 || !map_sheet(fd)) {
        perror("usher-bench: memfd_create");
        exit(71);
    }
    if (run_processes(fd, processes, why, sizeof why)) {
        report_all(processes);
    } else {
        bench_absent("uncontended", "all", why);
    }
    (void)munmap(sheet, sizeof *sheet);
    (void)close(fd);
}
