/* Taking text apart: each call moves *at behind what it takes, and says whether it was there. */
#ifndef USHER_ZK_TEXT_H
#define USHER_ZK_TEXT_H

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* A decimal number of at most `most`. */
static inline bool take_number(const char **at, uint64_t most, uint64_t *number)
{
    char *end;
    if (!isdigit((unsigned char)**at)) { /* no sign, no space */
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
