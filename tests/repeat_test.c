/*
 * A shared word that a compare-and-swap compares must not return to the value that a stopped
 * process has read. One test for each word: one process is stopped before an access, the others
 * work until the word would repeat, the stopped process continues, and the pool must still be
 * right: at most k holders, exactly k seats, every waiter served, nothing for usher_verify to say.
 *
 * Real processes, a real pool file, a real SIGSTOP. No test knows which access is the dangerous
 * one: each runs its whole schedule for a stop before access 1, 2, .. until the call ends
 * unstopped.
 *
 * usage: repeat_test [K|V|line|I|place|clear [ACCESS]]; without a word all six run, each in its
 * own process; with an access only the stop before that one.
 */
#include "core/parts.h"
#include "pool/pool.h"

#include "pool_support.h"

enum {
    GUESTS = 16,
    SERVED_S = 5,   /* a waiter that is not served after this time is never served */
    LAST_STOPS = 6, /* a second stop is tried before the first LAST_STOPS accesses after a change */
    NO_WORD = UINT32_MAX >> 1
};

/*
 * After how many operations of one process each word repeats in a pool of format 4. All are
 * multiples of 2^12, the number of the shortest tags. In a pool whose words never repeat for a
 * stopped process the numbers do not matter.
 */
enum {
    TICKETS = CORE_TICKET_MASK + 1, /* the line; V, whose tag of 12 bits divides it */
    I_TAGS = 1 << 16,               /* I, if ISSUE is set back by as many tickets */
    RESIZES = 1 << 14               /* K: two resizes take three cycles; tags have 12 bits */
};

/* Fail with one sentence that says what was lost. */
#define HOLDS(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                                  \
            (void)fprintf(stderr, __VA_ARGS__);                                                    \
            (void)fprintf(stderr, "\n");                                                           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum act {
    ENTER,        /* usher_acquire */
    TRY,          /* usher_try_acquire */
    GIVE_UP,      /* usher_acquire_until a time that has passed */
    LEAVE,        /* usher_release */
    GO_ROUND,     /* TRY and LEAVE, `count` times */
    ENTER_UNTIL,  /* the same and then stay; stay at once if I is `until` */
    RESIZE,       /* usher_resize to `count` seats */
    RESIZE_UNTIL, /* usher_resize to 2, 1, 2, 1 .., `count` times, or until K is `until` */
    REAP,         /* usher_reap */
    QUIT
};

/* What the test wants of an actor. The test writes all but `done` and `result`. */
struct order {
    enum act act;
    uint32_t count;
    uint64_t until;
    unsigned stop_before; /* stop before this access of the act, from 1; 0: never */
    uint32_t stop_after;  /* count accesses only after this word has changed; or NO_WORD */
    atomic_uint given, done;
    atomic_int result;
};

/* A child process that does what the test wants. */
struct actor {
    struct child child;
    struct order *order; /* shared with the child */
};

enum { ACTORS = 4 };

static struct order *orders;
static struct actor actors[ACTORS];
static struct usher_pool *pool; /* the test's own */
static unsigned only_access;    /* run the schedules for this access; 0: for each */

/* In an actor: when to stop. */
static unsigned accesses_left;
static _Atomic uint64_t *watched;
static uint64_t watched_was;

void core_counted(void)
{
    if (watched != NULL && atomic_load(watched) == watched_was) {
        return;
    }
    watched = NULL;
    if (accesses_left > 0 && --accesses_left == 0) {
        (void)raise(SIGSTOP);
    }
}

static uint64_t word_at(struct usher_pool *own, uint32_t at)
{
    return atomic_load(&own->core.words[at]);
}

static int go_round(struct usher_pool *own, struct usher_seat *seat, const struct order *order)
{
    int error = 0;
    for (uint32_t round = 0; round < order->count && error == 0; round++) {
        error = usher_try_acquire(own, seat);
        error = error == 0 ? usher_release(own, seat) : error;
    }
    return error;
}

static int enter_until(struct usher_pool *own, struct usher_seat *seat, const struct order *order)
{
    for (uint32_t round = 1;; round++) {
        int error = usher_try_acquire(own, seat);
        if (error != 0 || round == order->count ||
            word_at(own, CORE_AT_I(&own->core)) == order->until) {
            return error;
        }
        error = usher_release(own, seat);
        if (error != 0) {
            return error;
        }
    }
}

