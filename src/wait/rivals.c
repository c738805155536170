/*
 * Stepping aside for a moment. Those who come at the same time take a word from each other: whoever
 * loses has fetched it from another processor in vain, and so it goes back and forth. Where they
 * stay for next to no time, nearly all of theirs goes into that. If instead one of them steps
 * aside, the other comes and goes many times on words that stay where they are; then it is the
 * first one's turn.
 *
 * It pays only there: where one loses often. And whether it does is found out by trying: were there
 * many who came, while one was aside? If not, it is tried now and then. Nobody who steps aside has
 * a ticket: the order is that of the tickets, as ever, and nobody is kept waiting.
 */
#include "wait/rivals.h"

#include "os/os.h"

enum {
    ASIDE_NS = 1600,    /* a hundred entries of one that is not disturbed */
    ASIDE_PAYS = 16,    /* so many of them, or more */
    ASIDE_VAIN = 4,     /* so often in vain, and it is tried ... */
    ASIDE_SELDOM = 256, /* ... once in so many times */
    OFTEN = 64,         /* who lost twice within fewer tickets than this does so often */
    LOOKS = 8           /* between two looks at the clock */
};

/* Another was faster in that line, when `last` was the last ticket. Who loses but seldom has
   nothing to gain. */
static bool may_pay(struct rival *rival, const void *line, uint32_t last)
{
    bool often = rival->lost_in == line && last - rival->lost_at < OFTEN;
    rival->lost_in = line;
    rival->lost_at = last;
    if (!often && !rival->paid) {
        return false;
    }
    return rival->vain < ASIDE_VAIN || ++rival->spared % ASIDE_SELDOM == 0;
}

bool usher__rivals_aside(struct rival *rival, bool lost, uint32_t (*issued)(const void *line),
                         const void *line)
{
    if (!lost && !rival->paid) {
        return false;
    }
    uint32_t before = issued(line);
    if (lost && !may_pay(rival, line, before)) {
        return false;
    }
    int64_t end = os_now_ns() + ASIDE_NS;
    do {
        for (unsigned look = 0; look < LOOKS; look++) {
            os_relax();
        }
    } while (os_now_ns() < end);
    rival->paid = issued(line) - before >= ASIDE_PAYS;
    rival->vain += rival->vain < ASIDE_VAIN;
    rival->vain = rival->paid ? 0 : rival->vain;
    return true;
}
