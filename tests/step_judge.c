#include "step_judge.h"

#include "core/parts.h"
#include "pool/pool.h"

static void complain(void *context, const char *sentence)
{
    (void)context;
    (void)fprintf(stderr, "usher_verify: %s\n", sentence);
}

static bool is_later(uint64_t ticket, uint64_t than)
{
    return (int32_t)(ticket - than) > 0;
}

static uint64_t ticket_of(uint32_t waiter)
{
    return atomic_load(&step_board->waiter[waiter].ticket);
}

/* The waiters were served in order of arrival. */
static void expect_order(const struct party *p, bool victim_too)
{
    for (uint32_t w = 0; w < p->waiting; w++) {
        /* With one seat the order of entry is visible; with more, two waiters may enter at once. */
        EXPECT(p->s->seats > 1 || p->s->resize_to > 1 ||
               atomic_load(&step_board->waiter[w].entry) == w + 1);
        EXPECT(w == 0 || is_later(ticket_of(w), ticket_of(w - 1)));
    }
    if (!victim_too) {
        return;
    }
    uint64_t ticket = atomic_load(&step_board->ticket);
    for (uint32_t w = 0; w < p->waiting; w++) {
        if (w < p->s->ahead) {
            EXPECT(is_later(ticket, ticket_of(w)));
        } else if (p->before) {
            EXPECT(is_later(ticket_of(w), ticket));
        }
    }
}

/* A process that opens or removes the pool may have left a pool, none, or an incomplete one.
   False: a remover is stopped after its decision, just before the name goes. */
static bool open_again(struct party *p)
{
    struct usher_options options = {.seats = p->s->seats, .guests = SCENE_ROWS};
    bool going = false;
    if (!p->s->missing && !p->s->asked && p->s->act != ACT_REMOVE) {
        return true;
    }
    if (p->pool != NULL) {
        going = atomic_load(&p->pool->header->removed) == FORMAT_GONE;
        usher_close(p->pool);
    }
    int error = usher_open(&p->pool, "pool", &options);
    EXPECT(error == 0 || (error == -EBUSY && going && process_state(p->victim.pid) == 'T'));
    return error == 0;
}

/* All guests are gone: check the pool, and remove it for the next trial. */
static void expect_whole(struct party *p, bool completed)
{
    const struct situation *s = p->s;
    struct usher_info info;
    if (p->keeper.pid != 0) {
        kill_child(&p->keeper);
    }
    EXPECT(usher_reap(p->pool) >= 0);
    EXPECT_EQ(usher_verify(p->pool, complain, NULL), 0);
    EXPECT(p->file == 0 || file_named(p->pool) == p->file);
    EXPECT(usher_inspect(p->pool, &info, NULL, 0) >= 0);
    if (s->act == ACT_RESIZE) {
        EXPECT(info.seats == s->resize_to || !completed);
        EXPECT(info.seats <= (s->resize_to > s->seats ? s->resize_to : s->seats));
        EXPECT(info.seats >= (s->resize_to < s->seats ? s->resize_to : s->seats));
    } else {
        EXPECT_EQ(info.seats, s->seats);
    }
    (void)expect_exactly(p->pool, info.seats);
    EXPECT_EQ(usher_verify(p->pool, complain, NULL), 0);
    usher_close(p->pool);
    EXPECT_EQ(usher_remove("pool"), 0);
}

static bool allowed(const struct situation *s, int result)
{
    enum act a = s->act;
    return result == 0 || (result == -ETIMEDOUT && (a == ACT_UNTIL || a == ACT_ASLEEP)) ||
           (result == -EAGAIN && a == ACT_TRY) ||
           ((result == -EBUSY || result == -ENOENT) && a == ACT_REMOVE);
}

void judge_death(struct party *p, bool helped)
{
    bool completed = tracee_done(&p->t);
    EXPECT(!completed || allowed(p->s, atomic_load(&step_board->result)));
    EXPECT_EQ(kill(p->victim.pid, SIGKILL), 0);
    AWAIT(gone(&p->victim));
    EXPECT(was_killed(&p->victim));
    party_clear_seats(p->victim.pid);
    EXPECT(open_again(p));
    party_follow(p);
    party_let_go(p);
    if (helped) {
        EXPECT(usher_reap(p->pool) >= 0);
    }
    if (p->keeper.pid != 0 && p->s->seats == 1 && p->waiting > 0) {
        kill_child(&p->keeper); /* it may rightly hold the only seat */
    }
    AWAIT(party_all_gone(p));
    expect_order(p, false);
    expect_whole(p, completed);
}

