/*
 * The gate's calls on real threads and forked processes: at most k inside, in the order of their
 * tickets, and every waiter is woken; signals, misuse, sizes.
 *
 * Built twice: as it ships, and with GATE_LOOK_AGAIN_MS of a day, where a lost wake-up makes the
 * test hang.
 */
#include "gate_world.h"

static const struct {
    uint32_t guests, seats;
} sizes[] = {{12, 1}, {12, 2}, {12, 4}, {20, 13}};

static void threads_enter_in_order_and_never_more_than_k(void)
{
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        prepare(sizes[i].guests, sizes[i].seats, 1000, false);
        visit_with_threads(sizes[i].guests);
        prepare(sizes[i].guests, sizes[i].seats, 1000, true);
        visit_with_threads(sizes[i].guests);
    }
}

static void processes_enter_in_order_and_never_more_than_k(void)
{
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        prepare(sizes[i].guests, sizes[i].seats, 1000, false);
        visit_with_processes(sizes[i].guests);
        prepare(sizes[i].guests, sizes[i].seats, 1000, true);
        visit_with_processes(sizes[i].guests);
    }
}

static void two_guests_hand_over_to_each_other(void)
{
    prepare(2, 1, 20000, false);
    visit_with_threads(2);
    prepare(2, 1, 20000, true); /* blocks of two tickets */
    visit_with_processes(2);
}

static void waiters_that_share_a_bit_are_all_woken(void)
{
    prepare(80, 1, 50, false);
    visit_with_threads(80);
    prepare(80, 2, 50, true);
    visit_with_threads(80);
}

static void take_note(int signal)
{
    (void)signal;
}

static void signals_do_not_end_a_wait(void)
{
    struct sigaction action = {.sa_handler = take_note}; /* without SA_RESTART */
    struct usher_pass pass;
    pthread_t waiter;
    prepare(2, 1, 1, false);
    EXPECT_EQ(sigaction(SIGUSR1, &action, NULL), 0);
    EXPECT_EQ(usher_gate_enter(&world->gate, &pass), 0);
    atomic_store(&world->inside, 1);
    EXPECT_EQ(pthread_create(&waiter, NULL, visit_as_thread, NULL), 0);
    until_issued(2);
    for (unsigned i = 0; i < 200; i++) {
        EXPECT_EQ(pthread_kill(waiter, SIGUSR1), 0);
        (void)sched_yield();
    }
    EXPECT_EQ(atomic_load(&world->entered), 0);
    world->plain = 1; /* our entry */
    atomic_store(&world->leaving, 1);
    atomic_store(&world->inside, 0);
    EXPECT_EQ(usher_gate_leave(&world->gate, &pass), 0);
    EXPECT_EQ(pthread_join(waiter, NULL), 0);
    EXPECT_EQ(atomic_load(&world->entered), 1);
}

static void try_enters_at_once_or_not_at_all(void)
{
    struct usher_pass passes[3];
    prepare(4, 2, 1, false);
    EXPECT_EQ(usher_gate_try(&world->gate, &passes[0]), 0);
    EXPECT_EQ(usher_gate_try(&world->gate, &passes[1]), 0);
    uint64_t full = gate_word();
    EXPECT_EQ(usher_gate_try(&world->gate, &passes[2]), -EAGAIN);
    EXPECT_EQ(gate_word(), full);
    EXPECT_EQ(usher_gate_leave(&world->gate, &passes[0]), 0);
    EXPECT_EQ(usher_gate_try(&world->gate, &passes[2]), 0);
    EXPECT_EQ(usher_gate_leave(&world->gate, &passes[2]), 0);
    EXPECT_EQ(usher_gate_leave(&world->gate, &passes[1]), 0);
}