static int resize_until(struct usher_pool *own, const struct order *order)
{
    int error = 0;
    for (uint32_t round = 0; round < order->count && error == 0; round++) {
        error = usher_resize(own, round % 2 == 0 ? 2 : 1);
        if (word_at(own, CORE_AT_K(&own->core)) == order->until) {
            break;
        }
    }
    return error;
}

static int act(struct usher_pool *own, struct usher_seat *seat, const struct order *order)
{
    const struct timespec past = {0, 0};
    int reaped;
    switch (order->act) {
    case ENTER:
        return usher_acquire(own, seat);
    case TRY:
        return usher_try_acquire(own, seat);
    case GIVE_UP:
        return usher_acquire_until(own, seat, &past);
    case LEAVE:
        return usher_release(own, seat);
    case GO_ROUND:
        return go_round(own, seat, order);
    case ENTER_UNTIL:
        return enter_until(own, seat, order);
    case RESIZE:
        return usher_resize(own, order->count);
    case RESIZE_UNTIL:
        return resize_until(own, order);
    case REAP:
        reaped = usher_reap(own);
        return reaped < 0 ? reaped : 0;
    case QUIT:
        break;
    }
    usher_close(own);
    _exit(0);
}

static void live(struct order *order)
{
    struct usher_seat seat = {0};
    struct usher_pool *own = open_pool("repeat", 0, 0);
    for (unsigned number = 1;; number++) {
        for (unsigned looks = 0; atomic_load(&order->given) < number; looks++) {
            pause_us(looks < 100 ? 10 : 200);
        }
        if (order->stop_after != NO_WORD) {
            watched_was = word_at(own, order->stop_after);
            watched = &own->core.words[order->stop_after];
        }
        accesses_left = order->stop_before;
        int result = act(own, &seat, order);
        accesses_left = 0;
        watched = NULL;
        atomic_store(&order->result, result);
        atomic_store(&order->done, number);
    }
}

static bool done(struct actor *actor)
{
    return gone(&actor->child) || atomic_load(&actor->order->done) == actor->order->given;
}

static bool stopped(const struct actor *actor)
{
    return process_state(actor->child.pid) == 'T';
}

static bool waits(const struct actor *actor)
{
    return position_of(pool, actor->child.pid) > 0;
}

static bool sleeps_in_line(const struct actor *actor)
{
    return waits(actor) && process_state(actor->child.pid) == 'S';
}

static void go_on(const struct actor *actor)
{
    EXPECT_EQ(kill(actor->child.pid, SIGCONT), 0);
}

/* Has the actor done what it was asked to do? An actor that stopped meanwhile goes on. */
static bool done_if_it_goes_on(struct actor *actor)
{
    if (stopped(actor)) {
        go_on(actor);
    }
    return done(actor);
}

static void give(struct actor *actor, struct order what)
{
    struct order *order = actor->order;
    order->act = what.act;
    order->count = what.count;
    order->until = what.until;
    order->stop_before = what.stop_before;
    order->stop_after = what.stop_after;
    atomic_fetch_add(&order->given, 1);
}

/* Have an actor do something without a stop. Returns the result. */
static int have(struct actor *actor, struct order what)
{
    what.stop_before = 0;
    what.stop_after = NO_WORD;
    give(actor, what);
    AWAIT(done(actor));
    return atomic_load(&actor->order->result);
}

/* Have an actor do something, and stop it before that access. False: it ended, or waits in line,
   without a stop. */
static bool have_stopped(struct actor *actor, struct order what, unsigned access)
{
    what.stop_before = access;
    what.stop_after = NO_WORD;
    give(actor, what);
    AWAIT(stopped(actor) || done(actor) || sleeps_in_line(actor));
    return stopped(actor);
}

/* The same, but accesses count only after it has changed that word. */
static bool have_stopped_after(struct actor *actor, struct order what, uint32_t word,
                               unsigned access)
{
    what.stop_before = access;
    what.stop_after = word;
    give(actor, what);
    AWAIT(stopped(actor) || done(actor));
    return stopped(actor);
}

static void finish(struct actor *actor)
{
    AWAIT(done_if_it_goes_on(actor));
}

