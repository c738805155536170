/*
 * Waiting, for pools and gates: the only code of the library that spins, yields, sleeps and wakes.
 *
 * The policy. A waiter sleeps, and the process that grants its ticket wakes it: one wake-up a
 * grant. A waiter stays awake only if its own last wait was short, because then the grant may come
 * sooner than a wake-up. With fewer seats than processors it yields its processor until its turn
 * comes, for at most WAIT_AWAKE_NS: a holder runs on another processor, or on this one in its
 * place. With more seats than processors it yields once, because some holders have no processor.
 * With as many it sleeps at once: awake, it would take a processor from a holder. An attempt in
 * vain is followed by none for WAIT_REST times as long as it took, so attempts in vain take at most
 * 1 / WAIT_REST of a waiter's time. Holders that sleep and other work on the machine make waits or
 * attempts long, so there waiters sleep at once. Before it has a ticket, a guest that loses the
 * race for it again and again backs off for a moment (backoff.c).
 *
 * All of this is a matter of time alone: the order is that of the tickets, and a process that dies
 * awake is a waiter that died.
 */
#ifndef USHER_WAIT_H
#define USHER_WAIT_H

#include <stdbool.h>
#include <stdint.h>

/* What a waiter remembers of its own waits. All zero to begin with: its first wait is asleep. */
struct wait_memory {
    int64_t last_ns;       /* how long its last wait took; 0: it has not waited yet */
    int64_t rest_until_ns; /* does not stay awake before this time */
};

/* What a waiter waits for. */
struct wait_turn {
    bool (*has_come)(const void *context);
    const void *context;
};

/* Stay awake for a while from `now_ns` on, if that may pay with this number of seats. Return
   whether the turn has come. */
bool usher__wait_awake(const struct wait_turn *turn, struct wait_memory *memory, uint32_t seats,
                       int64_t now_ns);
/* A wait that took so long has ended. */
void usher__wait_ended(struct wait_memory *memory, int64_t took_ns);

/* What a guest remembers of the races that it lost. All zero to begin with. */
struct backoff {
    const void *lost_in; /* the pool or gate of the last race it lost .. */
    uint32_t lost_at;    /* .. and the last ticket then */
    uint32_t skipped;    /* back-offs left out since the last one */
    uint32_t vain;       /* back-offs in a row that did not pay */
    bool paid;           /* the last one did */
};

/* Back off for a moment before the next try, if that may pay. `lost`: another guest took the
   ticket; otherwise the way in was blocked. `issued` gives the last ticket. Whether it did. */
bool usher__backoff(struct backoff *backoff, bool lost, uint32_t (*issued)(const void *line),
                    const void *line);

#endif
