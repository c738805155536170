/*
 * The only code that sleeps. A waiter sleeps on its own row's word, whose high half a grant
 * changes, and whoever grants wakes it: nothing else is needed as long as nobody dies.
 *
 * For the dead somebody must look (look.c). Everybody does so once, soon, and then as often as its
 * place in line asks for. In a line that moves so fast that nobody waits for LOOK_LATER_NS nobody
 * looks at all, nor has to be told to.
 */
#include "pool/pool.h"

#include <errno.h>

enum {
    LOOK_SOON_NS = 2 * 1000 * 1000,   /* most seats come back before there is any need to look */
    LOOK_BRIEF_NS = 12 * 1000 * 1000, /* the same, where waits are brief: see first_look */
    LOOK_LATER_NS = 60 * 1000 * 1000,
    SCOUT_ANY = 8, /* of those who do not look themselves one in so many sees to that */
    SCOUT_NS = 10 * 1000 * 1000,
    TIMED = 8 /* of waits that should be brief one in so many is timed: see is_brief */
};

/* A waiter, while it waits. */
struct sleeper {
    struct usher_pool *pool;
    struct guest *guest;
    struct format_row *row;
    int64_t began, deadline_ns; /* began: 0 as long as it is not known, see is_brief */
    int64_t look;               /* when to look next; 0: not known yet */
    int64_t tell;               /* when to call pool->waiting next */
    struct watch *watch;
    unsigned place;           /* as of the last look: usher__look_place */
    bool scout;               /* it has been told to look soon, wherever it stands */
    bool interrupted, called; /* what ended its sleep: a signal; somebody who woke it */
    bool timed_out;           /* nothing did but the time */
    bool late;                /* it began before `began` */
    bool counted;             /* it has been told to look, and others count on that */
};

void usher__wait_wake_all(struct usher_pool *pool)
{
    for (uint32_t row = 0; row < usher__rows_used(pool); row++) {
        if (atomic_load(&pool->rows[row].watch) & FORMAT_WAITS) {
            (void)os_wake(&pool->rows[row].word, pool->shared);
        }
    }
}

/* Leave the line. 0: too late, the seat is granted. */
static int give_up(struct usher_pool *pool, struct guest *guest, int why)
{
    struct core_give_up give_up = {.row = guest->row, .cycle = core_row_cycle(guest->r)};
    (void)core_give_up(&pool->core, &give_up);
    if (give_up.granted) {
        return 0;
    }
    atomic_fetch_add_explicit(&pool->rows[guest->row].gave_up, 1, memory_order_relaxed);
    return why;
}

/* Why not to wait on: 0 or -errno. */
static int reason_to_leave(struct sleeper *s, int64_t now)
{
    struct usher_pool *pool = s->pool;
    if (atomic_load(&pool->header->removed) != 0) {
        return -EIDRM;
    }
    if (s->deadline_ns <= now) {
        return -ETIMEDOUT;
    }
    if (pool->waiting != NULL && (s->interrupted || s->tell <= now)) {
        s->tell = s->tell <= now ? now + (int64_t)pool->waiting_ms * 1000000 : s->tell;
        return pool->waiting(pool, pool->context) != 0 ? -ECANCELED : 0;
    }
    return 0;
}

/*
 * Everybody looks once, soon, for those before it may all be dead. Few are ahead of those who most
 * likely have to see to that. But a timer that is to go off before the kernel's next tick costs as
 * much as a hand-over, or more, in a virtual machine: whoever waited but briefly the last time does
 * with one that goes off after it. (A tick is at most 10 ms.)
 */
static int64_t first_look(struct sleeper *s)
{
    if (usher__line_ahead(s->pool) > 2) {
        return LOOK_LATER_NS;
    }
    return s->guest->brief ? LOOK_BRIEF_NS : LOOK_SOON_NS;
}

/* When to look next. Before the third has a vigil, as the second does. */
static int64_t next_look(const struct sleeper *s, int64_t now)
{
    unsigned place =
        s->place == LOOK_THIRD && !usher__watch_has_vigil(s->watch) ? LOOK_SECOND : s->place;
    return usher__look_until(s->pool, place, s->guest->row, now);
}