/* The actor, which waits or is stopped, gets a seat. */
static void expect_served(struct actor *actor, const char *lost)
{
    int64_t limit = now_ns() + SERVED_S * 1000000000LL;
    while (!done_if_it_goes_on(actor)) {
        HOLDS(now_ns() < limit, "%s", lost);
        pause_us(200);
    }
    EXPECT_EQ(atomic_load(&actor->order->result), 0);
}

static int result_of(const struct actor *actor)
{
    return atomic_load(&actor->order->result);
}

static void say(void *unused, const char *sentence)
{
    (void)unused;
    (void)fprintf(stderr, "  usher_verify says: %s\n", sentence);
}

static void expect_right(const char *lost)
{
    HOLDS(usher_verify(pool, say, NULL) == 0, "The words of the pool disagree. %s", lost);
}

static void begin(uint32_t seats)
{
    pool = open_pool("repeat", seats, GUESTS);
    memset(orders, 0, ACTORS * sizeof *orders);
    for (unsigned a = 0; a < ACTORS; a++) {
        actors[a].order = &orders[a];
        if (begin_child(&actors[a].child)) {
            live(&orders[a]);
        }
    }
}

/* Nobody holds or waits: the pool is right and has exactly that many seats. */
static void end(uint32_t seats, const char *lost)
{
    expect_right(lost);
    for (unsigned a = 0; a < ACTORS; a++) {
        if (!gone(&actors[a].child)) {
            give(&actors[a], (struct order){.act = QUIT, .stop_after = NO_WORD});
            AWAIT(gone(&actors[a].child));
        }
    }
    (void)expect_exactly(pool, seats);
    expect_right(lost);
    usher_close(pool);
    EXPECT_EQ(usher_remove("repeat"), 0);
}

/* Run the schedule for a stop before access 1, 2, .. A schedule returns false if nobody stopped. */
static void stop_at_every_access(bool (*schedule)(unsigned access), const char *who)
{
    int64_t began = now_ns();
    unsigned access = only_access != 0 ? only_access : 1;
    for (bool was_stopped = true; was_stopped; access++) {
        now_doing("%s was stopped before access %u", who, access);
        was_stopped = schedule(access);
        if (only_access != 0) {
            return;
        }
        EXPECT(access < 1000);
    }
    (void)printf("  %-32s %3u stops, %.1f s\n", who, access - 2, (double)(now_ns() - began) / 1e9);
    (void)fflush(stdout);
    EXPECT(access > 4);
}

#define DO(...) ((struct order){__VA_ARGS__})

/*
 * K. B resizes, or reaps D that died after it published its resize, and stops before it counts that
 * resize in K. A counts it instead and resizes until K is what it was.
 */
static bool resize_until_k_repeats(struct order what, unsigned access)
{
    struct actor *a = &actors[0];
    struct actor *b = &actors[1];
    struct actor *d = &actors[2];
    begin(1);
    EXPECT_EQ(have(a, DO(.act = RESIZE, .count = 2)), 0);
    EXPECT_EQ(have(a, DO(.act = RESIZE, .count = 1)), 0);
    if (what.act == REAP) {
        EXPECT(have_stopped_after(d, DO(.act = RESIZE, .count = 2), CORE_AT_V(&pool->core), 1));
        kill_child(&d->child);
    }
    bool was_stopped = have_stopped(b, what, access);
    uint64_t k = word_at(pool, CORE_AT_K(&pool->core));
    EXPECT_EQ(have(a, DO(.act = RESIZE_UNTIL, .count = RESIZES, .until = k)), 0);
    finish(b);
    EXPECT_EQ(result_of(b), 0);
    const char *lost = "B counted a resize in K that A had counted before: K and V disagree on k.";
    expect_right(lost);
    EXPECT_EQ(usher_resize(pool, 1), 0);
    end(1, lost);
    return was_stopped;
}

static bool a_resizer_stops(unsigned access)
{
    return resize_until_k_repeats(DO(.act = RESIZE, .count = 2), access);
}

static bool a_reaper_of_a_resizer_stops(unsigned access)
{
    return resize_until_k_repeats(DO(.act = REAP), access);
}

static void a_resize_is_counted_once(void)
{
    stop_at_every_access(a_reaper_of_a_resizer_stops, "K: B, reaping a resizer,");
    stop_at_every_access(a_resizer_stops, "K: B, resizing,");
}

