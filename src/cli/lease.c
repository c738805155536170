/*
 * Minding a seat that can be lost: one of a pool on ZooKeeper, whose servers give it on when they
 * have not heard from us for too long. The command must have ended before that, so it is told to
 * (SIGTERM) when time runs short, and killed when it is over.
 */
#include "cli/cli.h"

#include <signal.h>
#include <string.h>

enum { GRACE = 3 }; /* the last third of the time there is at best is for the command to end in */

bool cli_is_elsewhere(const char *pool)
{
    return strncmp(pool, "zk://", 5) == 0;
}

void cli_lease_begin(struct cli_lease *lease, const struct cli_wait *wait,
                     const struct usher_seat *seat)
{
    struct usher_lease now;
    *lease = (struct cli_lease){.wait = wait, .seat = seat};
    int error = usher_check(wait->pool, seat, &now);
    lease->grace_ns = error == 0 ? now.left_ns / GRACE : 0;
}

int64_t cli_lease_mind(struct cli_lease *lease, pid_t child)
{
    const int64_t second = 1000000000;
    struct usher_lease now = {.left_ns = 0};
    if (usher_check(lease->wait->pool, lease->seat, &now) != 0) {
        now.left_ns = 0;
    }
    if (lease->wait->options->warn_only) {
        if (now.left_ns <= 0 && !lease->lost) {
            lease->lost = true;
            (void)cli_fail(CLI_LOST,
                           "pool %s: the seat is lost: its servers do not answer; the "
                           "command runs on",
                           lease->wait->pool_name);
        }
        return lease->lost ? 3600 * second : now.left_ns;
    }
    if (now.left_ns <= lease->grace_ns && !lease->lost) {
        lease->lost = true;
        (void)cli_fail(CLI_LOST,
                       "pool %s: its servers do not answer, and the seat will be lost; "
                       "ending the command",
                       lease->wait->pool_name);
        (void)kill(child, SIGTERM);
        (void)kill(child, SIGCONT); /* it may be stopped */
    }
    if (now.left_ns <= 0) {
        (void)kill(child, SIGKILL);
        return second;
    }
    return lease->lost ? now.left_ns : now.left_ns - lease->grace_ns;
}
