#include "step_scene.h"

#include "pool/pool.h"

#include <pthread.h>
#include <sys/stat.h>

enum { ASLEEP_US = 30000 };

struct board *step_board;

bool act_acquires(enum act act)
{
    return act == ACT_ACQUIRE || act == ACT_FIRST || act == ACT_UNTIL || act == ACT_ASLEEP ||
           act == ACT_TRY;
}

/* From here to stand_up the seat is ours: no other live process may sit there. */
static void sit_down(uint32_t number)
{
    EXPECT(number < SUPPORT_SEATS);
    int before = atomic_exchange(&step_board->sits[number], getpid());
    if (before != 0) {
        char state = process_state(before);
        EXPECT(state == 'Z' || state == 'X' || state == 0);
    }
}

static void stand_up(uint32_t number)
{
    EXPECT_EQ(atomic_exchange(&step_board->sits[number], 0), getpid());
}

void party_clear_seats(pid_t pid)
{
    for (unsigned s = 0; s < SUPPORT_SEATS; s++) {
        int was = pid;
        (void)atomic_compare_exchange_strong(&step_board->sits[s], &was, 0);
    }
}

static int act(const struct party *p, struct usher_pool **own, struct usher_seat *seat)
{
    const struct situation *s = p->s;
    const struct timespec time = s->act == ACT_ASLEEP ? after_us(ASLEEP_US) : (struct timespec){0};
    struct usher_options options = {.seats = s->seats, .guests = SCENE_ROWS};
    int error;
    switch (s->act) {
    case ACT_OPEN:
        return usher_open(own, "pool", &options);
    case ACT_ACQUIRE:
    case ACT_FIRST:
        return usher_acquire(*own, seat);
    case ACT_UNTIL:
    case ACT_ASLEEP:
        return usher_acquire_until(*own, seat, &time);
    case ACT_TRY:
        return usher_try_acquire(*own, seat);
    case ACT_RELEASE:
    case ACT_RELEASE_THREAD:
        return usher_release(*own, seat);
    case ACT_PAIR:
        error = usher_acquire(*own, seat);
        return error != 0 ? error : usher_release(*own, seat);
    case ACT_RESIZE:
        return usher_resize(*own, s->resize_to);
    case ACT_REAP:
        return usher_reap(*own) < 0;
    case ACT_ASSIGN:
        return usher_assign(*own, seat, p->keeper.pid);
    case ACT_RELEASE_FOR:
        return usher_release_for(*own, p->keeper.pid) < 0;
    case ACT_CLOSE:
        usher_close(*own);
        return 0;
    case ACT_REMOVE:
        return usher_remove("pool");
    }
    return 0;
}

struct other {
    struct usher_pool *pool;
    struct usher_seat *seat;
    atomic_bool has_it;
};

static void *acquire_and_stay(void *context)
{
    struct other *other = context;
    EXPECT_EQ(usher_acquire(other->pool, other->seat), 0);
    atomic_store(&other->has_it, true);
    for (;;) {
        (void)pause();
    }
}

static void acquire_in_a_thread(struct usher_pool *own, struct usher_seat *seat)
{
    static struct other other;
    pthread_t thread;
    other = (struct other){.pool = own, .seat = seat};
    EXPECT_EQ(pthread_create(&thread, NULL, acquire_and_stay, &other), 0);
    AWAIT(atomic_load(&other.has_it));
}

/* Do what comes before the call. */
static struct usher_pool *get_ready(const struct party *p, struct usher_seat *seat)
{
    enum act a = p->s->act;
    if (a == ACT_OPEN || a == ACT_REMOVE) {
        return NULL;
    }
    struct usher_pool *own = open_pool("pool", 0, 0);
    if (a == ACT_RELEASE_THREAD) {
        acquire_in_a_thread(own, seat);
    } else if (a != ACT_FIRST) {
        EXPECT_EQ(usher_acquire(own, seat), 0);
        if (a == ACT_RELEASE_FOR) {
            EXPECT_EQ(usher_assign(own, seat, p->keeper.pid), 0);
        } else if (a != ACT_RELEASE && a != ACT_ASSIGN && a != ACT_CLOSE) {
            EXPECT_EQ(usher_release(own, seat), 0);
        }
    }
    return own;
}

/* The call is over; a survivor continues as a normal guest. */
static void live_on(const struct party *p, struct usher_pool *own, struct usher_seat *seat)
{
    bool sits = act_acquires(p->s->act) && atomic_load(&step_board->result) == 0;
    if (sits) {
        atomic_store(&step_board->ticket, seat->ticket);
        sit_down(seat->number);
    }
    atomic_store(&step_board->finished, 1);
    AWAIT(atomic_load(&step_board->leave) != 0);
    if (sits) {
        stand_up(seat->number);
        EXPECT_EQ(usher_release(own, seat), 0);
    }
    if (p->s->act != ACT_CLOSE && p->s->act != ACT_REMOVE) {
        EXPECT_EQ(usher_acquire(own, seat), 0);
        EXPECT_EQ(usher_release(own, seat), 0);
        usher_close(own);
    }
    _exit(0);
}

static void live(const struct party *p)
{
    struct usher_seat seat = {0};
    struct usher_pool *own = get_ready(p, &seat);
    if (!tracee_begin()) {
        _exit(77);
    }
    int result = act(p, &own, &seat);
    atomic_store(&step_board->result, result);
    atomic_store(&step_board->done, 1);
    live_on(p, own, &seat);
}