/* Which processes of a schedule with two stops were stopped: the process that is stopped for long,
   and the process that is stopped in the last step of the schedule. */
struct stops {
    bool first, last;
};

/*
 * V, k = 2. B stops in its release. A releases until V is what it was, and stops before it delivers
 * that last ticket to W1. B continues first and delivers the next ticket to W2. The waiters are
 * stopped until both have ended, because a waiter that looks around would deliver A's ticket.
 */
static struct stops release_until_v_repeats(unsigned access, unsigned after_v)
{
    struct actor *a = &actors[0];
    struct actor *b = &actors[1];
    struct actor *w[] = {&actors[2], &actors[3]};
    begin(2);
    EXPECT_EQ(have(b, DO(.act = TRY)), 0);
    EXPECT_EQ(have(a, DO(.act = GO_ROUND, .count = 2)), 0);
    struct stops stops = {.first = have_stopped(b, DO(.act = LEAVE), access)};
    EXPECT_EQ(have(a, DO(.act = GO_ROUND, .count = TICKETS - 1)), 0);
    EXPECT_EQ(have(a, DO(.act = TRY)), 0);
    for (unsigned i = 0; i < 2; i++) {
        give(w[i], DO(.act = ENTER, .stop_after = NO_WORD));
        AWAIT(done(w[i]) || waits(w[i]));
        EXPECT_EQ(kill(w[i]->child.pid, SIGSTOP), 0);
        AWAIT(stopped(w[i]));
    }
    stops.last = have_stopped_after(a, DO(.act = LEAVE), CORE_AT_V(&pool->core), after_v);
    finish(b);
    finish(a);
    EXPECT_EQ(result_of(b), 0);
    EXPECT_EQ(result_of(a), 0);
    expect_served(w[0], "W1 is never served though a seat of two is free: B's release replaced A's "
                        "in V.");
    expect_served(w[1], "W2 is never served though a seat of two is free: one ticket is lost.");
    for (unsigned i = 0; i < 2; i++) {
        EXPECT_EQ(have(w[i], DO(.act = LEAVE)), 0);
    }
    end(2, "B's release replaced A's in V.");
    return stops;
}

static bool a_releaser_stops(unsigned access)
{
    struct stops stops = {.last = true};
    for (unsigned after_v = 1; stops.last && after_v <= LAST_STOPS; after_v++) {
        now_doing("V: B, releasing, was stopped before access %u; A before access %u after its V",
                  access, after_v);
        stops = release_until_v_repeats(access, after_v);
    }
    return stops.first;
}

static void a_release_is_not_replaced_before_it_is_delivered(void)
{
    stop_at_every_access(a_releaser_stops, "V: B, releasing,");
}

/*
 * The line, k = 1. W has taken the ticket after A's and stops before its place is recorded. C helps
 * W and stops. W is served and leaves. A goes round until its ticket has the number that W's had,
 * and stays: the place of that number looks as it did before W's was recorded.
 */
static bool a_helper_stops(unsigned access)
{
    struct actor *a = &actors[0];
    struct actor *w = &actors[1];
    struct actor *c = &actors[2];
    begin(1);
    EXPECT_EQ(have(a, DO(.act = TRY)), 0);
    EXPECT(have_stopped_after(w, DO(.act = ENTER), CORE_AT_I(&pool->core), 1));
    bool was_stopped = have_stopped(c, DO(.act = TRY), access);
    go_on(w);
    AWAIT(waits(w));
    EXPECT_EQ(have(a, DO(.act = LEAVE)), 0);
    finish(w);
    EXPECT_EQ(result_of(w), 0);
    EXPECT_EQ(have(w, DO(.act = LEAVE)), 0);
    EXPECT_EQ(have(a, DO(.act = GO_ROUND, .count = TICKETS - 1)), 0);
    EXPECT_EQ(have(a, DO(.act = TRY)), 0);
    finish(c);
    const char *lost = "C recorded W's old place again: one ticket more than seats is valid.";
    HOLDS(result_of(c) == -EAGAIN, "C got %d (%s), not -EAGAIN, while A holds the only seat. %s",
          result_of(c), usher_strerror(result_of(c)), lost);
    expect_right(lost);
    EXPECT_EQ(have(a, DO(.act = LEAVE)), 0);
    end(1, lost);
    return was_stopped;
}

