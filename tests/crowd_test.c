/*
 * A crowd of up to 64 processes with up to 256 threads on a pool of 1 to 32 seats, for a given
 * time. Guests acquire and give back in every possible way: release, release by another thread,
 * close the pool, assign to another process, fork, exec with and without the seat, end with it,
 * give up. Guests are killed, stopped and continued at random instants. The pool is resized
 * meanwhile, also by processes that are killed.
 *
 * Each entry is checked against a board outside the pool:
 *
 * - a seat has one live holder, and its number is below k
 * - a seat that was not left belonged to a dead guest, and the acquire says so
 * - each ticket enters once, and with one seat in order
 * - for one entry in 64: no waiter seen before the arrival still waits after the entry
 * - a stopped guest delays no other
 *
 * When all guests are gone, the pool has exactly k seats and usher_verify succeeds.
 *
 * The seed determines all decisions, but not their timing. usage: crowd_test [SECONDS [SEED
 * [SEATS]]]
 */
#include "crowd.h"

struct guest {
    struct child child;
    uint32_t life;
    unsigned threads, stopped_until; /* stopped_until: a round; 0: not stopped */
};

static struct guest guests[CROWD_PROCESSES];
static unsigned processes, threads;
static struct usher_pool *pool;
static uint32_t wanted, most_seats, always; /* numbers of seats */
static bool resizing;
static struct {
    unsigned acts, kills, stops, resizes, resizers_killed;
} done;

static void begin_guest(struct guest *guest)
{
    unsigned others = threads - guest->threads;
    static const unsigned usual[] = {1, 1, 1, 2, 3, 4, 8, 32};
    guest->threads = usual[below(8)];
    if (others + guest->threads + CROWD_PROCESSES > CROWD_THREADS) {
        guest->threads = 1; /* leaves a row for each of the others */
    }
    threads = others + guest->threads;
    guest->life = crowd_birth(0);
    guest->stopped_until = 0;
    uint64_t dice = ((uint64_t)below(1 << 30) << 20) + below(1 << 20);
    if (begin_child(&guest->child)) {
        crowd_guest(guest->life, guest->threads, dice);
        _exit(0);
    }
}

/* Record guests that have ended. Some end by themselves and are replaced. Orphans become our
   children, too. */
static void note_ends(void)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        EXPECT(!WIFEXITED(status) || WEXITSTATUS(status) == 0);
        if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL) {
            (void)fprintf(stderr, "process %ld was killed by signal %d\n", (long)pid,
                          WTERMSIG(status));
            exit(1);
        }
        crowd_note_end(pid);
        for (unsigned g = 0; g < processes; g++) {
            if (guests[g].child.pid == pid) {
                guests[g].child.gone = true;
                guests[g].child.status = status;
                EXPECT(WIFEXITED(status) || atomic_load(&board->life[guests[g].life].doomed));
            }
        }
    }
}

static void replace_ended(void)
{
    note_ends();
    for (unsigned g = 0; g < processes; g++) {
        if (guests[g].child.gone) {
            begin_guest(&guests[g]);
        }
    }
}

static void kill_guest(struct guest *guest)
{
    crowd_doom(guest->life);
    EXPECT_EQ(kill(guest->child.pid, SIGKILL), 0);
    done.kills++;
}

static void stop_guest(struct guest *guest, unsigned until)
{
    EXPECT_EQ(kill(guest->child.pid, SIGSTOP), 0);
    guest->stopped_until = until;
    done.stops++;
}

/* Return the most seats that stopped guests may hold: one a thread, and one more that it waits
   for. */
static unsigned held_by_stopped(void)
{
    unsigned held = 0;
    for (unsigned g = 0; g < processes; g++) {
        held += guests[g].stopped_until != 0 ? 2 * guests[g].threads : 0;
    }
    return held;
}

static unsigned long entries(void)
{
    return atomic_load(&board->counts.entries);
}

/* Wait until the others progress; replace those that end meanwhile. */
static void expect_progress(void)
{
    unsigned long before = entries();
    AWAIT((replace_ended(), entries() >= before + 10));
}

static bool all_stopped(void)
{
    unsigned running = 0;
    for (unsigned g = 0; g < processes; g++) {
        running += guests[g].stopped_until == 0 && !guests[g].child.gone;
    }
    return running < 3;
}