/* Return whether the victim, or the process it assigned its seat to, holds a seat or has yet to
   give one back. */
static bool victim_keeps(const struct party *p)
{
    const struct core *c = &p->pool->core;
    for (uint32_t row = 0; row < usher__rows_used(p->pool); row++) {
        uint64_t owner = atomic_load(&p->pool->rows[row].owner);
        pid_t pid = (pid_t)format_owner_pid(owner);
        uint64_t word = usher__row_word(p->pool, row);
        uint32_t cycle = core_row_cycle(word);
        enum core_state state = core_row_state(word);
        /* While a row's next owner is being written, the row has no owner. */
        if (owner != 0 && pid != p->victim.pid && (p->keeper.pid == 0 || pid != p->keeper.pid)) {
            continue;
        }
        if (state == CORE_GRANTED ||
            (state == CORE_ENTERING &&
             core__names_i(atomic_load(&c->words[CORE_AT_I(c)]), row, cycle)) ||
            (state == CORE_LEAVING &&
             !core__names_v(atomic_load(&c->words[CORE_AT_V(c)]), row, cycle))) {
            return true;
        }
    }
    return false;
}

/* The host takes all free seats. Return how many it and the victim have. */
static uint32_t seats_found(struct party *p)
{
    party_take_all(p);
    return p->holds + victim_keeps(p);
}

/* All but the victim continue; they wait for nothing except the one seat that it may hold. */
static void carry_on(struct party *p, bool helped)
{
    const struct situation *s = p->s;
    uint32_t fewest = s->act == ACT_RESIZE && s->resize_to < s->seats ? s->resize_to : s->seats;
    uint32_t most = s->act == ACT_RESIZE && s->resize_to > s->seats ? s->resize_to : s->seats;
    if (s->asked && os_lock(p->pool->fd, POOL_LOCK_REMOVE) == 0) { /* the remover gives up */
        atomic_store(&p->pool->header->removed, 0);
        EXPECT_EQ(os_unlock(p->pool->fd, POOL_LOCK_REMOVE), 0);
    }
    if (!open_again(p)) {
        return;
    }
    party_follow(p);
    party_let_go(p);
    if (helped) {
        EXPECT(usher_reap(p->pool) >= 0); /* the victim lives: nothing is taken from it */
    }
    AWAIT(party_all_gone(p) || (fewest == 1 && victim_keeps(p)));
    /* Scan more than once: others may be finishing what the victim began. */
    AWAIT(seats_found(p) >= fewest || s->act == ACT_REMOVE);
    EXPECT(seats_found(p) <= most);
}

static bool waits(const struct party *p)
{
    return position_of(p->pool, p->victim.pid) > 0 && process_state(p->victim.pid) == 'S';
}

void judge_stop(struct party *p, bool helped)
{
    tracee_stop(&p->t);
    carry_on(p, helped);
    EXPECT_EQ(kill(p->victim.pid, SIGCONT), 0);
    /* The host has all free seats: no seat of its own is granted a second time. */
    AWAIT(gone(&p->victim) || atomic_load(&step_board->finished) != 0 ||
          (p->s->act != ACT_REMOVE && waits(p)));
    party_let_go(p);
    AWAIT(gone(&p->victim) || atomic_load(&step_board->finished) != 0);
    EXPECT(allowed(p->s, atomic_load(&step_board->result)));
    if (p->keeper.pid != 0) {
        kill_child(&p->keeper);
    }
    atomic_store(&step_board->leave, 1);
    AWAIT(gone(&p->victim));
    EXPECT(!was_killed(&p->victim));
    EXPECT(open_again(p));
    AWAIT(party_all_gone(p));
    expect_order(p, act_acquires(p->s->act) && atomic_load(&step_board->result) == 0);
    expect_whole(p, true);
}
