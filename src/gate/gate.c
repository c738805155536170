/*
 * The gate's calls, with sleeping and waking: see usher.h for the contract, gate/gate_word.h for
 * the word. Each change of the word is one compare-and-swap.
 *
 * What a death costs: a guest that dies with a ticket in hand, waiting or inside, costs its seat. A
 * guest that dies after it has validated the next ticket and before it has woken the waiter costs
 * nothing but time: a sleeping waiter wakes by itself from time to time.
 *
 * A wake-up goes to the waiter that has slept longest on its bit. The ticket of that waiter is
 * nearly always the valid one. A woken waiter whose ticket is not valid wakes all waiters on that
 * bit before it sleeps again, once for each VALID that it sees. So no wake-up is lost: follow a
 * wake-up that another waiter took. That waiter's ticket is valid, too, or becomes so before it
 * sleeps again, and its own wake-up went to a third waiter on the bit, and so on, until a waiter is
 * found that took a wake-up before its turn: this waiter wakes all.
 */
#include "usher.h"

#include "gate/gate_word.h"
#include "os/compat.h"
#include "os/os.h"
#include "wait/wait.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(struct usher_gate) == 8, "a gate is eight bytes");

/* A test makes this a day, so that a wake that is lost is not made good. */
#ifndef GATE_LOOK_AGAIN_MS
#define GATE_LOOK_AGAIN_MS 300
#endif

/* What a thread remembers, of all gates together: a gate has no room for it. */
static _Thread_local struct wait_memory memory;
static _Thread_local struct backoff backoff;

/* A pass that is good for leaving; a pass that is all zero, or has been used, is not. */
#define GOOD_PASS (1U << 31)
/* A pass that has a place in line and is not inside. */
#define WAITING_PASS (1U << 30)

/* A first guess: whether it is right, the compare-and-swap finds out. */
static inline uint64_t guess(const struct usher_gate *gate)
{
    return __atomic_load_n(&gate->word, __ATOMIC_RELAXED);
}

/* The shape of the gate used last, 32 | its mask, 32. All 0 is right, too: no gate has that
   shape. */
static _Atomic uint64_t known;

static __attribute__((noinline)) uint32_t look_up(uint64_t word)
{
    uint32_t mask = gate_mask(word);
    atomic_store_explicit(&known, word >> GATE_SEATS_SHIFT << 32 | mask, memory_order_relaxed);
    return mask;
}

/* gate_mask(word). Mostly it is the same gate as before, or one of that shape: then the mask need
   not be fetched when the word is there, but with it, and each compare-and-swap comes sooner. */
static inline uint32_t mask_of(uint64_t word)
{
    uint64_t last = atomic_load_explicit(&known, memory_order_relaxed);
    return __builtin_expect(last >> 32 == word >> GATE_SEATS_SHIFT, 1) ? (uint32_t)last
                                                                       : look_up(word);
}

/* Swap, or learn what the word is now. */
static inline bool swap(struct usher_gate *gate, uint64_t *from, uint64_t to)
{
    return __atomic_compare_exchange_n(&gate->word, from, to, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_RELAXED);
}

