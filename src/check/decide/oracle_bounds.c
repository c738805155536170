/*
 * Overtakings and entries during one try, for any schedule and for prompt ones, by brute force: try
 * longer and longer runs until the count stops growing, or exceeds that of any run without a loop.
 * See oracle.h.
 */
#include "check/decide/oracle.h"

#include <string.h>

/* The tries of i: the states they reach, and the counts from there on. */
struct tries {
    unsigned i;
    bool prompt;
    bool in[ORACLE_STATES];                          /* a try reaches the state */
    int64_t overtakings[ORACLE_STATES][ORACLE_SETS]; /* for each set of the fresh */
    int64_t entries[ORACLE_STATES];
};

/* May p step in this state of a try? In a prompt try others step only while i rests. */
static bool may_step(const struct oracle *o, const struct tries *t, uint32_t s, unsigned p)
{
    return !t->prompt || p == t->i || oracle_has(o->at[s].rests, t->i);
}

static void find_tries(const struct oracle *o, struct tries *t)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t s = 0; s < o->states; s++) {
            bool begins = oracle_has(o->at[s].in[STEP_REMAINDER], t->i);
            for (unsigned p = 0; p < o->n; p++) {
                uint32_t to = o->at[s].next[p];
                bool leads = (begins && p == t->i) || (t->in[s] && may_step(o, t, s, p));
                if (leads && oracle_has(o->at[to].in[STEP_TRYING], t->i) && !t->in[to]) {
                    t->in[to] = true;
                    changed = true;
                }
            }
        }
    }
}

/* Extend runs from a state in which i is T-waiting by one step. True if a count rises. */
static bool overtake_further(const struct oracle *o, struct tries *t, uint32_t s, unsigned fresh)
{
    const struct oracle_state *q = &o->at[s];
    int64_t before = t->overtakings[s][fresh];
    for (unsigned p = 0; p < o->n; p++) {
        const struct oracle_state *then = &o->at[q->next[p]];
        if (!may_step(o, t, s, p) || !oracle_has(then->t_waiting, t->i)) {
            continue;
        }
        unsigned passing = fresh & then->c_enabled & ~then->in[STEP_REMAINDER] & ~(1U << t->i);
        unsigned still_fresh = (fresh & ~passing) | then->in[STEP_REMAINDER];
        int64_t count = oracle_size(passing) + t->overtakings[q->next[p]][still_fresh];
        if (count > t->overtakings[s][fresh]) {
            t->overtakings[s][fresh] = count;
        }
    }
    return t->overtakings[s][fresh] > before;
}

static bool enter_further(const struct oracle *o, struct tries *t, uint32_t s)
{
    int64_t before = t->entries[s];
    for (unsigned p = 0; p < o->n; p++) {
        uint32_t to = o->at[s].next[p];
        int64_t after = oracle_has(o->at[to].in[STEP_TRYING], t->i) ? t->entries[to] : 0;
        int64_t count = (p != t->i && oracle_enters(o, s, p)) + after;
        if (may_step(o, t, s, p) && count > t->entries[s]) {
            t->entries[s] = count;
        }
    }
    return t->entries[s] > before;
}

static int64_t most_overtakings(const struct oracle *o, struct tries *t)
{
    int64_t limit = (int64_t)o->states * o->n;
    int64_t best = 0;
    bool changed = true;
    while (changed && best <= limit) {
        changed = false;
        for (uint32_t s = 0; s < o->states; s++) {
            bool waits = t->in[s] && oracle_has(o->at[s].t_waiting, t->i);
            for (unsigned fresh = 0; fresh < 1U << o->n && waits; fresh++) {
                changed = overtake_further(o, t, s, fresh) || changed;
            }
            int64_t here = waits ? t->overtakings[s][o->at[s].in[STEP_REMAINDER]] : 0;
            best = here > best ? here : best;
        }
    }
    return best <= limit ? best : CHECK_UNBOUNDED;
}

static int64_t most_entries(const struct oracle *o, struct tries *t)
{
    int64_t limit = o->states;
    int64_t best = 0;
    bool changed = true;
    while (changed && best <= limit) {
        changed = false;
        for (uint32_t s = 0; s < o->states; s++) {
            changed = (t->in[s] && enter_further(o, t, s)) || changed;
            best = t->entries[s] > best ? t->entries[s] : best;
        }
    }
    return best <= limit ? best : CHECK_UNBOUNDED;
}

static void keep_more(int64_t *kept, int64_t count)
{
    if (*kept != CHECK_UNBOUNDED && (count == CHECK_UNBOUNDED || count > *kept)) {
        *kept = count;
    }
}

void oracle_decide_overtakings(struct oracle *o)
{
    static struct tries tries;
    for (unsigned node = 0; node < 2 * o->n; node++) {
        bool prompt = node & 1;
        enum step_property property = prompt ? STEP_PROMPT : STEP_OVERTAKINGS;
        memset(&tries, 0, sizeof tries);
        tries.i = node / 2;
        tries.prompt = prompt;
        find_tries(o, &tries);
        keep_more(&o->bounds[property], most_overtakings(o, &tries));
        keep_more(&o->entries[property], most_entries(o, &tries));
    }
    o->holds[STEP_OVERTAKINGS] = o->bounds[STEP_OVERTAKINGS] != CHECK_UNBOUNDED;
    o->holds[STEP_PROMPT] = o->bounds[STEP_PROMPT] != CHECK_UNBOUNDED;
}
