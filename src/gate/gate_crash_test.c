/*
 * Guests of the gate that are stopped or killed, asleep and inside. Each costs its own seat at
 * most.
 *
 * Built twice: as it ships, and with GATE_LOOK_AGAIN_MS of a day, where a lost wake-up makes the
 * test hang.
 */
#include "gate_world.h"

static void visit_once(void)
{
    struct usher_pass pass;
    EXPECT_EQ(usher_gate_enter(&world->gate, &pass), 0);
    atomic_fetch_add(&world->entered, 1);
    EXPECT_EQ(usher_gate_leave(&world->gate, &pass), 0);
}

static void enter_and_stay(void)
{
    struct usher_pass pass;
    EXPECT_EQ(usher_gate_enter(&world->gate, &pass), 0);
    atomic_fetch_add(&world->entered, 1);
    for (;;) {
        (void)pause();
    }
}

static void stop(pid_t child)
{
    int status;
    EXPECT_EQ(kill(child, SIGSTOP), 0);
    EXPECT_EQ(waitpid(child, &status, WUNTRACED), child);
    EXPECT(WIFSTOPPED(status));
}

/* The signal interrupts its sleep. It falls asleep again, behind all other sleepers. */
static void stop_and_go_on(pid_t child)
{
    int status;
    stop(child);
    EXPECT_EQ(kill(child, SIGCONT), 0);
    EXPECT_EQ(waitpid(child, &status, WCONTINUED), child);
    until_asleep(child);
}

static void end_by_killing(pid_t child)
{
    int status;
    EXPECT_EQ(kill(child, SIGKILL), 0);
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT(WIFSIGNALED(status));
}

static void a_stopped_waiter_blocks_nobody_when_another_seat_is_free(void)
{
    struct usher_pass passes[2];
    prepare(8, 2, 1000, false);
    EXPECT_EQ(usher_gate_enter(&world->gate, &passes[0]), 0);
    EXPECT_EQ(usher_gate_enter(&world->gate, &passes[1]), 0);
    pid_t stopped = start(visit_once);
    until_issued(3);
    until_asleep(stopped);
    stop(stopped);
    pid_t behind = start(visit_once);
    until_issued(4);
    EXPECT_EQ(usher_gate_leave(&world->gate, &passes[0]), 0); /* the seat of the stopped guest */
    EXPECT_EQ(usher_gate_leave(&world->gate, &passes[1]), 0);
    expect_end(behind);
    world->seats = 1;
    world->in_order = false;
    visit_with_processes(3);
    EXPECT_EQ(kill(stopped, SIGCONT), 0);
    expect_end(stopped);
}

static void a_waiter_that_fell_asleep_earlier_on_the_same_bit_is_not_woken_instead(void)
{
    struct usher_pass pass;
    pid_t waits[33]; /* the first and the last share a bit */
    prepare(34, 1, 1, false);
    EXPECT_EQ(usher_gate_enter(&world->gate, &pass), 0);
    for (unsigned i = 0; i < 33; i++) {
        waits[i] = start(visit_once);
        until_issued(i + 2);
        until_asleep(waits[i]);
    }
    stop_and_go_on(waits[0]);
    EXPECT_EQ(usher_gate_leave(&world->gate, &pass), 0);
    for (unsigned i = 0; i < 33; i++) {
        expect_end(waits[i]);
    }
}

static void with_k_minus_1_killed_inside_the_last_seat_still_circulates(void)
{
    struct usher_pass pass;
    pid_t inside[2];
    prepare(8, 3, 1000, false);
    inside[0] = start(enter_and_stay);
    inside[1] = start(enter_and_stay);
    while (atomic_load(&world->entered) < 2) {
        (void)sched_yield();
    }
    EXPECT_EQ(usher_gate_enter(&world->gate, &pass), 0);
    end_by_killing(inside[0]);
    end_by_killing(inside[1]);
    EXPECT_EQ(usher_gate_try(&world->gate, &pass), -EAGAIN);
    EXPECT_EQ(usher_gate_leave(&world->gate, &pass), 0);
    world->seats = 1;
    world->in_order = false;
    visit_with_processes(4);
    /* after one more death no guest gets in */
    pid_t last = start(enter_and_stay);
    until_issued(3 + 4 * world->cycles + 1);
    end_by_killing(last);
    EXPECT_EQ(usher_gate_try(&world->gate, &pass), -EAGAIN);
}

static void a_waiter_killed_in_line_costs_a_seat_at_its_turn(void)
{
    struct usher_pass passes[2];
    prepare(8, 2, 1000, false);
    EXPECT_EQ(usher_gate_enter(&world->gate, &passes[0]), 0);
    EXPECT_EQ(usher_gate_enter(&world->gate, &passes[1]), 0);
    pid_t waits = start(visit_once);
    until_issued(3);
    until_asleep(waits);
    end_by_killing(waits);
    EXPECT_EQ(usher_gate_leave(&world->gate, &passes[0]), 0);
    EXPECT_EQ(usher_gate_try(&world->gate, &passes[0]), -EAGAIN); /* the seat of the dead guest */
    EXPECT_EQ(usher_gate_leave(&world->gate, &passes[1]), 0);
    world->seats = 1;
    world->in_order = false;
    visit_with_processes(3);
}

#ifndef GATE_LOOK_AGAIN_MS
static void a_sleeper_finds_its_turn_after_the_leaver_died_before_waking_it(void)
{
    struct usher_pass pass;
    prepare(8, 1, 1, false);
    EXPECT_EQ(usher_gate_enter(&world->gate, &pass), 0);
    pid_t waits = start(visit_once);
    until_issued(2);
    until_asleep(waits);
    struct gate_step step = gate_leave(gate_word(), pass.ticket & ~(1U << 31), 0);
    EXPECT_EQ(step.result, 0);
    EXPECT(step.wakes != 0); /* and nobody makes the wake-up */
    __atomic_store_n(&world->gate.word, step.word, __ATOMIC_SEQ_CST);
    expect_end(waits);
}
#endif

int main(void)
{
    make_world();
    RUN(a_stopped_waiter_blocks_nobody_when_another_seat_is_free);
    RUN(a_waiter_that_fell_asleep_earlier_on_the_same_bit_is_not_woken_instead);
    RUN(with_k_minus_1_killed_inside_the_last_seat_still_circulates);
    RUN(a_waiter_killed_in_line_costs_a_seat_at_its_turn);
#ifndef GATE_LOOK_AGAIN_MS
    RUN(a_sleeper_finds_its_turn_after_the_leaver_died_before_waking_it);
#endif
    return 0;
}