static void a_pass_is_good_for_one_leaving(void)
{
    struct usher_pass pass = {0};
    prepare(4, 2, 1, false);
    EXPECT_EQ(usher_gate_leave(&world->gate, &pass), -EPERM);
    EXPECT_EQ(usher_gate_enter(&world->gate, &pass), 0);
    struct usher_pass copy = pass;
    EXPECT_EQ(usher_gate_leave(&world->gate, &pass), 0);
    EXPECT_EQ(usher_gate_leave(&world->gate, &pass), -EPERM);
    EXPECT_EQ(usher_gate_leave(&world->gate, &copy), -EPERM); /* nobody is inside */
    EXPECT_EQ(usher_gate_enter(&world->gate, &pass), 0);
    for (unsigned top = 1; top < 4; top++) { /* no pass has such a ticket */
        copy.ticket = top << 30 | UINT32_MAX >> 2;
        EXPECT_EQ(usher_gate_leave(&world->gate, &copy), -EPERM);
    }
    struct gate_view v = gate_view(gate_word());
    copy.ticket = 1U << 30 | (v.seats + 1) << v.bits; /* a colour that does not exist */
    EXPECT_EQ(usher_gate_leave(&world->gate, &copy), -EPERM);
    EXPECT_EQ(usher_gate_leave(&world->gate, &pass), 0);
}

static void leave_with_a_pass_of_another(void)
{
    struct usher_pass pass = {world->plain};
    EXPECT_EQ(usher_gate_leave(&world->gate, &pass), 0);
}

static void any_process_that_has_the_pass_may_leave(void)
{
    struct usher_pass pass = {0};
    struct usher_pass next = {0};
    prepare(4, 1, 1, false);
    EXPECT_EQ(usher_gate_enter(&world->gate, &pass), 0);
    EXPECT_EQ(usher_gate_try(&world->gate, &next), -EAGAIN);
    world->plain = pass.ticket;
    expect_end(start(leave_with_a_pass_of_another));
    EXPECT_EQ(usher_gate_try(&world->gate, &next), 0);
    EXPECT_EQ(usher_gate_leave(&world->gate, &next), 0);
}

static void a_word_that_is_no_gate_is_refused_and_not_changed(void)
{
    static const uint64_t words[] = {0, 1, UINT64_MAX, 0x8000000000000000, 0x00800000deadbeef};
    enum { WORDS = sizeof words / sizeof words[0] };
    for (uint32_t i = 0; i < 3 * WORDS; i++) {
        struct usher_gate gate = {words[i % WORDS]};
        struct usher_pass pass = {i / WORDS << 30}; /* unused, with a place in line, inside */
        EXPECT_EQ(usher_gate_enter(&gate, &pass), -EINVAL);
        EXPECT_EQ(usher_gate_enter_until(&gate, &pass, NULL), -EINVAL);
        EXPECT_EQ(usher_gate_try(&gate, &pass), -EINVAL);
        EXPECT_EQ(usher_gate_leave(&gate, &pass), -EINVAL);
        EXPECT_EQ(gate.word, words[i % WORDS]);
    }
}

static void a_gate_takes_these_sizes_and_no_others(void)
{
    static const uint32_t most[] = {0,      4194304, 2097153, 2097154, 1048579, 1048580, 524293,
                                    131078, 16391,   4104,    1033,    266,     75,      28};
    struct usher_gate gate = {7};
    EXPECT_EQ(usher_gate_init(&gate, 0, 1), -EINVAL);
    EXPECT_EQ(usher_gate_init(&gate, 1, 0), -EINVAL);
    EXPECT_EQ(usher_gate_init(&gate, 20, 14), -ERANGE);
    for (uint32_t k = 1; k <= 13; k++) {
        EXPECT_EQ(usher_gate_init(&gate, most[k] + 1, k), -ERANGE);
    }
    EXPECT_EQ(gate.word, 7);
    for (uint32_t k = 1; k <= 13; k++) {
        EXPECT_EQ(usher_gate_init(&gate, most[k], k), 0);
        EXPECT_EQ(usher_gate_init(&gate, 1, k), 0);
    }
}

