/*
 * Backing off before a ticket is taken. Guests that come at the same time on different processors
 * take the ticket word from each other: the loser of each compare-and-swap has fetched the cache
 * line in vain. Where holders stay for next to no time, most of the time goes into that. If one of
 * two guests backs off for a moment, the other enters and leaves many times on words that stay in
 * its cache.
 *
 * A guest backs off if it lost two races within BACKOFF_OFTEN tickets. A back-off has paid if
 * others took BACKOFF_PAYS tickets meanwhile; after BACKOFF_VAIN that did not pay, only one race in
 * BACKOFF_SELDOM is followed by one. A guest that backs off has no ticket yet: nobody waits for it.
 */
#include "os/os.h"
#include "wait/wait.h"

enum {
    BACKOFF_NS = 1600,    /* a hundred undisturbed entries */
    BACKOFF_PAYS = 16,    /* tickets: the word moved between processors at most once for these */
    BACKOFF_VAIN = 4,     /* back-offs that tell chance from a pattern */
    BACKOFF_SELDOM = 256, /* a try every 256 lost races costs less than 1 % */
    BACKOFF_OFTEN = 64,   /* tickets between two lost races: at most this many to matter */
    BACKOFF_PAUSES = 8    /* between two readings of the clock */
};

/* The guest lost a race when `last` was the last ticket. */
static bool may_pay(struct backoff *backoff, const void *line, uint32_t last)
{
    bool often = backoff->lost_in == line && last - backoff->lost_at < BACKOFF_OFTEN;
    backoff->lost_in = line;
    backoff->lost_at = last;
    if (!often && !backoff->paid) {
        return false;
    }
    return backoff->vain < BACKOFF_VAIN || ++backoff->skipped % BACKOFF_SELDOM == 0;
}

bool usher__backoff(struct backoff *backoff, bool lost, uint32_t (*issued)(const void *line),
                    const void *line)
{
#ifdef WAIT_WITHOUT_BACKOFF
    return false;
#endif
    if (!lost && !backoff->paid) {
        return false;
    }
    uint32_t before = issued(line);
    if (lost && !may_pay(backoff, line, before)) {
        return false;
    }
    int64_t end = os_now_ns() + BACKOFF_NS;
    do {
        for (unsigned pause = 0; pause < BACKOFF_PAUSES; pause++) {
            os_relax();
        }
    } while (os_now_ns() < end);
    backoff->paid = issued(line) - before >= BACKOFF_PAYS;
    backoff->vain += backoff->vain < BACKOFF_VAIN;
    backoff->vain = backoff->paid ? 0 : backoff->vain;
    return true;
}
