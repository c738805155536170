/* usher top: not yet. */
#include "cli/cli.h"
static int top(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return cli_fail(CLI_USAGE, "top is not there yet");
}
const struct cli_verb cli_top = {"top", "top [POOL..]", "a live view of pools", "", top};