static void a_guest_without_room_is_refused(void)
{
    struct usher_pass pass;
    prepare(28, 13, 1, false);
    for (unsigned i = 0; i < 28; i++) { /* 13 are inside and 15 wait */
        struct gate_step step = gate_take(world->gate.word, 0);
        EXPECT_EQ(step.result, i < 13 ? 0 : 1);
        world->gate.word = step.word;
    }
    uint64_t full = gate_word();
    EXPECT_EQ(usher_gate_enter(&world->gate, &pass), -EUSERS);
    EXPECT_EQ(usher_gate_try(&world->gate, &pass), -EAGAIN);
    EXPECT_EQ(gate_word(), full);
}

#define INIT(k) USHER_GATE_INIT(k)
static struct usher_gate static_gates[] = {INIT(1),  INIT(2),  INIT(3), INIT(4), INIT(5),
                                           INIT(6),  INIT(7),  INIT(8), INIT(9), INIT(10),
                                           INIT(11), INIT(12), INIT(13)};

static void a_static_gate_equals_a_prepared_one(void)
{
    for (uint32_t k = 1; k <= 13; k++) {
        struct usher_gate gate;
        EXPECT_EQ(usher_gate_init(&gate, 1, k), 0);
        EXPECT_EQ(static_gates[k - 1].word, gate.word);
    }
}

static struct timespec in_ms(long ms)
{
    struct timespec at;
    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += ms % 1000 * 1000000;
    at.tv_sec += ms / 1000 + at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return at;
}

static void a_deadline_ends_the_wait_and_the_place_is_kept(void)
{
    struct usher_pass first = {0};
    struct usher_pass waits = {0};
    struct usher_pass last = {0};
    struct timespec past = in_ms(-1);
    struct timespec soon = in_ms(20);
    prepare(4, 1, 1, false);
    EXPECT_EQ(usher_gate_enter_until(&world->gate, &first, &past), 0); /* free: it need not wait */
    EXPECT_EQ(usher_gate_enter_until(&world->gate, &waits, &past), -ETIMEDOUT);
    EXPECT_EQ(usher_gate_enter_until(&world->gate, &waits, &soon), -ETIMEDOUT);
    struct timespec now = in_ms(0);
    EXPECT(now.tv_sec > soon.tv_sec || (now.tv_sec == soon.tv_sec && now.tv_nsec >= soon.tv_nsec));
    EXPECT_EQ(usher_gate_enter_until(&world->gate, &last, &past), -ETIMEDOUT);
    EXPECT_EQ(usher_gate_leave(&world->gate, &first), 0);
    EXPECT_EQ(usher_gate_enter_until(&world->gate, &last, &past), -ETIMEDOUT); /* not its turn */
    EXPECT_EQ(usher_gate_enter_until(&world->gate, &waits, NULL), 0);
    EXPECT_EQ(usher_gate_leave(&world->gate, &waits), 0);
    EXPECT_EQ(usher_gate_leave(&world->gate, &last), 0); /* gives its place up */
    EXPECT_EQ(usher_gate_leave(&world->gate, &last), -EPERM);
    EXPECT_EQ(usher_gate_try(&world->gate, &first), 0);
    EXPECT_EQ(usher_gate_leave(&world->gate, &first), 0);
    struct timespec bad = {0, 1000000000};
    EXPECT_EQ(usher_gate_enter_until(&world->gate, &first, &bad), -EINVAL);
}

int main(void)
{
    make_world();
    RUN(try_enters_at_once_or_not_at_all);
    RUN(a_static_gate_equals_a_prepared_one);
    RUN(a_deadline_ends_the_wait_and_the_place_is_kept);
    RUN(a_pass_is_good_for_one_leaving);
    RUN(any_process_that_has_the_pass_may_leave);
    RUN(a_word_that_is_no_gate_is_refused_and_not_changed);
    RUN(a_gate_takes_these_sizes_and_no_others);
    RUN(a_guest_without_room_is_refused);
    RUN(processes_enter_in_order_and_never_more_than_k);
    RUN(signals_do_not_end_a_wait);
    RUN(two_guests_hand_over_to_each_other);
    RUN(threads_enter_in_order_and_never_more_than_k);
    RUN(waiters_that_share_a_bit_are_all_woken);
    return 0;
}
