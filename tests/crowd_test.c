/*
 * A crowd of up to 64 processes with up to 256 threads on a pool of 1 to 32 seats, for as long as
 * is asked. They come by every way in and leave by every way out: give seats back, have another
 * thread do it, close the pool, make them over to other processes, fork, exec with the seat and
 * without it, end with it, give up. They are killed, stopped and continued at random instants, and
 * the pool is resized under them, by ones who are killed, too.
 *
 * Every entry is checked against a board outside the pool: a seat has one live holder and is one of
 * the pool's, a seat that was not left is a dead one's and is told so, a ticket is had once; with
 * one seat in order; and one entry in 64: whoever was seen to wait before it came waits no more.
 * Whoever is stopped holds up nobody. When all have gone there are exactly k seats, and every
 * relation holds.
 *
 * All that is decided, is decided by the seed; when it happens, is not.
 * usage: crowd_test [SECONDS [SEED [SEATS]]]
 */
#include "crowd.h"

struct guest {
    struct child child;
    uint32_t life;
    unsigned threads, stopped_until; /* round; 0: it is not */
};

static struct guest guests[CROWD_PROCESSES];
static unsigned processes, threads;
static struct usher_pool *pool;
static uint32_t wanted, most_seats, always; /* seats */
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
        guest->threads = 1; /* so that each of the others can have one */
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

/* Note who has ended. Some end by themselves, and are replaced; orphans come to us, too. */
static void bury_all(void)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        EXPECT(!WIFEXITED(status) || WEXITSTATUS(status) == 0);
        if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL) {
            (void)fprintf(stderr, "%ld was ended by signal %d\n", (long)pid, WTERMSIG(status));
            exit(1);
        }
        crowd_bury(pid);
        for (unsigned g = 0; g < processes; g++) {
            if (guests[g].child.pid == pid) {
                guests[g].child.gone = true;
                guests[g].child.status = status;
                EXPECT(WIFEXITED(status) || atomic_load(&board->life[guests[g].life].doomed));
            }
        }
    }
}

static void bury_and_replace(void)
{
    bury_all();
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

/* How many seats those who are stopped may have: a thread has one, and one for who it waits for. */
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

/* The others go on; those of them that end meanwhile are replaced. */
static void expect_progress(void)
{
    unsigned long before = entries();
    AWAIT((bury_and_replace(), entries() >= before + 10));
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
                kill_guest(&guests[g]); /* killed while it is stopped */
            }
            (void)kill(guests[g].child.pid, SIGCONT);
            guests[g].stopped_until = 0;
        }
    }
}

/* Resize, or let somebody who may be killed in the middle, and then resize. */
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
        crowd_bury(resizer.pid);
        done.resizers_killed += WIFSIGNALED(resizer.status);
    }
    EXPECT_EQ(usher_resize(pool, seats), 0);
    wanted = seats;
    resizing = true;
    done.resizes++;
}

/* A pool that shrinks has shrunk when nobody is in a seat that goes. From then on none is had. */
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
        resize(); /* it has run dry */
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
    EXPECT_EQ(usher_resize(pool, wanted), 0); /* so that we have a row, whoever else has */
    memset(guests, 0, sizeof guests);
    for (unsigned g = 0; g < processes; g++) {
        begin_guest(&guests[g]);
    }
}

/* All go home. */
static void end_act(void)
{
    struct usher_info info;
    for (unsigned g = 0; g < processes; g++) {
        (void)kill(guests[g].child.pid, SIGCONT);
    }
    AWAIT((bury_and_replace(), entries() > 100));
    if (wanted == 0) {
        atomic_store(&board->seats, CROWD_SEATS);
        EXPECT_EQ(usher_resize(pool, 3), 0);
        wanted = 3;
    }
    atomic_store(&board->stop, 1);
    for (unsigned g = 0; g < processes; g++) {
        AWAIT((bury_all(), guests[g].child.gone));
    }
    AWAIT((bury_all(), waitpid(-1, NULL, WNOHANG) < 0)); /* the orphans, too */
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
        bury_and_replace();
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
                 "%lu turned away; %u killed, %u stopped, %u resizes\n",
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
    (void)printf(
        "%u acts: %lu entries, %lu of them for order; %u killed, %u stopped, %u resizes, %u "
        "resizers killed\n  %lu seats given back by another thread, %lu by closing or "
        "re-opening, %lu by threads that ended, %lu made over; %lu inherited, %lu execs, "
        "%lu children, %lu ended in their seats\n",
        done.acts, sum.entries, sum.orders, done.kills, done.stops, done.resizes,
        done.resizers_killed, sum.by_others, sum.reopened, sum.threads_ended, sum.heirs,
        sum.inherited, sum.execs, sum.children, sum.ended);
    return 0;
}