/* Look, if it is time to, and say when to look next. */
static void look_if_due(struct sleeper *s, int64_t now)
{
    struct usher_pool *pool = s->pool;
    if (s->look == 0) {
        s->look = now + first_look(s);
        return;
    }
    bool was_first = s->place == LOOK_FIRST;
    s->place = usher__look_place(pool, s->guest->row);
    int64_t next = next_look(s, now);
    if (s->place == LOOK_FIRST && !was_first) {
        next = now + LOOK_SOON_NS;
    } else if (s->place != LOOK_FIRST && s->scout) {
        next = now + SCOUT_NS;
    }
    if (s->look <= now || usher__watch_called(s->watch)) {
        int64_t first = usher__watch_look(pool, &s->watch, s->guest->row, s->place, now);
        s->scout = false; /* now the lookers do */
        next = s->place == LOOK_FIRST ? now + first : next_look(s, now);
        s->look = next;
    }
    s->look = s->look > next ? next : s->look;
}

/*
 * Where waits are brief, asking the clock when each began and ended takes a noticeable part of
 * them. So if nobody has asked to know, it is not asked before the time of the first look, but to
 * give way, and in case one is woken for something else than a grant. Until then nobody counts on
 * it to look.
 *
 * Waits that end just before that time would seem brief for ever, and if all do, nobody would look
 * for the dead, who may be why they are not so brief: so now and then one is timed.
 */
static bool is_brief(const struct sleeper *s)
{
    return s->guest->brief && s->deadline_ns == INT64_MAX && s->pool->waiting == NULL &&
           !(s->pool->flags & USHER_TIMES) && !usher__ready_matters(s->pool) &&
           ++s->guest->untimed % TIMED != 0;
}

static bool is_granted(const void *sleeper)
{
    const struct sleeper *s = sleeper;
    return core_row_state(atomic_load(&s->row->word)) == CORE_GRANTED;
}

static uint32_t let_in(const void *sleeper)
{
    const struct core *core = &((const struct sleeper *)sleeper)->pool->core;
    return core_v_valid(atomic_load(&core->words[CORE_AT_V(core)]));
}

static struct turn turn_of(const struct sleeper *s)
{
    return (struct turn){&s->pool->header->crowded_ns, is_granted, let_in, s};
}

/* Giving way may take long. */
static bool may_give_way(const struct sleeper *s)
{
    return s->deadline_ns == INT64_MAX && s->pool->waiting == NULL;
}

/* It is for those who come again and again. */
static bool gives_way(const struct sleeper *s)
{
    struct turn turn = turn_of(s);
    return s->guest->brief && may_give_way(s) &&
           usher__give_way_first(&turn, usher__seats(s->pool), usher__line_ahead(s->pool),
                                 &s->guest->way);
}

/* It was called before its turn. */
static void be_ready(const struct sleeper *s)
{
    struct turn turn = turn_of(s);
    usher__ready_called(s->pool, may_give_way(s) ? &turn : NULL);
}

/* The clock is asked for the first time. */
static void note_began(struct sleeper *s, int64_t now)
{
    const struct usher_pool *pool = s->pool;
    s->began = now - (s->timed_out ? LOOK_BRIEF_NS : 0);
    s->look = s->timed_out ? now : 0;
    if (pool->waiting != NULL && pool->waiting_ms != 0) {
        s->tell = now + (int64_t)pool->waiting_ms * 1000000;
    }
    /* for show */
    s->guest->noted = true;
    atomic_store_explicit(&s->row->since_ns, s->began, memory_order_relaxed);
}

/* How far others can count on it to look while it sleeps: enum format_watch. */
static uint32_t looks_as(const struct sleeper *s)
{
    if (s->look > s->deadline_ns || s->began == 0) {
        return FORMAT_BRIEF;
    }
    if (s->scout || s->place == LOOK_FIRST) {
        return FORMAT_LOOKS;
    }
    if (s->place == LOOK_SECOND) {
        return FORMAT_LOOKS | FORMAT_SELDOM;
    }
    return s->place == LOOK_THIRD && usher__watch_has_vigil(s->watch) ? FORMAT_SELDOM : 0;
}

/* Sleep until woken or until it is time for something, unless it has been granted since `word` was
   read, or stands further in front than it thought. (In a brief wait it does not know its place;
   but it sleeps for a short time only, and looks then.) */
