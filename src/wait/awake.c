/* Staying awake before sleeping: see wait.h. */
#include "os/os.h"
#include "wait/wait.h"

enum {
    /* Two wake-ups on a processor that sleeps (13 to 50 us each here), and some time inside. */
    WAIT_AWAKE_NS = 100 * 1000,
    WAIT_REST = 64 /* attempts in vain take at most 1/64 of the time: 2 % */
};

void usher__wait_ended(struct wait_memory *memory, int64_t took_ns)
{
    memory->last_ns = took_ns > 0 ? took_ns : 1;
}

bool usher__wait_awake(const struct wait_turn *turn, struct wait_memory *memory, int64_t now_ns)
{
#ifdef WAIT_WITHOUT_YIELD
    return false;
#endif
    if (memory->last_ns == 0 || memory->last_ns >= WAIT_AWAKE_NS ||
        now_ns < memory->rest_until_ns) {
        return false;
    }
    int64_t now = now_ns;
    bool come = false;
    while (!come && now - now_ns < WAIT_AWAKE_NS) {
        os_yield();
        now = os_now_ns();
        come = turn->has_come(turn->context);
    }
    /* In vain too if another process kept the processor while the turn came. */
    if (now - now_ns >= WAIT_AWAKE_NS) {
        memory->rest_until_ns = now + WAIT_REST * (now - now_ns);
    }
    return come;
}