static void continue_some(unsigned round)
{
    if (held_by_stopped() > 0 && held_by_stopped() < wanted && !resizing && !all_stopped()) {
        expect_progress();
    }
    for (unsigned g = 0; g < processes; g++) {
        if (guests[g].stopped_until != 0 && guests[g].stopped_until <= round) {
            if (!guests[g].child.gone && below(4) == 0) {
                kill_guest(&guests[g]); /* killed while stopped */
            }
            (void)kill(guests[g].child.pid, SIGCONT);
            guests[g].stopped_until = 0;
        }
    }
}

/* Resize; or let a child resize that may be killed in the middle, and then resize. */
static void resize(void)
{
    uint32_t seats = below(10) == 0 ? 0 : 1 + below(most_seats);
    struct child resizer;
    if (seats > atomic_load(&board->seats)) {
        atomic_store(&board->seats, seats);
    }
    if (below(2) == 0) {
        uint32_t life = crowd_birth(0);
        if (begin_child(&resizer)) {
            crowd_live(life);
            struct usher_pool *own = open_pool("pool", 0, 0);
            int error = usher_resize(own, seats);
            EXPECT(error == 0 || (error == -EUSERS && atomic_load(&board->tight)));
            _exit(0);
        }
        pause_us((long)below(1500));
        crowd_doom(life);
        (void)kill(resizer.pid, SIGKILL);
        EXPECT_EQ(waitpid(resizer.pid, &resizer.status, 0), resizer.pid);
        crowd_note_end(resizer.pid);
        done.resizers_killed += WIFSIGNALED(resizer.status);
    }
    EXPECT_EQ(usher_resize(pool, seats), 0);
    wanted = seats;
    resizing = true;
    done.resizes++;
}

/* A shrink is complete when no guest holds a removed seat. From then on no such seat is granted. */
static void resized(void)
{
    struct usher_info info;
    struct usher_guest listed[CROWD_LISTED];
    int count = usher_inspect(pool, &info, listed, CROWD_LISTED);
    EXPECT(count >= 0 && count <= CROWD_LISTED);
    EXPECT_EQ(info.seats, wanted);
    bool beyond = info.owed != 0 || info.holders > wanted;
    for (int g = 0; g < count; g++) {
        beyond = beyond || (listed[g].position == 0 && listed[g].seat >= wanted);
    }
    if (!beyond && wanted == 0) {
        resize(); /* the pool has no seats */
    } else if (!beyond) {
        atomic_store(&board->seats, wanted);
        resizing = false;
    }
}

static void begin_act(void)
{
    static const unsigned sizes[] = {2, 4, 8, 16, 24, 32, 48, CROWD_PROCESSES};
    struct usher_info info;
    memset((void *)board, 0, sizeof *board);
    wanted = below(4) == 0 ? 1 + below(2) : 1 + below(CROWD_SEATS);
    wanted = always != 0 ? always : wanted;
    processes = sizes[below(8)];
    threads = 0;
    resizing = false;
    atomic_store(&board->seats, wanted);
    atomic_store(&board->one, wanted == 1);
    bool tight = below(4) == 0;
    atomic_store(&board->tight, tight);
    pool = open_pool("pool", wanted, tight ? 32 + processes : 2048);
    EXPECT(usher_inspect(pool, &info, NULL, 0) == 0);
    most_seats = info.most_seats < CROWD_SEATS ? info.most_seats : CROWD_SEATS;
    EXPECT_EQ(usher_resize(pool, wanted), 0); /* gives us a row, whatever the others do */
    memset(guests, 0, sizeof guests);
    for (unsigned g = 0; g < processes; g++) {
        begin_guest(&guests[g]);
    }
}

