/*
 * Giving way before one sleeps. If whoever has to wait in line sleeps at once, it must be woken
 * later, and that is most of what a turn costs; on a processor that has fallen asleep meanwhile it
 * is several times as much. If instead it lets the others run first, some of them leave, and when
 * it runs again its turn has often come: nobody slept, and nobody was woken.
 *
 * It does not pay where there are as many seats as processors, or more, and the line is short: then
 * most get in without having to wait, and whoever gives way would only have two take turns who need
 * not. With fewer seats nobody gets in without the other's leaving; but they may stay so long that
 * it is in vain, and that is found out by trying. Who is far back does not, but where there are
 * more seats than processors: there it gives way once, for those who have a seat and no processor.
 *
 * Nor does it pay where others run who have nothing to do with the pool: they keep the processor
 * for as long as they may, while one that is woken has it at once. So whoever had to wait for long
 * says so, and for a while nobody gives way, and for longer if it is the same as soon as somebody
 * tries. But not if the line went on meanwhile: then it was those before it who ran, and they are
 * many.
 *
 * Its ticket is taken by then: the order is that of the tickets, as ever. It is a matter of time
 * alone; who dies here is a waiter that died awake.
 */
#include "wait/giveway.h"

#include "os/os.h"

enum {
    NEAR = 16,                     /* who is further back gives way once, or not at all */
    WAY_NS = 100 * 1000,           /* the others for so long: two wake-ups, and some inside */
    WAYS = 1000,                   /* and not more often */
    VAIN = 4,                      /* so often more in vain than not, and it is tried ... */
    SELDOM = 64,                   /* ... once in so many times */
    LONG_NS = 1000 * 1000,         /* so long is long, ... */
    PACE_NS = 100 * 1000,          /* ... if fewer were let in than one in so much time */
    SPARED = 4,                    /* so many times as long nobody gives way after that; ... */
    SPARED_MORE = 4,               /* ... so many times that if it was so just before, ... */
    SPARED_MOST = 2,               /* ... and again, but no more after that, ... */
    SPARED_NS = 100 * 1000 * 1000, /* ... nor for longer: it was a moment, or it was stopped */
    JUST_NS = 10 * 1000 * 1000,    /* where there is a crowd, somebody tries within this */
    TIMES = 3,                     /* the low bits of crowded_ns: so often just before */
    LET_IN = (1 << 20) - 1
};

/* What stands there may be of another boot, or made up. */
static bool is_crowded(const struct turn *turn, int64_t now)
{
    int64_t until = atomic_load_explicit(turn->crowded_ns, memory_order_relaxed);
    return until > now && until <= now + SPARED_NS;
}

/* One that had to wait for long once may have been stopped, or its processor; if it is so again as
   soon as somebody tries, there is a crowd. Several who find out at the same time find one. */
static void note_crowd(const struct turn *turn, int64_t now, int64_t took)
{
    const int64_t until = atomic_load_explicit(turn->crowded_ns, memory_order_relaxed);
    int64_t times = until & TIMES;
    if (until > now + 2 * SPARED_NS || until <= now - took - JUST_NS) {
        times = 0; /* made up; or for a while nobody had to wait for long */
    } else if (until <= now && times < SPARED_MOST) {
        times++;
    }
    int64_t spared = took < SPARED_NS ? SPARED * took : SPARED_NS;
    for (int64_t more = 0; more < times; more++) {
        spared *= SPARED_MORE;
    }
    spared = spared < SPARED_NS ? spared : SPARED_NS;
    atomic_store_explicit(turn->crowded_ns, ((now + spared) & ~(int64_t)TIMES) | times,
                          memory_order_relaxed);
}

/* So often at most. */
static bool give_way(const struct turn *turn, unsigned most)
{
    if (turn->has_come(turn->context)) {
        return true;
    }
    const uint32_t before = turn->let_in(turn->context);
    const int64_t began = os_now_ns();
    int64_t now = began;
    for (unsigned ways = 0; ways < most && now < began + WAY_NS && !is_crowded(turn, now); ways++) {
        os_give_way();
        now = os_now_ns();
        if (now - began >= LONG_NS &&
            (now - began) / PACE_NS > ((turn->let_in(turn->context) - before) & LET_IN)) {
            note_crowd(turn, now, now - began);
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
    const uint32_t processors = os_processors();
    const bool spare = seats < processors;
    if (!spare && ahead <= 2 * processors) {
        return false;
    }
    if (ahead > NEAR) {
        return seats > processors && give_way(turn, 1);
    }
    if (spare && tried->vain == VAIN && ++tried->spared % SELDOM != 0) {
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
