#include "step_trace.h"

#include "pool_support.h"

#include <sched.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/user.h>

enum { NEAR = 400, POLLS = 4, STEP_COSTS = 1, VISIT_COSTS = 2 };

bool tracee_begin(void)
{
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 && raise(SIGSTOP) == 0;
}

bool tracee_await(struct tracee *t)
{
    int status;
    EXPECT_EQ(waitpid(t->pid, &status, 0), t->pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        return false;
    }
    EXPECT(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
    return true;
}

/* Continue to the next stop: one instruction, the breakpoint, or the end of the call. */
static void go_on(const struct tracee *t, enum __ptrace_request how)
{
    int status = 0;
    EXPECT_EQ(ptrace(how, t->pid, NULL, NULL), 0);
    int64_t limit = now_ns() + PATIENCE_S * 1000000000LL;
    for (unsigned polls = 1;; polls++) {
        pid_t changed = waitpid(t->pid, &status, t->asleep == NULL ? 0 : WNOHANG);
        if (changed == t->pid) {
            break;
        }
        EXPECT(changed == 0 && now_ns() < limit);
        if (t->asleep != NULL && polls % POLLS == 0 && process_state(t->pid) == 'S') {
            t->asleep(t->context);
        }
        (void)sched_yield();
    }
    EXPECT(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP); /* a failed check would end it */
}

#ifdef __x86_64__

static void poke(const struct tracee *t, unsigned number, uint64_t value)
{
    size_t at = offsetof(struct user, u_debugreg) + number * sizeof value;
    EXPECT_EQ(ptrace(PTRACE_POKEUSER, t->pid, at, value), 0);
}

/* Stop the process at this instruction, and at the end of the call; 0: no breakpoint. */
static void break_at(const struct tracee *t, uint64_t at)
{
    const uint64_t first = 1, second = 1 << 2, four_bytes_written = 0xd << 20;
    if (at != 0) {
        poke(t, 0, at);
        poke(t, 1, (uintptr_t)t->done);
    }
    poke(t, 7, at != 0 ? first | second | four_bytes_written : 0);
}

static uint64_t where(const struct tracee *t)
{
    errno = 0;
    long at = ptrace(PTRACE_PEEKUSER, t->pid, offsetof(struct user, regs.rip), NULL);
    EXPECT_EQ(errno, 0);
    return (uint64_t)at;
}

#else

static void break_at(const struct tracee *t, uint64_t at)
{
    (void)t;
    (void)at;
}

static uint64_t where(const struct tracee *t)
{
    (void)t;
    return 1;
}

#endif

static void make_room(struct way *way)
{
    if (way->length + 1 < way->room) {
        return;
    }
    way->room = way->room == 0 ? 4096 : 2 * way->room;
    way->at = realloc(way->at, way->room * sizeof *way->at);
    way->nth = realloc(way->nth, way->room * sizeof *way->nth);
    way->sleeps = realloc(way->sleeps, way->room * sizeof *way->sleeps);
    EXPECT(way->at != NULL && way->nth != NULL && way->sleeps != NULL);
}

/* Number the visits to each instruction. A repeating instruction (rep) counts once. */
static void count_visits(struct way *way)
{
    uint32_t size = 1;
    while (size < 2 * way->length + 2) {
        size *= 2;
    }
    struct {
        uint64_t at;
        uint32_t visits;
    } *seen = calloc(size, sizeof *seen);
    EXPECT(seen != NULL);
    for (uint32_t i = 0; i <= way->length; i++) {
        uint32_t slot = (uint32_t)(way->at[i] * 0x9e3779b97f4a7c15ULL >> 32) & (size - 1);
        while (seen[slot].visits != 0 && seen[slot].at != way->at[i]) {
            slot = (slot + 1) & (size - 1);
        }
        seen[slot].at = way->at[i];
        seen[slot].visits += i == 0 || way->at[i] != way->at[i - 1];
        way->nth[i] = seen[slot].visits;
    }
    free(seen);
}

struct sleeper {
    void (*asleep)(void *context);
    void *context;
    bool slept;
};

static void notice(void *context)
{
    struct sleeper *s = context;
    s->slept = true;
    s->asleep(s->context);
}

bool way_extend(struct way *way, struct tracee *t, uint32_t most)
{
    struct sleeper s = {t->asleep, t->context, false};
    if (t->asleep != NULL) {
        t->asleep = notice;
        t->context = &s;
    }
    for (; most > 0 && !tracee_done(t); most--, way->length++) {
        make_room(way);
        way->at[way->length] = where(t);
        s.slept = false;
        go_on(t, PTRACE_SINGLESTEP);
        way->sleeps[way->length] = s.slept;
    }
    make_room(way);
    way->at[way->length] = where(t); /* where to continue */
    count_visits(way);
    t->asleep = s.asleep;
    t->context = s.context;
    return !tracee_done(t);
}

void way_free(struct way *way)
{
    free(way->at);
    free(way->nth);
    free(way->sleeps);
    *way = (struct way){0};
}

/* Choose the breakpoint on the way to a point that leaves few instructions to step. */
static uint32_t stop_before(const struct way *way, uint32_t point)
{
    uint32_t best = 0;
    uint64_t least = (uint64_t)point * STEP_COSTS;
    for (uint32_t i = point; i > 0 && point - i < NEAR; i--) {
        uint64_t costs = (uint64_t)way->nth[i] * VISIT_COSTS + (point - i) * STEP_COSTS;
        if (costs < least && way->at[i] != way->at[i - 1]) {
            best = i;
            least = costs;
        }
    }
    return best;
}

bool tracee_step_to(struct tracee *t, uint32_t point)
{
    for (uint32_t i = 0; i < point && !tracee_done(t); i++) {
        go_on(t, PTRACE_SINGLESTEP);
    }
    return !tracee_done(t);
}

bool tracee_go_to(struct tracee *t, const struct way *way, uint32_t point)
{
    uint32_t from = stop_before(way, point);
    if (from > 0) {
        break_at(t, way->at[from]);
        for (uint32_t visit = 0; visit < way->nth[from] && !tracee_done(t); visit++) {
            go_on(t, PTRACE_CONT);
        }
        break_at(t, 0);
    }
    return tracee_step_to(t, point - from) && where(t) == way->at[point];
}

bool tracee_fall_asleep(struct tracee *t)
{
    int status;
    EXPECT_EQ(ptrace(PTRACE_CONT, t->pid, NULL, NULL), 0);
    t->loose = true;
    int64_t limit = now_ns() + PATIENCE_S * 1000000000LL;
    while (!tracee_done(t) && now_ns() < limit) {
        EXPECT_EQ(waitpid(t->pid, &status, WNOHANG), 0);
        if (process_state(t->pid) == 'S') {
            return true;
        }
        (void)sched_yield();
    }
    return false;
}

void tracee_stop(struct tracee *t)
{
    int status;
    EXPECT_EQ(kill(t->pid, SIGSTOP), 0);
    if (t->loose) { /* it stops for its tracer first */
        EXPECT_EQ(waitpid(t->pid, &status, 0), t->pid);
        EXPECT(WIFSTOPPED(status));
    }
    EXPECT_EQ(ptrace(PTRACE_DETACH, t->pid, NULL, t->loose ? SIGSTOP : 0), 0);
    AWAIT(process_state(t->pid) == 'T');
}
