/*
 * Calling the next in line before its turn. A hand-over to one that sleeps takes as long as a
 * wake-up, and that is many times as long as a hand-over to one that runs. So whoever leaves hands
 * over to the next, which is awake, and wakes the one after it; and that one gives way (giveway.c)
 * until its turn comes, which is one turn later. It is still one wake-up a turn, but nobody waits
 * for it. It is made by one that has left, and is about to sleep itself: so mostly on a processor
 * that is running, and not on one that has fallen asleep, which takes several times as long to
 * wake.
 *
 * It pays where those who are in stay for less time than the called one gives way for. Whether they
 * do is found out by trying: all who share the line count how often more it was in vain. And there
 * must be a processor for the called one: not where there are more seats than processors; and with
 * as many, only where the line is long, for otherwise most get in without having to wait.
 *
 * It is a matter of time alone: nobody is granted anything here. Who is called by one that dies
 * before it wakes it, or is called in vain, sleeps on, and is woken by whoever grants it its turn.
 */
#include "wait/call.h"

#include "os/os.h"

enum {
    VAIN_MOST = 16, /* from here on it is tried ... */
    SELDOM = 16,    /* ... once in so many times */
    VAIN_COSTS = 4  /* so many that are not in vain make up for one that is */
};

/* What stands there may be made up. */
static uint32_t so_often(const _Atomic uint32_t *vain)
{
    uint32_t count = atomic_load_explicit(vain, memory_order_relaxed);
    return count < VAIN_MOST ? count : VAIN_MOST;
}

bool usher__call_pays(uint32_t seats, uint32_t ahead, const _Atomic uint32_t *vain,
                      uint32_t *spared)
{
    if (ahead == 0 || seats > os_processors() ||
        (seats == os_processors() && ahead <= 2 * os_processors())) {
        return false;
    }
    return so_often(vain) < VAIN_MOST || ++*spared % SELDOM == 0;
}

void usher__call_learn(_Atomic uint32_t *vain, bool come)
{
    uint32_t before = so_often(vain);
    uint32_t more = before + VAIN_COSTS < VAIN_MOST ? before + VAIN_COSTS : VAIN_MOST;
    uint32_t now = come ? before - (before > 0) : more;
    if (now != before) { /* mostly it is as it was, and whoever reads it keeps it */
        atomic_store_explicit(vain, now, memory_order_relaxed);
    }
}
