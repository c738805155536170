/*
 * The lease of a seat of a remote pool. The servers grant the seat to another process when they
 * have not heard from us for the session time. The command must end before that: it gets SIGTERM in
 * the last third of the lease, and SIGKILL at its end.
 */
#include "cli/cli.h"

#include <signal.h>
#include <string.h>

enum { GRACE = 3 }; /* SIGTERM is sent when 1/GRACE of a full lease is left */

bool cli_is_remote(const char *pool)
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

int64_t cli_lease_enforce(struct cli_lease *lease, pid_t child)
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
                           "pool %s: the seat is lost: the servers do not answer; the command "
                           "keeps running",
                           lease->wait->pool_name);
        }
        return lease->lost ? 3600 * second : now.left_ns;
    }
    if (now.left_ns <= lease->grace_ns && !lease->lost) {
        lease->lost = true;
        (void)cli_fail(CLI_LOST,
                       "pool %s: the seat will be lost: the servers do not answer; ending the "
                       "command",
                       lease->wait->pool_name);
        (void)kill(child, SIGTERM);
        (void)kill(child, SIGCONT); /* a stopped command would not see SIGTERM */
    }
    if (now.left_ns <= 0) {
        (void)kill(child, SIGKILL);
        return second;
    }
    return lease->lost ? now.left_ns : now.left_ns - lease->grace_ns;
}
