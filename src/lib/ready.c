/*
 * Awake when the grant comes. Being woken on another processor can take longer than whoever is in
 * stays there; so, where there are processors to spare, whoever comes to an empty line looks for
 * its grant for a while before it sleeps.
 */
#include "lib/lib.h"

enum {
    SPIN_NS = 50 * 1000,
    SPIN_LOOKS = 1000, /* about as long as it takes to be woken */
    SPIN_VAIN = 4,     /* so often more in vain than not, and it is tried ... */
    SPIN_SELDOM = 64   /* ... once in so many times */
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
