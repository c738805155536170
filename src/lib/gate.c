/*
 * The gate's calls, with sleeping and waking: see usher.h for the contract, core/gate.h for the
 * word. Each change of the word is one compare-and-swap.
 *
 * What a death costs: with a ticket in hand, waiting or inside, its seat. One who dies after it
 * has validated the next ticket and before it has woken who waits for it costs nothing but time:
 * whoever sleeps looks again by itself now and then.
 *
 * A wake is for one, the one that has slept longest of those on its bit, and that is nearly always
 * the one whose ticket is valid now. If it is not, it wakes all on that bit before it sleeps again;
 * but once only for each VALID that it sees, for all who slept then, and were called by then, are
 * up. So no wake is lost: follow a wake that another took. That one's ticket is valid, too, and its
 * own wake went to somebody else on the bit, and so on; each wake to another, until one is found
 * that took a wake before its turn, and it wakes all.
 */
#include "usher.h"

#include "core/gate.h"
#include "lib/giveway.h"
#include "lib/os.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(struct usher_gate) == 8, "a gate is eight bytes");

/* A test makes this a day, so that a wake that is lost is not made good. */
#ifndef GATE_LOOK_AGAIN_MS
#define GATE_LOOK_AGAIN_MS 300
#endif

enum {
    LOOKS = 1000,              /* of whoever is next, before it sleeps: some ten microseconds */
    BRIEF_NS = 2 * 1000 * 1000 /* who waited for less the last time may give way before it sleeps */
};

static _Atomic int64_t crowded_ns; /* for giveway.c; a gate has no room for it */
static _Thread_local bool brief;

/* Marks a pass that is good: one that is all zero, or has been used, is not. */
#define GOOD_PASS (1U << 31)

/* A first guess: whether it is right, the compare-and-swap finds out. */
static inline uint64_t guess(const struct usher_gate *gate)
{
    return __atomic_load_n(&gate->word, __ATOMIC_RELAXED);
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

/* Sleep until somebody wakes this ticket's bit, unless VALID has moved since `word`. The further
   back in the line, the longer until it looks by itself: all together that is little. Whether it
   was a wake that ended it; whatever did (the time, a signal, a word that has moved), the caller
   looks. */
static bool sleep_on(struct usher_gate *gate, uint64_t word, uint32_t ticket, int64_t now)
{
    int64_t ns = now + (int64_t)gate_places(word, ticket) * GATE_LOOK_AGAIN_MS * 1000000;
    struct timespec until = {ns / 1000000000, ns % 1000000000};
    return syscall(SYS_futex, half(gate), FUTEX_WAIT_BITSET, (uint32_t)word, &until, NULL,
                   gate_bit(ticket)) == 0;
}

struct turn {
    struct usher_gate *gate;
    uint32_t ticket;
};

/* Or the gate is damaged. */
static bool has_come(const void *context)
{
    const struct turn *turn = context;
    uint64_t word = __atomic_load_n(&turn->gate->word, __ATOMIC_SEQ_CST);
    return gate_is_valid(word, turn->ticket) != 0;
}

/* Whoever has to sleep gives way first, if it comes again and again. */
static void give_way(struct usher_gate *gate, uint64_t word, uint32_t ticket)
{
    struct turn turn = {gate, ticket};
    if (brief) {
        (void)usher__give_way(gate_view(word).seats, gate_places(word, ticket), &crowded_ns,
                              has_come, &turn);
    }
}

/* Only whoever is next looks for a while before it sleeps, and only where there is a processor to
   spare. Where two hand over to each other that is thirty times as fast as sleeping at once; where
   all looked, they would only take turns at it. */
static int wait_for(struct usher_gate *gate, uint32_t ticket)
{
    const bool spare = gate_view(guess(gate)).seats < os_processors();
    bool woken = false;
    bool told = false;
    uint32_t told_at = 0; /* VALID, and QUANT, when all on our bit were woken */
    int64_t began = 0;    /* when it was about to sleep for the first time */
    for (unsigned looks = 0;;) {
        uint64_t word = __atomic_load_n(&gate->word, __ATOMIC_SEQ_CST);
        int valid = gate_is_valid(word, ticket);
        if (valid != 0) {
            brief = began == 0 ? brief : os_now_ns() - began < BRIEF_NS;
            return valid < 0 ? valid : 0;
        }
        if (woken && (!told || told_at != (uint32_t)word)) {
            told = true;
            told_at = (uint32_t)word;
            wake(gate, gate_bit(ticket), INT_MAX);
        }
        woken = false;
        if (gate_places(word, ticket) > 1 || !spare || ++looks > LOOKS) {
            int64_t now = os_now_ns();
            if (began == 0) {
                began = now;
                give_way(gate, word, ticket);
            } else {
                woken = sleep_on(gate, word, ticket, now);
            }
        }
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

static __attribute__((noinline)) int enter(struct usher_gate *gate, struct usher_pass *pass)
{
    uint64_t word = guess(gate);
    struct gate_step step;
    do {
        step = gate_take(word, 0);
        if (step.result < 0) {
            return step.result;
        }
    } while (!swap(gate, &word, step.word));
    pass->ticket = step.ticket | GOOD_PASS;
    return step.result == 0 ? 0 : wait_for(gate, step.ticket);
}

int usher_gate_enter(struct usher_gate *gate, struct usher_pass *pass)
{
    uint64_t word = guess(gate);
    struct gate_step step;
    if (__builtin_expect(gate_quick_take(word, &step, 0) && swap(gate, &word, step.word), 1)) {
        pass->ticket = step.ticket | GOOD_PASS;
        return 0;
    }
    return enter(gate, pass);
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
    if (__builtin_expect(gate_quick_leave(word, pass->ticket ^ GOOD_PASS, &step, 0) &&
                             swap(gate, &word, step.word),
                         1)) {
        pass->ticket = 0;
        return 0;
    }
    return leave(gate, pass);
}
