/*
 * Kill a process after its Nth machine instruction of a call of the library as it ships, for every
 * N until the call is over: the others lose nothing by it. The test steps a real process through
 * the call, system calls included, with ptrace, and kills it with SIGKILL.
 *
 * Each N needs a process of its own. It runs freely to the last system call before the Nth
 * instruction and is stepped from there. The quick run tries some of the instructions, evenly
 * spread, beginning with a random one; `slow` tries all. Exits 77 where ptrace is not permitted.
 * usage: step_test [slow] [SEED]
 */
#include "pool_support.h"

#include <sched.h>
#include <sys/ptrace.h>
#include <sys/user.h>

enum { GUESTS = 16, MOST_STRETCHES = 1000, LEAST_POINTS = 10 };

enum act { ACQUIRE, FIRST_ACQUIRE, TRY, GIVE_UP, RELEASE, RESIZE, REAP, OPEN, REMOVE };

struct situation {
    const char *name;
    enum act act;
    uint32_t seats;
    uint32_t held; /* by the test's own process, until the victim waits */
    uint32_t waiters;
    int result;
    uint32_t resize_to;
    bool corpse; /* somebody died holding a seat, and nobody has noticed */
    uint32_t least;
};

struct shared {
    atomic_uint done, entered, corpse;
    atomic_int result;
    struct {
        atomic_uint entry;
        _Atomic uint64_t ticket;
    } waiter[2];
};

static struct shared *shared;
static struct usher_pool *pool;                       /* the test's own */
static uint64_t most_points = 50, most_steps = 30000; /* of a situation, about */

/* How many instructions there are after each system call of a call, to the next one and with it. */
static uint32_t stretches[MOST_STRETCHES];
static uint32_t stretch_count;

static int act(const struct situation *s, struct usher_pool *own, struct usher_seat *seat)
{
    const struct timespec past = {0, 0};
    struct usher_options options = {.seats = s->seats, .guests = GUESTS};
    switch (s->act) {
    case ACQUIRE:
    case FIRST_ACQUIRE:
        return usher_acquire(own, seat);
    case TRY:
        return usher_try_acquire(own, seat);
    case GIVE_UP:
        return usher_acquire_until(own, seat, &past);
    case RELEASE:
        return usher_release(own, seat);
    case RESIZE:
        return usher_resize(own, s->resize_to);
    case REAP:
        return usher_reap(own) < 0;
    case OPEN:
        return usher_open(&own, "pool", &options);
    case REMOVE:
        return usher_remove("pool");
    }
    return 0;
}

/* The victim: ready, then stopped until the test steps it through the call. */
static void live(const struct situation *s)
{
    struct usher_seat seat;
    struct usher_pool *own = NULL;
    if (s->act != OPEN && s->act != REMOVE) {
        own = open_pool("pool", 0, 0);
    }
    if (own != NULL && s->act != FIRST_ACQUIRE) {
        EXPECT_EQ(usher_acquire(own, &seat), 0);
        EXPECT(s->act == RELEASE || usher_release(own, &seat) == 0);
    }
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
        _exit(77);
    }
    (void)raise(SIGSTOP);
    int result = act(s, own, &seat);
    atomic_store(&shared->result, result);
    atomic_store(&shared->done, 1);
    for (;;) {
        (void)pause();
    }
}

static void visit(unsigned waiter)
{
    struct usher_pool *own = open_pool("pool", 0, 0);
    struct usher_seat seat;
    EXPECT_EQ(usher_acquire(own, &seat), 0);
    atomic_store(&shared->waiter[waiter].ticket, seat.ticket);
    atomic_store(&shared->waiter[waiter].entry, atomic_fetch_add(&shared->entered, 1) + 1);
    EXPECT_EQ(usher_release(own, &seat), 0);
    usher_close(own);
    _exit(0);
}

/* What the victim does at each step; it may sleep in one, then somebody must wake it. */
struct party {
    const struct situation *s;
    struct child victim, waiters[2];
    struct usher_seat held[SUPPORT_SEATS];
    bool holding;
};

static void let_go(struct party *p)
{
    for (uint32_t seat = 0; seat < p->s->held && p->holding; seat++) {
        EXPECT_EQ(usher_release(pool, &p->held[seat]), 0);
    }
    p->holding = false;
}

/* Let it go on to its next stop: one instruction, or to the next beginning or end of a system call.
   */
static void go_on(struct party *p, enum __ptrace_request how)
{
    int status = 0;
    EXPECT_EQ(ptrace(how, p->victim.pid, NULL, NULL), 0);
    int64_t limit = now_ns() + PATIENCE_S * 1000000000LL;
    for (unsigned looks = 0;; looks++) {
        /* A call that waits is all that takes long: then let go. */
        bool waits = p->s->act == ACQUIRE && p->holding;
        pid_t changed = waitpid(p->victim.pid, &status, waits ? WNOHANG : 0);
        if (changed == p->victim.pid) {
            break;
        }
        EXPECT(changed == 0 && now_ns() < limit);
        if (looks > 200 && state_of(p->victim.pid) == 'S') {
            let_go(p);
        }
        (void)sched_yield();
    }
    EXPECT(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP); /* a failed check would end it */
}

