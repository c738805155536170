/*
 * Awake when the grant comes. Being woken on another processor can take longer than whoever is in
 * stays there; so, where there are processors to spare, whoever comes to an empty line looks for
 * its grant for a while before it sleeps; and whoever leaves calls the next in line before its turn
 * (call.c).
 */
#include "pool/pool.h"
#include "wait/call.h"

enum {
    SPIN_NS = 50 * 1000,
    SPIN_LOOKS = 1000, /* about as long as it takes to be woken */
    SPIN_VAIN = 4,     /* so often more in vain than not, and it is tried ... */
    SPIN_SELDOM = 64,  /* ... once in so many times */
    SOON = 2,          /* waits in a row that were over soon: it comes again and again */
    SOON_NS = 60 * 1000 * 1000
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

/* The first in line, if it stands in the first place; CORE_NOBODY: it does not. */
static uint32_t first_in_line(struct usher_pool *pool)
{
    struct core_line_walk walk;
    uint64_t word;
    uint32_t row;
    uint32_t ticket;
    usher__line_begin(pool, &walk);
    if (core_ticket_after(walk.at, walk.last) > 0) {
        return CORE_NOBODY;
    }
    walk.last = walk.at; /* however many have given up behind it */
    return usher__line_next(pool, &walk, &row, &word, &ticket) ? row : CORE_NOBODY;
}

void usher__ready_waited(struct guest *guest, int64_t waited_ns)
{
    uint8_t soon = guest->soon < SOON ? guest->soon + 1 : SOON;
    guest->soon = waited_ns < SOON_NS ? soon : 0;
}

bool usher__ready_often(const struct guest *guest)
{
    return guest->soon >= SOON;
}

/* Only who comes again and again calls: otherwise there is one wake-up a seat given back, and each
   is a grant. */
void usher__ready_call(struct usher_pool *pool, struct guest *guest)
{
    if (!usher__ready_often(guest) ||
        !usher__call_pays(usher__seats(pool), usher__line_ahead(pool), &pool->header->vain_calls,
                          &guest->calls_spared)) {
        return;
    }
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

void usher__ready_called(struct usher_pool *pool, const struct turn *turn)
{
    usher__call_learn(&pool->header->vain_calls, turn != NULL && usher__give_way(turn));
}
