/* The lower bounds of 1979, and counting the values of the states q(i,j): see lower.h. */
#include "check/bounds/lower.h"

#include "check/explore/mix.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *check_theorem_name(enum check_theorem theorem)
{
    static const char *const names[CHECK_THEOREMS] = {"5.1", "5.2", "5.3"};
    return names[theorem];
}

const char *check_theorem_formula(enum check_theorem theorem)
{
    return theorem == CHECK_THEOREM_5_2 ? "k binom(n-k-1, 2)" : "k(n-k)";
}

uint64_t check_theorem_bound(enum check_theorem theorem, unsigned n, unsigned k)
{
    if (theorem == CHECK_THEOREM_5_2) {
        uint64_t m = n < k + 2 ? 0 : n - k - 1;
        return m == 0 ? 0 : k * (m * (m - 1) / 2);
    }
    return k < n ? (uint64_t)k * (n - k) : 0;
}

unsigned check_theorem_states(enum check_theorem theorem, unsigned n, unsigned k)
{
    unsigned more = theorem == CHECK_THEOREM_5_2 && n >= k + 2 ? n - k - 1 : 0;
    return (unsigned)check_theorem_bound(theorem, n, k) + more;
}

/* The values found, in a hash table that is at most half full. */
struct values {
    unsigned words;
    uint64_t *found; /* `words` of each state */
    struct check_place *places;
    unsigned *slots; /* 0, or 1 + the state with the value */
    size_t mask;
    struct check_lower *lower;
};

static int note_value(void *context, struct check_run *run, struct check_place place)
{
    struct values *values = context;
    struct check_lower *lower = values->lower;
    unsigned state = lower->states++;
    uint64_t *mine = values->found + (size_t)state * values->words;
    uint64_t hash = 0;
    values->places[state] = place;
    for (unsigned w = 0; w < values->words; w++) {
        mine[w] = atomic_load(&run->at.words[w]);
        hash = check_mix(hash ^ mine[w]);
    }
    size_t slot = hash & values->mask;
    for (; values->slots[slot] != 0; slot = (slot + 1) & values->mask) {
        unsigned other = values->slots[slot] - 1;
        const uint64_t *theirs = values->found + (size_t)other * values->words;
        if (memcmp(mine, theirs, values->words * sizeof *mine) == 0) {
            if (lower->distinct + 1 == lower->states) { /* all earlier ones differ */
                lower->same[0] = values->places[other];
                lower->same[1] = place;
            }
            return 0;
        }
    }
    values->slots[slot] = state + 1;
    lower->distinct++;
    return 0;
}

int check_lower_run(enum check_theorem theorem, const struct step_system *system,
                    struct check_lower *lower)
{
    size_t states = check_theorem_states(theorem, system->workers, system->k);
    size_t slots = 2;
    while (slots < 2 * states) {
        slots *= 2;
    }
    struct values values = {
        .words = system->shared_words,
        .found = malloc((states + 1) * system->shared_words * sizeof *values.found),
        .places = malloc((states + 1) * sizeof *values.places),
        .slots = calloc(slots, sizeof *values.slots),
        .mask = slots - 1,
        .lower = lower,
    };
    int error = -ENOMEM;
    memset(lower, 0, sizeof *lower);
    if (values.found != NULL && values.places != NULL && values.slots != NULL) {
        error = check_lower_walk(theorem, system, note_value, &values, &lower->executable);
    }
    free(values.found);
    free(values.places);
    free(values.slots);
    return error;
}
