/*
 * Giving way before one sleeps. Where there are as many seats as processors, or more, most of those
 * who are in, or have been granted a seat, wait for a processor. If whoever has to wait in line
 * sleeps at once, it must be woken later, and that is most of what a turn costs. If instead it lets
 * the others run first, some of them leave meanwhile, and when it runs again its turn has often
 * come: nobody slept, and nobody was woken.
 *
 * It does not pay where the line is short: then most get in without having to wait, and whoever
 * gives way would only have two take turns who need not. Nor where others run who have nothing to
 * do with the pool: they keep the processor for as long as they may, while one that is woken has it
 * at once. So whoever had to wait for long says so, and for a while nobody gives way.
 *
 * Its ticket is taken by then: the order is that of the tickets, as ever. It is a matter of time
 * alone; who dies here is a waiter that died awake.
 */
#include "lib/giveway.h"

#include "lib/os.h"

enum {
    NEAR = 16,                     /* who is no further back gives way twice */
    LONG_NS = 1000 * 1000,         /* nobody who comes and goes here runs for that long at a time */
    SPARED = 16,                   /* so many times as long nobody gives way after that, ... */
    SPARED_NS = 1000 * 1000 * 1000 /* ... but not for longer: it may have been stopped */
};

/* What stands there may be of another boot, or made up. */
static bool is_crowded(_Atomic int64_t *crowded_ns, int64_t now)
{
    int64_t until = atomic_load_explicit(crowded_ns, memory_order_relaxed);
    return until > now && until <= now + SPARED_NS;
}

static void note_crowd(_Atomic int64_t *crowded_ns, int64_t now, int64_t took)
{
    int64_t spared = took < SPARED_NS / SPARED ? SPARED * took : SPARED_NS;
    atomic_store_explicit(crowded_ns, now + spared, memory_order_relaxed);
}

bool usher__give_way(uint32_t seats, uint32_t ahead, _Atomic int64_t *crowded_ns,
                     bool (*has_come)(const void *turn), const void *turn)
{
    if (seats < os_processors() || ahead <= 2 * os_processors()) {
        return false;
    }
    if (has_come(turn)) {
        return true;
    }
    int64_t now = os_now_ns();
    for (unsigned ways = ahead > NEAR ? 1 : 2; ways > 0; ways--) {
        if (is_crowded(crowded_ns, now)) {
            return false;
        }
        int64_t before = now;
        os_give_way();
        now = os_now_ns();
        if (now - before >= LONG_NS) {
            note_crowd(crowded_ns, now, now - before);
        }
        if (has_come(turn)) {
            return true;
        }
    }
    return false;
}