static void a_place_is_not_recorded_after_it_was_decided(void)
{
    stop_at_every_access(a_helper_stops, "line: C, helping W,");
}

/* As if A had entered and left until its tag in I repeats once more before ISSUE does. Nobody
   may hold, wait or be between two accesses, except for a stopped process. */
static void set_back(uint32_t tickets)
{
    _Atomic uint64_t *words = pool->core.words;
    uint64_t i = word_at(pool, CORE_AT_I(&pool->core));
    uint64_t v = word_at(pool, CORE_AT_V(&pool->core));
    atomic_store(&words[CORE_AT_I(&pool->core)],
                 core_i(core_i_issue(i) - tickets, core_i_row(i), core_i_tag(i)));
    atomic_store(&words[CORE_AT_V(&pool->core)],
                 core_v(core_v_valid(v) - tickets, core_v_owed(v), core_v_row(v), core_v_tag(v)));
}

static uint32_t holders(void)
{
    struct usher_info info;
    EXPECT(usher_inspect(pool, &info, NULL, 0) >= 0);
    return info.holders;
}

/*
 * I, k = 1. C stops while it enters. A enters until I is what it was, and stays. That would take
 * 2^32 entries. The test sets ISSUE and VALID back instead, so that I_TAGS entries are enough.
 */
static bool an_enterer_stops(unsigned access)
{
    struct actor *a = &actors[0];
    struct actor *c = &actors[1];
    begin(1);
    EXPECT_EQ(have(c, DO(.act = GO_ROUND, .count = 1)), 0);
    EXPECT_EQ(have(a, DO(.act = GO_ROUND, .count = 2)), 0);
    bool was_stopped = have_stopped(c, DO(.act = TRY), access);
    const char *lost = "C entered with the ticket after A's, which was not valid.";
    if (holders() == 0) {
        uint64_t i = word_at(pool, CORE_AT_I(&pool->core));
        set_back(I_TAGS);
        EXPECT_EQ(have(a, DO(.act = ENTER_UNTIL, .count = I_TAGS, .until = i)), 0);
        finish(c);
        HOLDS(
            result_of(c) == -EAGAIN,
            "C got %d, not -EAGAIN, while A holds the only seat: two live holders of one seat. %s",
            result_of(c), lost);
        EXPECT_EQ(have(a, DO(.act = LEAVE)), 0);
    } else { /* C is in already, and its seat is its own */
        finish(c);
        EXPECT_EQ(result_of(c), 0);
        EXPECT_EQ(have(c, DO(.act = LEAVE)), 0);
    }
    end(1, lost);
    return was_stopped;
}

static void nobody_enters_a_full_pool(void)
{
    stop_at_every_access(an_enterer_stops, "I: C, entering,");
}

/*
 * A place that was decided TICKETS tickets ago, k = 1. In the first round W waits with ticket 2 and
 * is served. In the second round A holds ticket 0, W takes ticket 1 and gives up, and B adopts
 * ticket 1 and stops. A releases and passes over ticket 1. B continues and gets the next place,
 * which is that of ticket 2.
 */
static bool an_adopter_stops(unsigned access)
{
    struct actor *a = &actors[0];
    struct actor *w = &actors[1];
    struct actor *b = &actors[2];
    begin(1);
    EXPECT_EQ(have(a, DO(.act = TRY)), 0);
    give(w, DO(.act = ENTER, .stop_after = NO_WORD));
    AWAIT(waits(w));
    EXPECT_EQ(have(a, DO(.act = LEAVE)), 0);
    finish(w);
    EXPECT_EQ(have(w, DO(.act = LEAVE)), 0);
    EXPECT_EQ(have(a, DO(.act = GO_ROUND, .count = TICKETS - 3)), 0);
    EXPECT_EQ(have(a, DO(.act = TRY)), 0);
    EXPECT_EQ(have(w, DO(.act = GIVE_UP)), -ETIMEDOUT);
    bool was_stopped = have_stopped(b, DO(.act = ENTER), access);
    EXPECT_EQ(have(a, DO(.act = LEAVE)), 0);
    expect_served(b,
                  "B is never served though the only seat is free: the old verdict on a place of "
                  "the last round was used for B's place.");
    EXPECT_EQ(have(b, DO(.act = LEAVE)), 0);
    end(1, "The only seat is lost.");
    return was_stopped;
}

