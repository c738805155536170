/* Settings from the environment. settings.h is the contract. */
#include "zk/settings.h"

#include "zk/text.h"

#include <string.h>

enum { DEFAULT_TIMEOUT_MS = 15000, LEAST_TIMEOUT_MS = 100, MOST_TIMEOUT_MS = 3600000 };
/* Leaves 2^24 numbers for tickets that are created while the roll is renewed. */
enum { RENEWED_AT = INT32_MAX - (1 << 24) + 1 };

/* Return NULL if the variable is unset or empty. */
static const char *nonempty_variable(const char *variable)
{
    const char *value = secure_getenv(variable);
    return value == NULL || value[0] == '\0' ? NULL : value;
}

static bool session_time(int *ms)
{
    const char *at = nonempty_variable("USHER_ZK_TIMEOUT");
    uint64_t number;
    *ms = DEFAULT_TIMEOUT_MS;
    if (at == NULL) {
        return true;
    }
    if (!take_number(&at, MOST_TIMEOUT_MS, &number)) {
        return false;
    }
    bool in_ms = strcmp(at, "ms") == 0;
    number *= in_ms ? 1 : 1000;
    *ms = (int)number;
    return (in_ms || *at == '\0' || strcmp(at, "s") == 0) && number >= LEAST_TIMEOUT_MS &&
           number <= MOST_TIMEOUT_MS;
}

int zk_read_settings(struct zk_connect_options *options, uint32_t *renewed_at)
{
    const char *renew = nonempty_variable("USHER_ZK_RENEW");
    uint64_t number = RENEWED_AT;
    options->auth = nonempty_variable("USHER_ZK_AUTH");
    options->tls = nonempty_variable("USHER_ZK_TLS");
    const char *colon = options->auth == NULL ? NULL : strchr(options->auth, ':');
    bool known =
        session_time(&options->timeout_ms) &&
        (options->auth == NULL || (colon != NULL && colon > options->auth && colon[1] != '\0')) &&
        (renew == NULL || (take_number(&renew, RENEWED_AT, &number) && *renew == '\0'));
    *renewed_at = (uint32_t)number;
    return known ? 0 : -EINVAL;
}
