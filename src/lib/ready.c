/*
 * Awake when the grant comes. Being woken on another processor can take longer than whoever is in
 * stays there; so, where there are processors to spare, the next in line is awake before its turn:
 *
 *   - whoever comes to an empty line looks for its grant for a while before it sleeps;
 *   - whoever gets in after a wait, and stays for about as long as a wake-up takes, calls the next
 *     in line, and that one looks for its grant for a while, too.
 *
 * It is a matter of time alone: nobody is granted anything here, and who is called by one that then
 * dies, or is called in vain, sleeps on.
 */
#include "lib/lib.h"

enum {
    SPIN_NS = 50 * 1000,
    SPIN_LOOKS = 1000, /* about as long as it takes to be woken */
    SPIN_VAIN = 4,     /* so often more in vain than not, and it is tried ... */
    SPIN_SELDOM = 64,  /* ... once in so many times */
    /* Also one that stays for no time is woken, wakes another, and is perhaps held up by it. */
    CALL_LEAST_NS = 12 * 1000,
    CALL_MOST_NS = 40 * 1000
};

bool usher__ready_matters(const struct usher_pool *pool)
{
    return usher__seats(pool) < os_processors();
}

/* Look for the grant for a while: has it come? */
static bool look_for_it(const struct format_row *row)
{
    for (unsigned looks = 0; looks < SPIN_LOOKS; looks++) {
        uint64_t word = atomic_load_explicit(&row->word, memory_order_acquire);
        if (core_row_state(word) == CORE_GRANTED) {
            return true;
        }
        os_relax();
    }
    return false;
}

/*
 * Where two hand over to each other often, looking is a hundred times as fast as being woken.
 * Whether it pays here is found out by trying: who looks in vain more often than not tries that
 * only now and then. A grant that came in the end because the one who looked was thrown off the
 * processor, most likely by the one it waited for, is one in vain.
 */
bool usher__ready_first(struct usher_pool *pool, struct guest *guest)
{
    if (!usher__ready_matters(pool) || usher__line_ahead(pool) > 1 ||
        (guest->vain == SPIN_VAIN && ++guest->spared % SPIN_SELDOM != 0)) {
        return false;
    }
    guest->vain += guest->vain < SPIN_VAIN;
    return look_for_it(&pool->rows[guest->row]);
}

void usher__ready_paid(struct guest *guest, int64_t waited_ns)
{
    if (waited_ns < SPIN_NS) {
        guest->vain -= guest->vain > 1 ? 2 : 1;
    }
}

/* The first in line; CORE_NOBODY if there is none. */
static uint32_t first_in_line(struct usher_pool *pool)
{
    struct line_walk walk;
    uint64_t word;
    uint32_t row;
    uint32_t ticket;
    usher__line_begin(pool, &walk);
    return usher__line_next(pool, &walk, &row, &word, &ticket) ? row : CORE_NOBODY;
}

void usher__ready_called(struct usher_pool *pool, struct guest *guest)
{
    if (!usher__ready_matters(pool) || first_in_line(pool) != guest->row) {
        return;
    }
    if (look_for_it(&pool->rows[guest->row])) {
        guest->called_vain -= guest->called_vain > 0;
    } else {
        guest->called_vain += guest->called_vain < SPIN_VAIN;
    }
}

/*
 * For how long it stays is not asked of the clock: it is no longer than from the last time it got
 * in until it came again. Whoever comes again much later is taken for one that stays long, and does
 * not call; nor, but now and then, does one that was itself called in vain more often than not.
 */
bool usher__ready_calls(const struct usher_pool *pool, struct guest *guest, int64_t now)
{
    int64_t stayed = now - guest->got_in_ns;
    return usher__ready_matters(pool) && guest->got_in_ns != 0 && stayed >= CALL_LEAST_NS &&
           stayed < CALL_MOST_NS &&
           (guest->called_vain < SPIN_VAIN || ++guest->call_spared % SPIN_SELDOM == 0);
}

void usher__ready_call(struct usher_pool *pool)
{
    uint32_t row = first_in_line(pool);
    if (row == CORE_NOBODY) {
        return;
    }
    _Atomic uint32_t *watch = &pool->rows[row].watch;
    if ((atomic_load(watch) & (FORMAT_WAITS | FORMAT_CALLED)) == FORMAT_WAITS) {
        (void)atomic_fetch_or(watch, FORMAT_CALLED); /* before it wakes, and takes that back */
        (void)os_wake(&pool->rows[row].word, pool->shared);
    }
}