static void visit(const struct party *p, uint32_t waiter)
{
    struct usher_pool *own = open_pool("pool", 0, 0);
    struct usher_seat seat;
    uint32_t most = p->s->seats > p->s->resize_to ? p->s->seats : p->s->resize_to;
    EXPECT_EQ(usher_acquire(own, &seat), 0);
    EXPECT(seat.number < most);
    sit_down(seat.number);
    atomic_store(&step_board->waiter[waiter].ticket, seat.ticket);
    atomic_store(&step_board->waiter[waiter].entry, atomic_fetch_add(&step_board->entered, 1) + 1);
    stand_up(seat.number);
    EXPECT_EQ(usher_release(own, &seat), 0);
    usher_close(own);
    _exit(0);
}

static void come(struct party *p, uint32_t how_many)
{
    for (; how_many > 0; how_many--) {
        uint32_t waiter = p->waiting++;
        struct child *child = &p->waiters[waiter];
        if (begin_child(child)) {
            visit(p, waiter);
        }
        AWAIT(position_of(p->pool, child->pid) > 0 || gone(child) ||
              atomic_load(&step_board->waiter[waiter].entry) > 0);
    }
}

void party_follow(struct party *p)
{
    if (p->waiting == p->s->ahead && p->s->behind > 0) {
        p->before = position_of(p->pool, p->t.pid) > 0;
        come(p, p->s->behind);
    }
}

bool party_all_gone(struct party *p)
{
    bool all = true;
    for (uint32_t w = 0; w < p->waiting; w++) {
        all = gone(&p->waiters[w]) && all;
    }
    return all;
}

static void let_go_one(struct party *p)
{
    struct usher_seat *seat = &p->held[--p->holds];
    stand_up(seat->number);
    EXPECT_EQ(usher_release(p->pool, seat), 0);
}

void party_let_go(struct party *p)
{
    while (p->holds > 0) {
        let_go_one(p);
    }
}

void party_take_all(struct party *p)
{
    int error;
    while ((error = usher_try_acquire(p->pool, &p->held[p->holds])) == 0) {
        sit_down(p->held[p->holds++].number);
        EXPECT(p->holds < SUPPORT_SEATS);
    }
    EXPECT(error == -EAGAIN || (error == -EIDRM && p->s->act == ACT_REMOVE));
}

/* The victim sleeps: free a seat for it, after the waiters before it. If a process has died, the
   victim finds that out itself. The others do not act, so that the victim's path is the same
   each time. */
static void serve(void *context)
{
    struct party *p = context;
    if (p->s->act == ACT_ASLEEP || p->served) {
        return; /* it gives up by itself */
    }
    party_follow(p);
    if (p->s->dead == DEAD_NOBODY && p->holds > 0) {
        let_go_one(p);
    }
    p->served = true;
}

static void stay_for_ever(void)
{
    for (;;) {
        (void)pause();
    }
}

static void lay_out_corpse(struct party *p)
{
    if (begin_child(&p->corpse)) {
        struct usher_seat seat;
        struct usher_pool *own = open_pool("pool", 0, 0);
        EXPECT_EQ(usher_acquire(own, &seat), 0);
        atomic_store(&step_board->dead, 1);
        stay_for_ever();
    }
    AWAIT(gone(&p->corpse) ||
          (p->s->dead == DEAD_HOLDER ? atomic_load(&step_board->dead) != 0
                                     : position_of(p->pool, p->corpse.pid) > 0));
}

static bool begin_victim(struct party *p)
{
    if (begin_child(&p->victim)) {
        live(p);
    }
    p->t = (struct tracee){.pid = p->victim.pid, .done = &step_board->done, .context = p};
    p->t.asleep = p->s->sleeps ? serve : NULL;
    return tracee_await(&p->t);
}

ino_t file_named(struct usher_pool *pool)
{
    struct stat status;
    EXPECT_EQ(stat(usher_path(pool), &status), 0);
    return status.st_ino;
}

bool party_begin(struct party *p, const struct situation *s)
{
    memset(step_board, 0, sizeof *step_board);
    *p = (struct party){.s = s};
    if (!s->missing) {
        p->pool = open_pool("pool", s->seats, SCENE_ROWS);
        p->file = s->act == ACT_REMOVE ? 0 : file_named(p->pool);
    }
    if (s->act == ACT_ASSIGN || s->act == ACT_RELEASE_FOR) {
        if (begin_child(&p->keeper)) {
            stay_for_ever();
        }
    }
    if (!begin_victim(p)) {
        return false;
    }
    if (s->dead == DEAD_HOLDER) {
        lay_out_corpse(p);
    }
    while (p->holds < s->held) {
        EXPECT_EQ(usher_try_acquire(p->pool, &p->held[p->holds]), 0);
        sit_down(p->held[p->holds++].number);
    }
    if (s->dead == DEAD_WAITER) {
        lay_out_corpse(p);
    }
    come(p, s->ahead);
    if (s->dead != DEAD_NOBODY) {
        kill_child(&p->corpse);
    }
    if (s->asked) {
        atomic_store(&p->pool->header->removed, FORMAT_ASKED);
    }
    return true;
}