static void sleep_once(struct sleeper *s, uint64_t word)
{
    struct format_row *row = s->row;
    uint32_t reaped = atomic_load(&row->watch) & FORMAT_REAPED;
    s->interrupted = s->called = s->timed_out = false;
    atomic_store(&row->watch, reaped | FORMAT_WAITS | looks_as(s));
    /* A waiter that left the front just now has found this one awake, and has not told it to look.
       */
    bool ahead = s->began != 0 && s->place > LOOK_FIRST &&
                 usher__look_place(s->pool, s->guest->row) < s->place;
    if (!ahead && core_row_state(atomic_load(&row->word)) != CORE_GRANTED) {
        int64_t wake = s->look < s->deadline_ns ? s->look : s->deadline_ns;
        wake = wake < s->tell ? wake : s->tell;
        int slept = s->began != 0 ? os_sleep(&row->word, word, wake, s->pool->shared)
                                  : os_sleep_for(&row->word, word, LOOK_BRIEF_NS, s->pool->shared);
        s->timed_out = slept == -ETIMEDOUT;
        s->interrupted = slept == -EINTR;
        s->called = slept == 0;
    }
    /* Awake: a granting process need not wake it now, nor wonder that nobody woke. In one step,
       so that a FORMAT_TOLD set until then is not lost. */
    uint32_t watch = atomic_fetch_and(&row->watch, FORMAT_REAPED);
    s->counted = s->counted || (watch & FORMAT_TOLD) != 0;
    if (watch & FORMAT_CALLED) {
        be_ready(s);
    }
}

/* Until it is granted, or leaves the line. */
static int wait_in_line(struct sleeper *s)
{
    struct usher_pool *pool = s->pool;
    for (bool first = true;; first = false) {
        uint64_t word = atomic_load(&s->row->word);
        if (core_row_state(word) == CORE_GRANTED) {
            return 0;
        }
        if (first && s->began == 0) {
            sleep_once(s, word);
            continue;
        }
        int64_t now = first ? s->began : os_now_ns();
        if (s->began == 0) {
            note_began(s, now);
            s->late = true;
        }
        int why = reason_to_leave(s, now);
        if (why == -ETIMEDOUT && s->look == 0) {
            s->look = now;
            usher__look(pool, s->guest->row); /* no time to wait, but a holder may be dead */
            continue;
        }
        if (why != 0) {
            return give_up(pool, s->guest, why);
        }
        look_if_due(s, now);
        sleep_once(s, word);
        /* Woken, but not granted anything: it has been told to look. (Or called in vain; but then
           it may have been told, too.) */
        bool told = s->called && s->place >= LOOK_THIRD;
        s->scout = s->scout || (told && core_row_state(atomic_load(&s->row->word)) != CORE_GRANTED);
    }
}

int usher__wait(struct usher_pool *pool, struct guest *guest, int64_t deadline_ns)
{
    struct sleeper s = {.pool = pool,
                        .guest = guest,
                        .row = &pool->rows[guest->row],
                        .deadline_ns = deadline_ns,
                        .tell = INT64_MAX,
                        .place = LOOK_FIRST};
    bool ready = false;
    if (!is_brief(&s)) {
        note_began(&s, os_now_ns());
        ready = usher__ready_first(pool, guest);
    }
    int error = ready || gives_way(&s) ? 0 : wait_in_line(&s);
    if (s.began == 0) { /* it was brief: for how long nobody knows */
        if (s.counted) {
            usher__look_pass_on(pool);
        }
        usher__pool_settle(pool, guest->row);
        return error;
    }
    int64_t ended = os_now_ns();
    atomic_store_explicit(&s.row->since_ns, error == 0 ? ended : 0, memory_order_relaxed);
    guest->waited_ns = error == 0 ? ended - s.began : guest->waited_ns;
    guest->brief = error == 0 && !s.late && ended - s.began < LOOK_SOON_NS;
    usher__ready_waited(guest, error == 0 ? ended - s.began : INT64_MAX);
    if (ready) {
        usher__ready_paid(guest, ended - s.began);
    }
    /* Unless those behind have yet to look for the first time, because they have waited for a
       shorter time still. */
    bool sees = s.place <= LOOK_SECOND || usher__look_scatter(guest->row, ended) % SCOUT_ANY == 0;
    if (s.counted || s.scout || error != 0 ||
        (sees && (s.late || ended - s.began >= LOOK_SOON_NS))) {
        usher__look_pass_on(pool);
    }
    usher__pool_settle(pool, guest->row);
    usher__watch_end(s.watch);
    return error;
}
