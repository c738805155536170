/* What the environment says: see settings.h. */
#include "zk/settings.h"

#include "zk/text.h"

#include <string.h>

enum { DEFAULT_TIMEOUT_MS = 15000, LEAST_TIMEOUT_MS = 100, MOST_TIMEOUT_MS = 3600000 };
/* So many are left for those who come while it is renewed. */
enum { RENEWED_AT = INT32_MAX - (1 << 24) + 1 };

/* NULL if it is empty, too. */
static const char *said(const char *variable)
{
    const char *value = secure_getenv(variable);
    return value == NULL || value[0] == '\0' ? NULL : value;
}

static bool session_time(int *ms)
{
    const char *at = said("USHER_ZK_TIMEOUT");
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

int zk_settings(struct zk_way *way, uint32_t *renewed_at)
{
    const char *renew = said("USHER_ZK_RENEW");
    uint64_t number = RENEWED_AT;
    way->auth = said("USHER_ZK_AUTH");
    way->tls = said("USHER_ZK_TLS");
    const char *colon = way->auth == NULL ? NULL : strchr(way->auth, ':');
    bool known = session_time(&way->timeout_ms) &&
                 (way->auth == NULL || (colon != NULL && colon > way->auth && colon[1] != '\0')) &&
                 (renew == NULL || (take_number(&renew, RENEWED_AT, &number) && *renew == '\0'));
    *renewed_at = (uint32_t)number;
    return known ? 0 : -EINVAL;
}