/* End all guests. */
static void end_act(void)
{
    struct usher_info info;
    for (unsigned g = 0; g < processes; g++) {
        (void)kill(guests[g].child.pid, SIGCONT);
    }
    AWAIT((replace_ended(), entries() > 100));
    if (wanted == 0) {
        atomic_store(&board->seats, CROWD_SEATS);
        EXPECT_EQ(usher_resize(pool, 3), 0);
        wanted = 3;
    }
    atomic_store(&board->stop, 1);
    for (unsigned g = 0; g < processes; g++) {
        AWAIT((note_ends(), guests[g].child.gone));
    }
    AWAIT((note_ends(), waitpid(-1, NULL, WNOHANG) < 0)); /* orphans as well */
    EXPECT(usher_reap(pool) >= 0);
    EXPECT_EQ(usher_inspect(pool, &info, NULL, 0), 0);
    EXPECT_EQ(usher_verify(pool, NULL, NULL), 0);
    (void)expect_exactly(pool, wanted);
    usher_close(pool);
    EXPECT_EQ(usher_remove("pool"), 0);
    done.acts++;
}

static void act(int64_t until)
{
    unsigned long most = 2000 + below(20000);
    begin_act();
    bool resizes = !atomic_load(&board->one) && below(3) != 0 && always == 0;
    uint32_t first = wanted;
    struct crowd_counts *c = &board->counts;
    unsigned before[3] = {done.kills, done.stops, done.resizes};
    for (unsigned round = 1; entries() < most && now_ns() < until; round++) {
        struct guest *guest = &guests[below(processes)];
        uint32_t what = below(100);
        now_doing("act %u, round %u: %u processes, %u threads, %u seats", done.acts, round,
                  processes, threads, wanted);
        pause_us((long)below(2000));
        replace_ended();
        continue_some(round);
        if (resizing) {
            resized();
        }
        if (guest->stopped_until != 0 || guest->child.gone) {
            continue;
        }
        if (what < 30) {
            kill_guest(guest);
        } else if (what < 50) {
            stop_guest(guest, round + 1 + below(5));
        } else if (what < 60 && resizes && !resizing) {
            resize();
        } else if (what < 65) {
            EXPECT(usher_reap(pool) >= 0);
        }
    }
    unsigned lasts = threads;
    end_act();
    (void)printf("  %u processes, %u threads, k = %u%s: %lu entries, %lu inherited, %lu gave up, "
                 "%lu refused; %u killed, %u stopped, %u resizes\n",
                 processes, lasts, first, atomic_load(&board->tight) ? ", few rows" : "", entries(),
                 atomic_load(&c->inherited), atomic_load(&c->gave_up),
                 atomic_load(&c->turned_away) + atomic_load(&c->full), done.kills - before[0],
                 done.stops - before[1], done.resizes - before[2]);
    (void)fflush(stdout);
}

static void add(struct crowd_counts *sum)
{
    atomic_ulong *to = (atomic_ulong *)sum;
    atomic_ulong *from = (atomic_ulong *)&board->counts;
    for (unsigned c = 0; c < sizeof *sum / sizeof *to; c++) {
        atomic_fetch_add(&to[c], atomic_load(&from[c]));
    }
}

int main(int argc, char **argv)
{
    static struct crowd_counts sum;
    if (argc > 1 && strcmp(argv[1], "exec") == 0) {
        return crowd_execed(argc, argv);
    }
    long seconds = argc > 1 ? strtol(argv[1], NULL, 10) : 60;
    always = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
    support_begin(argc > 2 ? 2 : 1, argc > 2 ? argv + 1 : argv);
    int fd = memfd_create("crowd", 0);
    EXPECT(fd >= 0);
    EXPECT_EQ(ftruncate(fd, sizeof *board), 0);
    crowd_map(fd);
    EXPECT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
    int64_t until = now_ns() + seconds * 1000000000LL;
    do {
        act(until);
        add(&sum);
    } while (now_ns() < until);
    (void)printf("%u acts: %lu entries, %lu of them checked for order; %u killed, %u stopped, %u "
                 "resizes, %u "
                 "resizers killed\n  %lu seats given back by another thread, %lu by closing or "
                 "re-opening, %lu by threads that ended, %lu assigned; %lu inherited, %lu execs, "
                 "%lu children, %lu ended with their seats\n",
                 done.acts, sum.entries, sum.orders, done.kills, done.stops, done.resizes,
                 done.resizers_killed, sum.by_others, sum.reopened, sum.threads_ended, sum.heirs,
                 sum.inherited, sum.execs, sum.children, sum.ended);
    return 0;
}
