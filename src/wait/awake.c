/* Staying awake before sleeping: see wait.h. */
#include "os/os.h"
#include "wait/wait.h"

enum {
    /* Two wake-ups on a processor that sleeps (13 to 50 us each here), and some time inside. */
    WAIT_AWAKE_NS = 100 * 1000,
    /* What 64 processes take for one turn each at 8 seats, asleep; less than holders that sleep. */
    WAIT_SHORT_NS = 300 * 1000,
    /* A third of the time that a computing process may keep a processor. */
    WAIT_LATE_NS = 1000 * 1000,
    WAIT_REST = 64 /* attempts in vain take at most 1/64 of a waiter's time: 2 % */
};

void usher__wait_ended(struct wait_memory *memory, int64_t took_ns)
{
    memory->last_ns = took_ns > 0 ? took_ns : 1;
}

/* Yield until the turn comes, for `most_ns` at most. *now is the time when it ends. */
static bool yield_for(const struct wait_turn *turn, int64_t most_ns, int64_t *now)
{
    const int64_t began = *now;
    bool come;
    do {
        os_yield();
        *now = os_now_ns();
        come = turn->has_come(turn->context);
    } while (!come && *now - began < most_ns);
    return come;
}

bool usher__wait_awake(const struct wait_turn *turn, struct wait_memory *memory, uint32_t seats,
                       int64_t now_ns)
{
#ifdef WAIT_WITHOUT_YIELD
    return false;
#endif
    const uint32_t processors = os_processors();
    const bool fewer = seats < processors;
    if (memory->last_ns == 0 || memory->last_ns >= (fewer ? WAIT_AWAKE_NS : WAIT_SHORT_NS) ||
        now_ns < memory->rest_until_ns || seats == processors) {
        return false;
    }
    int64_t now = now_ns;
    bool come = yield_for(turn, fewer ? WAIT_AWAKE_NS : 0, &now);
    /* In vain, too, if another process kept the processor while the turn came. */
    if (now - now_ns >= (fewer ? WAIT_AWAKE_NS : WAIT_LATE_NS)) {
        memory->rest_until_ns = now + WAIT_REST * (now - now_ns);
    }
    return come;
}
