/*
 * One acquire and one release with nobody else about: what the atomics cost, and nothing more.
 *
 * It is measured in several processes (9, or 5 if there is little time), one after the other: one
 * process measures its luck. The same loop is 10.2 ns in most of them and 10.6 or 11.7 in some, and
 * stays so until the peer is closed; often it is so again when the same process opens it again.
 * It is where its memory happens to lie: some processors guess by a part of the address in which
 * way of their cache a line is, and two lines that look alike there take it from each other. (On
 * one of AMD's, bits 16 and 21 of where a pool was mapped told nine in ten of the slow ones.) So
 * each process is this program, executed anew, and has nothing of its parent's memory. All peers
 * are measured in each, in rounds; medians, quartiles and ratios are of the rounds of all processes
 * together.
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

/* What we and the process that measures have in common. Peers are by their index in bench_peers. */
static struct sheet {
    /* ours to write, before it starts */
    pid_t parent;
    enum bench_effort effort;
    unsigned first, rounds; /* which rounds are its own */
    /* the process's */
    unsigned opened[CASES][BENCH_MAX_PEERS]; /* in so many processes so far */
    double took[CASES][BENCH_MAX_PEERS][BENCH_MAX_ROUNDS];
    bool ours[CASES][BENCH_MAX_PEERS][BENCH_MAX_ROUNDS]; /* the core, meanwhile */
    struct bench_calm calm;                              /* of all processes together */
    bool is_whole; /* the last that it writes; cleared by us */
} * sheet;

/* How often a peer can do it in a round. */
static uint64_t times_a_round(const struct bench_peer *peer)
{
    const double wanted_ns = 0.25e6; /* short: few of them are interrupted */
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

/* The indices of those that are to be measured. */
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
        return 71; /* it had ended before we asked */
    }
    bench_effort = sheet->effort;
    bench_name_after(sheet->parent);
    for (unsigned c = 0; c < CASES; c++) {
        measure(c);
    }
    sheet->is_whole = true;
    return 0;
}

/* Have a process measure its rounds. Whether it has; if not, say what became of it. */
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
    (void)posix_spawn_file_actions_adddup2(&files, fd, fd); /* this one is not closed on exec */
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

/* The files of a process that could not remove them. They are named after us. */
static void tidy(void)
{
    (void)usher_discard(bench_pool());
    bench_flock.close();
    bench_ofd.close();
}

/* All processes, one after the other. Whether all went well; if not, why. */
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
            tidy();
            return false;
        }
    }
    return true;
}

/* The rounds in which the core was ours, of a peer, or of two of them at once: they alone count, if
   there are enough; otherwise all do. How many. */
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

/* limit 0: only told. */
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