/* The low half of the word, where VALID is. */
static uint32_t *half(struct usher_gate *gate)
{
    return (uint32_t *)(void *)&gate->word + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static void wake(struct usher_gate *gate, uint32_t bits, int most)
{
    (void)syscall(SYS_futex, half(gate), FUTEX_WAKE_BITSET, most, NULL, NULL, bits);
}

/* Sleep until this ticket's bit is woken or until `until_ns`, unless VALID has moved since `word`.
   By itself the waiter wakes from time to time, the less often the further back it stands: all
   together that is little. Whether a wake-up ended it; whatever did (the time, a signal, a word
   that has moved), the caller looks at the word again. */
static bool sleep_on(struct usher_gate *gate, uint64_t word, uint32_t ticket, int64_t until_ns)
{
    int64_t ns = os_now_ns() + (int64_t)gate_places(word, ticket) * GATE_LOOK_AGAIN_MS * 1000000;
    ns = ns < until_ns ? ns : until_ns;
    struct timespec until = {ns / 1000000000, ns % 1000000000};
    return syscall(SYS_futex, half(gate), FUTEX_WAIT_BITSET, (uint32_t)word, &until, NULL,
                   gate_bit(ticket)) == 0;
}

struct waits {
    struct usher_gate *gate;
    uint32_t ticket;
};

/* Or the gate is damaged. */
static bool has_come(const void *context)
{
    const struct waits *waits = context;
    uint64_t word = __atomic_load_n(&waits->gate->word, __ATOMIC_SEQ_CST);
    return gate_is_valid(word, waits->ticket) != 0;
}

static int wait_for(struct usher_gate *gate, uint32_t ticket, int64_t deadline_ns)
{
    struct waits waits = {gate, ticket};
    const struct wait_turn turn = {has_come, &waits};
    const int64_t began = os_now_ns();
    bool woken = false;
    bool woke_all = false;
    uint32_t woke_all_at = 0; /* VALID and QUANT when all sleepers on this bit were woken */
    if (deadline_ns == INT64_MAX) {
        (void)usher__wait_awake(&turn, &memory, gate_view(guess(gate)).seats, began);
    }
    for (;;) {
        uint64_t word = __atomic_load_n(&gate->word, __ATOMIC_SEQ_CST);
        int valid = gate_is_valid(word, ticket);
        if (valid != 0) {
            usher__wait_ended(&memory, os_now_ns() - began);
            return valid < 0 ? valid : 0;
        }
        if (woken && (!woke_all || woke_all_at != (uint32_t)word)) {
            woke_all = true;
            woke_all_at = (uint32_t)word;
            wake(gate, gate_bit(ticket), INT_MAX);
        }
        if (deadline_ns != INT64_MAX && os_now_ns() >= deadline_ns) {
            return -ETIMEDOUT;
        }
        woken = sleep_on(gate, word, ticket, deadline_ns);
    }
}

int usher_gate_init(struct usher_gate *gate, uint32_t guests, uint32_t seats)
{
    uint64_t word;
    int error = gate_start(&word, guests, seats, 0);
    if (error == 0) {
        __atomic_store_n(&gate->word, word, __ATOMIC_SEQ_CST);
    }
    return error;
}

static uint32_t issued(const void *line)
{
    return gate_view(guess(line)).issue;
}

/* Has the pass a place in line? Then its ticket has a colour of the gate, 0 to k. Any other pass
   has, in this place, one of the top two bits, which are above all colours. (What is no gate may
   have any shape: there the caller fails in either case.) */
static bool is_waiting(const struct usher_gate *gate, const struct usher_pass *pass)
{
    const struct gate_view v = gate_view(guess(gate));
    return (pass->ticket ^ WAITING_PASS) >> v.bits <= v.seats;
}

/* Wait with a pass that has a place in line. */
static int wait_with(struct usher_gate *gate, struct usher_pass *pass, int64_t deadline_ns)
{
    int error = wait_for(gate, pass->ticket & ~WAITING_PASS, deadline_ns);
    if (error == 0) {
        pass->ticket ^= WAITING_PASS | GOOD_PASS;
    }
    return error;
}

/* `lost`: another guest took the ticket that this one tried to take. */
static __attribute__((noinline)) int enter(struct usher_gate *gate, struct usher_pass *pass,
                                           bool lost, int64_t deadline_ns)
{
    struct gate_step step;
    for (uint64_t word = guess(gate);; lost = true) {
        if (lost && usher__backoff(&backoff, true, issued, gate)) {
            word = guess(gate);
        }
        step = gate_take(word, 0);
        if (step.result < 0) {
            return step.result;
        }
        if (swap(gate, &word, step.word)) {
            break;
        }
    }
    pass->ticket = step.ticket | (step.result == 0 ? GOOD_PASS : WAITING_PASS);
    return step.result == 0 ? 0 : wait_with(gate, pass, deadline_ns);
}

int usher_gate_enter(struct usher_gate *gate, struct usher_pass *pass)
{
    uint64_t word = guess(gate);
    struct gate_step step;
    if (__builtin_expect(!gate_quick_take(word, mask_of(word), &step, 0), 0)) {
        return enter(gate, pass, false, INT64_MAX);
    }
    if (__builtin_expect(!swap(gate, &word, step.word), 0)) {
        return enter(gate, pass, true, INT64_MAX);
    }
    pass->ticket = step.ticket | GOOD_PASS;
    return 0;
}

int usher_gate_enter_until(struct usher_gate *gate, struct usher_pass *pass,
                           const struct timespec *deadline)
{
    int64_t deadline_ns = INT64_MAX;
    if (deadline != NULL) {
        if (deadline->tv_nsec < 0 || deadline->tv_nsec > 999999999) {
            return -EINVAL;
        }
        /* A time before the start of the clock has passed; beyond 292 years is for ever. */
        deadline_ns = deadline->tv_sec < 0 ? 0
                      : deadline->tv_sec >= INT64_MAX / 1000000000
                          ? INT64_MAX
                          : (int64_t)deadline->tv_sec * 1000000000 + deadline->tv_nsec;
    }
    return is_waiting(gate, pass) ? wait_with(gate, pass, deadline_ns)
                                  : enter(gate, pass, false, deadline_ns);
}

int usher_gate_try(struct usher_gate *gate, struct usher_pass *pass)
{
    uint64_t word = guess(gate);
    struct gate_step step;
    do {
        step = gate_try(word, 0);
        if (step.result != 0) {
            return step.result;
        }
    } while (!swap(gate, &word, step.word));
    pass->ticket = step.ticket | GOOD_PASS;
    return 0;
}

static __attribute__((noinline)) int leave(struct usher_gate *gate, struct usher_pass *pass)
{
    if (is_waiting(gate, pass)) {
        int error = wait_with(gate, pass, INT64_MAX);
        if (error != 0) {
            return error;
        }
    }
    uint64_t word = guess(gate);
    struct gate_step step;
    do {
        step = gate_leave(word, pass->ticket ^ GOOD_PASS, 0);
        if (step.result != 0) {
            return step.result;
        }
    } while (!swap(gate, &word, step.word));
    pass->ticket = 0;
    if (step.wakes != 0) {
        wake(gate, step.wakes, 1);
    }
    return 0;
}

int usher_gate_leave(struct usher_gate *gate, struct usher_pass *pass)
{
    uint64_t word = guess(gate);
    struct gate_step step;
    if (__builtin_expect(
            gate_quick_leave(word, mask_of(word), pass->ticket ^ GOOD_PASS, &step, 0) &&
                swap(gate, &word, step.word),
            1)) {
        pass->ticket = 0;
        return 0;
    }
    return leave(gate, pass);
}
