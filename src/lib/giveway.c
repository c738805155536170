/*
 * Giving way before one sleeps. If whoever has to wait in line sleeps at once, it must be woken
 * later, and that is most of what a turn costs; on a processor that has fallen asleep meanwhile it
 * is several times as much. If instead it lets the others run first, some of them leave, and when
 * it runs again its turn has often come: nobody slept, and nobody was woken.
 *
 * It does not pay where there are as many seats as processors, or more, and the line is short: then
 * most get in without having to wait, and whoever gives way would only have two take turns who need
 * not. With fewer seats nobody gets in without the other's leaving; but they may stay so long that
 * it is in vain, and that is found out by trying. Who is far back gives way once, which is for
 * those before it.
 *
 * Nor does it pay where others run who have nothing to do with the pool: they keep the processor
 * for as long as they may, while one that is woken has it at once. So whoever had to wait for long
 * says so, and for a while nobody gives way.
 *
 * Its ticket is taken by then: the order is that of the tickets, as ever. It is a matter of time
 * alone; who dies here is a waiter that died awake.
 */
#include "lib/giveway.h"

#include "lib/os.h"

enum {
    NEAR = 16,                     /* who is further back gives way once */
    WAY_NS = 50 * 1000,            /* the others for so long: a wake-up takes up to half of that */
    WAYS = 1000,                   /* and not more often */
    VAIN = 4,                      /* so often more in vain than not, and it is tried ... */
    SELDOM = 64,                   /* ... once in so many times */
    LONG_NS = 1000 * 1000,         /* nobody who comes and goes here runs for that long at a time */
    SPARED = 64,                   /* so many times as long nobody gives way after that, ... */
    SPARED_NS = 1000 * 1000 * 1000 /* ... but not for longer: it may have been stopped */
};

/* What stands there may be of another boot, or made up. */
static bool is_crowded(const struct turn *turn, int64_t now)
{
    int64_t until = atomic_load_explicit(turn->crowded_ns, memory_order_relaxed);
    return until > now && until <= now + SPARED_NS;
}

static void note_crowd(const struct turn *turn, int64_t now, int64_t took)
{
    int64_t spared = took < SPARED_NS / SPARED ? SPARED * took : SPARED_NS;
    atomic_store_explicit(turn->crowded_ns, now + spared, memory_order_relaxed);
}

/* So often at most. */
static bool give_way(const struct turn *turn, unsigned most)
{
    if (turn->has_come(turn->context)) {
        return true;
    }
    int64_t now = os_now_ns();
    const int64_t end = now + WAY_NS;
    for (unsigned ways = 0; ways < most && now < end && !is_crowded(turn, now); ways++) {
        int64_t before = now;
        os_give_way();
        now = os_now_ns();
        if (now - before >= LONG_NS) {
            note_crowd(turn, now, now - before);
        }
        if (turn->has_come(turn->context)) {
            return true;
        }
    }
    return false;
}

bool usher__give_way(const struct turn *turn)
{
    return give_way(turn, WAYS);
}

bool usher__give_way_first(const struct turn *turn, uint32_t seats, uint32_t ahead,
                           struct way_tried *tried)
{
    const bool spare = seats < os_processors();
    if (spare ? ahead > NEAR : ahead <= 2 * os_processors()) {
        return false;
    }
    if (ahead > NEAR || (spare && tried->vain == VAIN && ++tried->spared % SELDOM != 0)) {
        return give_way(turn, 1);
    }
    bool come = give_way(turn, WAYS);
    if (come) {
        tried->vain -= tried->vain > 1 ? 2 : tried->vain;
    } else {
        tried->vain += tried->vain < VAIN;
    }
    return come;
}
