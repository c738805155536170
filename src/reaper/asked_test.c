/*
 * A waiter that is asked to scan while it wakes up passes the request on, whichever instruction it
 * has reached. The test stops the waiter after each instruction from the end of its sleep on, asks
 * it to scan and grants it a seat. The linker replaces the sleep, the clock and usher__scan_pass_on
 * by functions of this file (--wrap).
 */
#include "mortals.h"

#include "pool/pool.h"

#include <sys/ptrace.h>

enum { MOST_STEPS = 3000, AWAKE = 4 };

int __wrap_os_sleep(const _Atomic uint64_t *word, uint64_t seen, int64_t deadline_ns, bool shared);
int64_t __wrap_os_now_ns(void);
void __real_usher__scan_pass_on(struct usher_pool *pool);
void __wrap_usher__scan_pass_on(struct usher_pool *pool);

/* The waiter has been woken. */
int __wrap_os_sleep(const _Atomic uint64_t *word, uint64_t seen, int64_t deadline_ns, bool shared)
{
    (void)word;
    (void)seen;
    (void)deadline_ns;
    (void)shared;
    (void)raise(SIGSTOP);
    return 0;
}

/* The clock stands still, so no waiter has waited long enough to pass a request on for its own
   sake. */
int64_t __wrap_os_now_ns(void)
{
    return 1000000000;
}

/* flags on the board */
enum { ROW, PASSED_ON };

void __wrap_usher__scan_pass_on(struct usher_pool *pool)
{
    atomic_store(&board->flags[PASSED_ON], 1);
    __real_usher__scan_pass_on(pool);
}

static void wait_for_seat(void *unused)
{
    (void)unused;
    struct guest *guest;
    struct usher_pool *pool = scene_open("asked", 0);
    EXPECT_EQ(usher__guest_get(pool, &guest), 0);
    atomic_store(&board->flags[ROW], (int)guest->row);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
        _exit(77);
    }
    struct usher_seat seat = scene_acquire(pool);
    EXPECT_EQ(usher_release(pool, &seat), 0);
    usher_close(pool);
}

/* Wait until it stops. False: it has ended, because tracing is not permitted here. */
static bool has_stopped(pid_t process)
{
    int status;
    EXPECT_EQ(waitpid(process, &status, 0), process);
    EXPECT(WIFSTOPPED(status) || WEXITSTATUS(status) == 77);
    return WIFSTOPPED(status);
}

/* Do what ask_to_scan does. Return whether the waiter was marked as waiting. */
static bool ask(struct format_row *row)
{
    uint32_t watch = atomic_load(&row->watch);
    while (watch & FORMAT_WAITS) {
        if (atomic_compare_exchange_weak(&row->watch, &watch, watch | FORMAT_SUMMONED)) {
            return true;
        }
    }
    return false;
}

/* Ask it after this many instructions. Return whether it was still marked as waiting. */
static bool asked_after(struct usher_pool *pool, struct usher_seat *seat, unsigned steps)
{
    scene_clear();
    pid_t waiter = scene_start(wait_for_seat, NULL);
    if (!has_stopped(waiter)) {
        (void)printf("  SKIPPED: no tracing here\n");
        exit(77);
    }
    for (unsigned s = 0; s < steps; s++) {
        EXPECT_EQ(ptrace(PTRACE_SINGLESTEP, waiter, NULL, NULL), 0);
        EXPECT(has_stopped(waiter));
    }
    bool asked = ask(&pool->rows[atomic_load(&board->flags[ROW])]);
    EXPECT_EQ(usher_release(pool, seat), 0);
    EXPECT_EQ(ptrace(PTRACE_DETACH, waiter, NULL, NULL), 0);
    EXPECT_EQ(scene_end(waiter), 0);
    if (asked && atomic_load(&board->flags[PASSED_ON]) == 0) {
        (void)fprintf(stderr, "asked after %u instructions, it does not know\n", steps);
        exit(1);
    }
    *seat = scene_acquire(pool);
    return asked;
}

static void a_waiter_asked_at_any_instruction_passes_the_request_on(void)
{
    const uint32_t seats = 2;
    struct usher_pool *pool = scene_open("asked", seats);
    struct usher_seat *held = calloc(seats, sizeof *held);
    unsigned steps = 0;
    unsigned awake = 0;
    EXPECT(held != NULL);
    for (uint32_t s = 0; s < seats; s++) {
        held[s] = scene_acquire(pool);
    }
    for (; awake < AWAKE && steps < MOST_STEPS; steps++) {
        awake = asked_after(pool, &held[0], steps) ? 0 : awake + 1;
    }
    EXPECT_EQ(awake, AWAKE); /* it has ended its wait */
    (void)printf("  asked after each of %u instructions\n", steps);
    for (uint32_t s = 0; s < seats; s++) {
        EXPECT_EQ(usher_release(pool, &held[s]), 0);
    }
    free(held);
    finish(pool, "asked", seats);
}

int main(void)
{
    scene_begin();
    RUN(a_waiter_asked_at_any_instruction_passes_the_request_on);
    return 0;
}