static void an_old_verdict_decides_no_new_place(void)
{
    stop_at_every_access(an_adopter_stops, "place: B, adopting a ticket,");
}

/* The word of the place of the ticket that is issued next. */
static uint32_t next_place_at(void)
{
    return core__line_at(&pool->core, core_i_issue(word_at(pool, CORE_AT_I(&pool->core))) + 1);
}

/*
 * The line again, k = 1. In the first round W takes ticket 2 and gives up, and A passes over it. In
 * the second round A holds ticket 1. C takes the next ticket, finds the old verdict in the place of
 * ticket 2, and stops before it clears that place. W clears it, takes ticket 2 and gives up. A
 * releases, passes over ticket 2, and stops before it validates ticket 3. The place of ticket 2
 * says what it said when C stopped.
 */
static struct stops take_until_a_place_repeats(unsigned access, unsigned after_verdict)
{
    struct actor *a = &actors[0];
    struct actor *w = &actors[1];
    struct actor *c = &actors[2];
    begin(1);
    EXPECT_EQ(have(a, DO(.act = TRY)), 0);
    EXPECT_EQ(have(w, DO(.act = GIVE_UP)), -ETIMEDOUT);
    EXPECT_EQ(have(a, DO(.act = LEAVE)), 0);
    EXPECT_EQ(have(a, DO(.act = GO_ROUND, .count = TICKETS - 2)), 0);
    EXPECT_EQ(have(a, DO(.act = TRY)), 0);
    uint32_t place_at = next_place_at();
    struct stops stops = {.first = have_stopped(c, DO(.act = ENTER), access)};
    EXPECT_EQ(have(w, DO(.act = GIVE_UP)), -ETIMEDOUT);
    stops.last = have_stopped_after(a, DO(.act = LEAVE), place_at, after_verdict);
    AWAIT(done_if_it_goes_on(c) || sleeps_in_line(c));
    finish(a);
    EXPECT_EQ(result_of(a), 0);
    expect_served(c, "C is never served though the only seat is free: C cleared the verdict on the "
                     "place before its own, and nobody passes over that place.");
    EXPECT_EQ(have(c, DO(.act = LEAVE)), 0);
    end(1, "The only seat is lost.");
    return stops;
}

static bool a_taker_stops(unsigned access)
{
    struct stops stops = {.last = true};
    for (unsigned after_verdict = 1; stops.last && after_verdict <= LAST_STOPS; after_verdict++) {
        now_doing("clear: C, taking a ticket, was stopped before access %u; A before access %u "
                  "after its verdict",
                  access, after_verdict);
        stops = take_until_a_place_repeats(access, after_verdict);
    }
    return stops.first;
}

static void a_new_verdict_is_not_cleared(void)
{
    stop_at_every_access(a_taker_stops, "clear: C, taking a ticket,");
}

struct test {
    const char *word, *name;
    void (*run)(void);
};

/* In a process of its own, so that a failure does not end the others. */
static bool passes(const struct test *test)
{
    struct child child;
    int status;
    if (begin_child(&child)) {
        (void)printf("%s\n", test->name);
        (void)fflush(stdout);
        test->run();
        exit(0);
    }
    EXPECT_EQ(waitpid(child.pid, &status, 0), child.pid);
    (void)usher_discard("repeat"); /* what a failure left */
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

#define TEST(word, test)                                                                           \
    {                                                                                              \
        word, #test, test                                                                          \
    }

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        TEST("K", a_resize_is_counted_once),
        TEST("V", a_release_is_not_replaced_before_it_is_delivered),
        TEST("line", a_place_is_not_recorded_after_it_was_decided),
        TEST("I", nobody_enters_a_full_pool),
        TEST("place", an_old_verdict_decides_no_new_place),
        TEST("clear", a_new_verdict_is_not_cleared),
    };
    unsigned failed = 0;
    unsigned run = 0;
    support_begin(argc, argv);
    only_access = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
    orders = share(ACTORS * sizeof *orders);
    for (size_t t = 0; t < sizeof tests / sizeof tests[0]; t++) {
        if (argc < 2 || strcmp(argv[1], tests[t].word) == 0) {
            failed += !passes(&tests[t]);
            run++;
        }
    }
    EXPECT(run > 0);
    EXPECT_EQ(failed, 0);
    return 0;
}
