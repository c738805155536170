/*
 * The gate's calls, with sleeping and waking: see usher.h for the contract, gate/gate_word.h for the
 * word. Each change of the word is one compare-and-swap.
 *
 * What a death costs: with a ticket in hand, waiting or inside, its seat. One who dies after it
 * has validated the next ticket and before it has woken who waits for it costs nothing but time:
 * whoever sleeps looks again by itself now and then.
 *
 * A wake is for one, the one that has slept longest of those on its bit, and that is nearly always
 * the one whose ticket is valid now, or the one after it, which is called (call.c). If its ticket
 * is not valid, it wakes all on that bit before it sleeps again; but once only for each VALID that
 * it sees, for all who slept then, and were called by then, are up. So no wake is lost: follow a
 * wake that another took. That one's ticket is valid, too, or is before it sleeps again, and its
 * own wake went to somebody else on the bit, and so on; each wake to another, until one is found
 * that took a wake before its turn, and it wakes all. Calls are more wakes than these, never fewer.
 */
#include "usher.h"

#include "gate/gate_word.h"
#include "os/os.h"
#include "wait/call.h"
#include "wait/giveway.h"
#include "wait/rivals.h"

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
    BITS = 32,                 /* on which one may sleep: gate_bit */
    LOOKS = 1000,              /* of whoever is next, before it sleeps: some ten microseconds */
    BRIEF_NS = 2 * 1000 * 1000 /* who waited for less the last time may give way before it sleeps */
};

/* For giveway.c, call.c and rivals.c: a gate has no room for it. */
static _Atomic int64_t crowded_ns;
static _Atomic uint32_t vain_calls;
static _Thread_local struct way_tried tried;
static _Thread_local uint32_t calls_spared;
static _Thread_local struct rival rival;
static _Thread_local bool brief;

/* Marks a pass that is good: one that is all zero, or has been used, is not. */
#define GOOD_PASS (1U << 31)

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

/* A gate does not count them; but so many fewer are in line before it. */
static uint32_t let_in(const void *context)
{
    const struct waits *waits = context;
    uint64_t word = __atomic_load_n(&waits->gate->word, __ATOMIC_SEQ_CST);
    return gate_is_valid(word, waits->ticket) != 0 ? 0 : 0U - gate_places(word, waits->ticket);
}

/* Whoever has to sleep gives way first, if it comes again and again. */
static void give_way(struct usher_gate *gate, uint64_t word, uint32_t ticket)
{
    struct waits waits = {gate, ticket};
    struct turn turn = {&crowded_ns, has_come, let_in, &waits};
    if (brief) {
        (void)usher__give_way_first(&turn, gate_view(word).seats, gate_places(word, ticket),
                                    &tried);
    }
}

/* It was woken, and is next: called, most likely. Has its turn come? */
static bool be_ready(struct usher_gate *gate, uint32_t ticket)
{
    struct waits waits = {gate, ticket};
    struct turn turn = {&crowded_ns, has_come, let_in, &waits};
    bool come = usher__give_way(&turn);
    usher__call_learn(&vain_calls, come);
    return come;
}

/* One that comes again and again has left, and woken who is next: call the one after it. Not where
   two may sleep on a bit, for who is awake when it is woken has the other woken in vain. (At the
   end of a small block it may be another's bit; then nobody is called, or one in vain.) */
static void call_next(struct usher_gate *gate, uint64_t word)
{
    struct gate_view v = gate_view(word);
    uint32_t ahead = v.issue != v.valid ? gate_places(word, v.issue) : 0;
    if (brief && ahead < BITS && usher__call_pays(v.seats, ahead, &vain_calls, &calls_spared)) {
        wake(gate, gate_bit(v.valid + 1), 1);
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
        if (woken && gate_places(word, ticket) == 1 && be_ready(gate, ticket)) {
            continue;
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

static uint32_t issued(const void *line)
{
    return gate_view(guess(line)).issue;
}

/* `lost`: to another that was faster. */
static __attribute__((noinline)) int enter(struct usher_gate *gate, struct usher_pass *pass,
                                           bool lost)
{
    struct gate_step step;
    for (uint64_t word = guess(gate);; lost = true) {
        if (lost && usher__rivals_aside(&rival, true, issued, gate)) {
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
    pass->ticket = step.ticket | GOOD_PASS;
    return step.result == 0 ? 0 : wait_for(gate, step.ticket);
}

int usher_gate_enter(struct usher_gate *gate, struct usher_pass *pass)
{
    uint64_t word = guess(gate);
    struct gate_step step;
    if (__builtin_expect(!gate_quick_take(word, mask_of(word), &step, 0), 0)) {
        return enter(gate, pass, false);
    }
    if (__builtin_expect(!swap(gate, &word, step.word), 0)) {
        return enter(gate, pass, true);
    }
    pass->ticket = step.ticket | GOOD_PASS;
    return 0;
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
        call_next(gate, step.word);
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