/* Is a system call its next instruction? */
static bool at_system_call(const struct party *p)
{
#ifdef __x86_64__
    struct user_regs_struct registers;
    EXPECT_EQ(ptrace(PTRACE_GETREGS, p->victim.pid, NULL, &registers), 0);
    errno = 0;
    long word = ptrace(PTRACE_PEEKTEXT, p->victim.pid, registers.rip, NULL);
    EXPECT_EQ(errno, 0);
    return (word & 0xffff) == 0x050f;
#else
    (void)p;
    return false; /* then all is one stretch, and takes longer */
#endif
}

static void start_victim(struct party *p)
{
    int status;
    if (begin_child(&p->victim)) {
        live(p->s);
    }
    EXPECT_EQ(waitpid(p->victim.pid, &status, 0), p->victim.pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        (void)printf("ptrace is not permitted here: skipped\n");
        exit(77);
    }
    EXPECT(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
}

static void lay_out_corpse(void)
{
    struct child corpse;
    if (begin_child(&corpse)) {
        struct usher_seat seat;
        EXPECT_EQ(usher_acquire(open_pool("pool", 0, 0), &seat), 0);
        atomic_store(&shared->corpse, 1);
        for (;;) {
            (void)pause();
        }
    }
    AWAIT(gone(&corpse) || atomic_load(&shared->corpse) != 0);
    kill_child(&corpse);
}

static void prepare(struct party *p)
{
    const struct situation *s = p->s;
    memset(shared, 0, sizeof *shared);
    if (s->act != OPEN) {
        pool = open_pool("pool", s->seats, GUESTS);
    }
    start_victim(p);
    p->holding = s->held > 0;
    for (uint32_t seat = 0; seat < s->held; seat++) {
        EXPECT_EQ(usher_try_acquire(pool, &p->held[seat]), 0);
    }
    for (uint32_t w = 0; w < s->waiters; w++) {
        if (begin_child(&p->waiters[w])) {
            visit(w);
        }
        AWAIT(position_of(pool, p->waiters[w].pid) > 0);
    }
    if (s->corpse) {
        lay_out_corpse();
    }
}

/* Afterwards the pool is as it should be, and is gone for the next time. */
static void expect_whole(struct party *p, bool died, bool reap)
{
    const struct situation *s = p->s;
    struct usher_info info;
    let_go(p);
    if (s->act == OPEN || s->act == REMOVE) {
        if (pool != NULL) {
            usher_close(pool); /* whether it has been removed or not */
        }
        pool = open_pool("pool", s->seats, GUESTS);
    }
    if (reap || s->act == RESIZE) {
        EXPECT(usher_reap(pool) >= 0);
    }
    for (uint32_t w = 0; w < s->waiters; w++) {
        AWAIT(gone(&p->waiters[w]));
        EXPECT(s->seats > 1 || s->act == RESIZE || atomic_load(&shared->waiter[w].entry) == w + 1);
        EXPECT(w == 0 || (int32_t)(atomic_load(&shared->waiter[w].ticket) -
                                   atomic_load(&shared->waiter[w - 1].ticket)) > 0);
    }
    EXPECT(usher_inspect(pool, &info, NULL, 0) >= 0);
    EXPECT(s->act == RESIZE ? died || info.seats == s->resize_to : info.seats == s->seats);
    (void)expect_exactly(pool, info.seats);
    usher_close(pool);
    EXPECT_EQ(usher_remove("pool"), 0);
    pool = NULL;
}

static void expect_result(const struct situation *s)
{
    if (atomic_load(&shared->done) != 0) {
        EXPECT_EQ(atomic_load(&shared->result), s->result);
    }
}

static void end(struct party *p, bool reap)
{
    bool died = atomic_load(&shared->done) == 0;
    expect_result(p->s);
    EXPECT_EQ(kill(p->victim.pid, SIGKILL), 0);
    AWAIT(gone(&p->victim));
    EXPECT(was_killed(&p->victim));
    expect_whole(p, died, reap);
}

/* Let it run freely through so many system calls. */
static void skip(struct party *p, uint32_t calls)
{
    for (uint32_t stop = 0; stop < 2 * calls && atomic_load(&shared->done) == 0; stop++) {
        go_on(p, PTRACE_SYSCALL);
    }
}

/* The length of a stretch. False: the call ends in it. */
static bool measure(const struct situation *s, uint32_t calls)
{
    struct party p = {.s = s};
    bool called = false;
    now_doing("%s, k=%u, what follows system call %u", s->name, s->seats, calls);
    prepare(&p);
    skip(&p, calls);
    for (stretches[calls] = 0; !called && atomic_load(&shared->done) == 0; stretches[calls]++) {
        called = at_system_call(&p);
        go_on(&p, PTRACE_SINGLESTEP);
    }
    end(&p, true);
    return called;
}

/* Kill it after so many instructions that follow so many system calls. Whether that was before the
   call was over: what it finds can make it shorter. */
static bool dies_after(const struct situation *s, uint32_t calls, uint32_t instructions, bool reap)
{
    struct party p = {.s = s};
    now_doing("%s, k=%u, system call %u and %u instructions", s->name, s->seats, calls,
              instructions);
    prepare(&p);
    skip(&p, calls);
    while (instructions-- > 0 && atomic_load(&shared->done) == 0) {
        go_on(&p, PTRACE_SINGLESTEP);
    }
    bool died = atomic_load(&shared->done) == 0;
    end(&p, reap);
    return died;
}

static void kill_at_instructions(const struct situation *s)
{
    int64_t began = now_ns();
    uint64_t all = 0;
    uint64_t steps = 0;
    unsigned deaths = 0;
    bool more = true;
    for (stretch_count = 0; more; stretch_count++) {
        EXPECT(stretch_count < MOST_STRETCHES);
        more = measure(s, stretch_count);
        all += stretches[stretch_count];
        steps += (uint64_t)stretches[stretch_count] * stretches[stretch_count] / 2;
    }
    uint64_t stride = steps / most_steps;
    stride = stride < all / most_points ? all / most_points : stride;
    stride = stride > all / LEAST_POINTS ? all / LEAST_POINTS : stride;
    stride = stride < 1 ? 1 : stride;
    uint64_t at = below((uint32_t)stride);
    uint64_t before = 0;
    for (uint32_t calls = 0; calls < stretch_count; before += stretches[calls++]) {
        for (; at < before + stretches[calls]; at += stride) {
            deaths += dies_after(s, calls, (uint32_t)(at - before), below(8) != 0);
        }
    }
    (void)printf("  %-28s k=%u %5llu instructions, %3u system calls, %5u kill points, %.1f s\n",
                 s->name, s->seats, (unsigned long long)all, stretch_count - 1, deaths,
                 (double)(now_ns() - began) / 1e9);
    (void)fflush(stdout);
    EXPECT(all >= s->least);
    EXPECT(deaths >= LEAST_POINTS / 2);
}

static void nobody_loses_by_a_death_at_any_instruction(void)
{
    static const struct situation situations[] = {
        {"acquire, alone", ACQUIRE, 1, .least = 50},
        {"acquire, a seat left", ACQUIRE, 2, .held = 1, .least = 50},
        {"acquire, the first time", FIRST_ACQUIRE, 1, .least = 200},
        {"acquire, waiting", ACQUIRE, 1, .held = 1, .least = 300},
        {"acquire, waiting", ACQUIRE, 2, .held = 2, .least = 300},
        {"try, all taken", TRY, 1, .held = 1, .result = -EAGAIN, .least = 100},
        {"try, a holder is dead", TRY, 1, .corpse = true, .least = 300},
        {"give up, alone", GIVE_UP, 1, .held = 1, .result = -ETIMEDOUT, .least = 100},
        {"give up, others wait", GIVE_UP, 1, .held = 1, .waiters = 2, .result = -ETIMEDOUT,
         .least = 100},
        {"release, alone", RELEASE, 1, .least = 50},
        {"release, others wait", RELEASE, 1, .waiters = 2, .least = 100},
        {"release, others wait", RELEASE, 2, .held = 1, .waiters = 2, .least = 100},
        {"resize 2 to 1, all taken", RESIZE, 2, .held = 2, .resize_to = 1, .least = 100},
        {"resize 1 to 3, others wait", RESIZE, 1, .held = 1, .waiters = 2, .resize_to = 3,
         .least = 100},
        {"reap one that held", REAP, 2, .corpse = true, .least = 300},
        {"open, there is no pool", OPEN, 2, .least = 1000},
        {"remove", REMOVE, 2, .least = 1000},
    };
    for (size_t i = 0; i < sizeof situations / sizeof situations[0]; i++) {
        kill_at_instructions(&situations[i]);
    }
}

int main(int argc, char **argv)
{
    cpu_set_t one;
    support_begin(argc, argv);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    (void)sched_setaffinity(0, sizeof one, &one); /* stepping across processors takes far longer */
    if (support_slow(argc, argv)) {
        most_points = most_steps = UINT64_MAX;
    }
    shared = share(sizeof *shared);
    RUN(nobody_loses_by_a_death_at_any_instruction);
    return 0;
}
