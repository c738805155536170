/* Parse text. Each call moves *at behind what it accepts, and returns whether it was there. */
#ifndef USHER_ZK_TEXT_H
#define USHER_ZK_TEXT_H

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Parse a decimal number of at most `most`. */
static inline bool take_number(const char **at, uint64_t most, uint64_t *number)
{
    char *end;
    if (!isdigit((unsigned char)**at)) { /* refuse a sign or a space */
        return false;
    }
    errno = 0;
    *number = strtoull(*at, &end, 10);
    bool fits = errno == 0 && *number <= most;
    *at = end;
    return fits;
}

static inline bool take_character(const char **at, char expected)
{
    bool found = **at == expected;
    *at += found;
    return found;
}

#endif
