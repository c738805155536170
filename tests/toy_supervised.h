/*
 * A small system with a supervisor, for tests of constructions on one: k seats, assigned in turn.
 * The supervisor visits the workers in a cycle. It makes up to k helpers quit, and enables a
 * quitter when it finds a free seat.
 *
 * At most k processes in T do not help, so c1 = k + 2r-2. An encoding is the turn, and a bit for
 * each quitter that is not enabled: lengths differ. The toy promises C1 and C2; a worker may be
 * passed over for ever.
 */
#ifndef TOY_SUPERVISED_H
#define TOY_SUPERVISED_H

#include "papers/supervised.h"

#include <stdio.h>
#include <string.h>

enum { TOY_MOST = 8 };

/* size.variant: the supervisor waits until there is no quitter, and then makes k quit at once. */
enum { TOY_AT_ONCE = 1 };

enum toy_class { TOY_AWAY, TOY_HELPS, TOY_QUITS, TOY_ENABLED, TOY_SEATED };

struct toy_value {
    uint8_t class[TOY_MOST];
};

struct toy_worker {
    uint8_t region, me;
    uint8_t unused[6];
};

struct toy_supervisor {
    uint8_t turn, quitters;
    uint8_t unused[6];
};

static int toy_prepare(const struct supervised_size *size, char why[STEP_WHY_BYTES])
{
    (void)snprintf(why, STEP_WHY_BYTES, "n must be up to %d", TOY_MOST);
    return size->n <= TOY_MOST ? 0 : -1;
}

static void toy_init(const struct supervised_size *size, void *value, void *supervisor)
{
    ((struct toy_supervisor *)supervisor)->turn = (uint8_t)(size->n - 1);
    memset(value, TOY_AWAY, sizeof(struct toy_value));
}

static void toy_work(const struct supervised_size *size, void *value, void *worker,
                     unsigned process)
{
    struct toy_value *v = value;
    struct toy_worker *w = worker;
    (void)size;
    if (w->region == STEP_REMAINDER) {
        *w = (struct toy_worker){.region = STEP_TRYING, .me = (uint8_t)process};
        v->class[process] = TOY_HELPS;
    } else if (w->region == STEP_CRITICAL) {
        memset(w, 0, sizeof *w);
        v->class[process] = TOY_AWAY;
    } else if (v->class[process] == TOY_ENABLED) {
        w->region = STEP_CRITICAL;
        v->class[process] = TOY_SEATED;
    }
}

static enum step_region toy_region(const struct supervised_size *size, const void *worker)
{
    (void)size;
    return (enum step_region)((const struct toy_worker *)worker)->region;
}

static unsigned toy_count(const struct supervised_size *size, const void *value,
                          enum toy_class from, enum toy_class to)
{
    const struct toy_value *v = value;
    unsigned count = 0;
    for (unsigned i = 0; i < size->n; i++) {
        count += v->class[i] >= from && v->class[i] <= to;
    }
    return count;
}

/* TOY_MAKES_QUIT + i: i+1 workers quit. */
enum toy_transition { TOY_GOES_ON, TOY_ENABLES, TOY_MAKES_QUIT };

/* Make the workers quit whose turn it is. Return their number. */
static unsigned toy_make_quit(const struct supervised_size *size, struct toy_value *v,
                              const struct toy_supervisor *x)
{
    bool at_once = size->variant == TOY_AT_ONCE;
    unsigned busy = x->quitters + toy_count(size, v, TOY_ENABLED, TOY_ENABLED);
    unsigned most = !at_once ? busy < size->k : busy == 0 ? size->k : 0;
    unsigned quit = 0;
    for (unsigned i = 0; quit < most && i < (at_once ? size->n : 1); i++) {
        uint8_t *class = &v->class[(x->turn + i) % size->n];
        quit += *class == TOY_HELPS;
        *class = *class == TOY_HELPS ? TOY_QUITS : *class;
    }
    return quit;
}

static unsigned toy_transition(const struct supervised_size *size, void *value,
                               const void *supervisor)
{
    struct toy_value *v = value;
    const struct toy_supervisor *x = supervisor;
    uint8_t *class = &v->class[x->turn];
    if (*class == TOY_QUITS && toy_count(size, v, TOY_ENABLED, TOY_SEATED) < size->k) {
        *class = TOY_ENABLED;
        return TOY_ENABLES;
    }
    unsigned quit = toy_make_quit(size, v, x);
    return quit == 0 ? TOY_GOES_ON : TOY_MAKES_QUIT + quit - 1;
}

static void toy_follow(const struct supervised_size *size, void *supervisor, unsigned transition)
{
    struct toy_supervisor *x = supervisor;
    unsigned quit = transition >= TOY_MAKES_QUIT ? transition - TOY_MAKES_QUIT + 1 : 0;
    unsigned less = transition == TOY_ENABLES;
    x->quitters = (uint8_t)((x->quitters + quit - less) & 7); /* & 7: for broken machines */
    x->turn = (uint8_t)((x->turn + 1U) % size->n);
}

static unsigned toy_transitions(const struct supervised_size *size, const void *supervisor)
{
    (void)supervisor;
    return TOY_MAKES_QUIT + size->k;
}

static enum supervised_eligibility toy_eligibility(const struct supervised_size *size,
                                                   const void *value, const void *worker)
{
    const struct toy_value *v = value;
    const struct toy_worker *w = worker;
    (void)size;
    unsigned class = w->region == STEP_TRYING ? v->class[w->me] : TOY_AWAY;
    return class == TOY_HELPS   ? SUPERVISED_HELPER
           : class == TOY_QUITS ? SUPERVISED_QUITTER
                                : SUPERVISED_DRONE;
}

static unsigned toy_active(const struct supervised_size *size, const void *value,
                           const void *supervisor)
{
    (void)supervisor;
    return toy_count(size, value, TOY_HELPS, TOY_ENABLED);
}

static unsigned toy_threshold(const struct supervised_size *size)
{
    return size->k + 2 * size->r - 2;
}

static unsigned toy_turn_bits(const struct supervised_size *size)
{
    return size->n > 4 ? 3 : size->n > 2 ? 2 : 1;
}

static unsigned toy_encode(const struct supervised_size *size, const void *supervisor,
                           unsigned char *bits)
{
    const struct toy_supervisor *x = supervisor;
    unsigned length = toy_turn_bits(size);
    for (unsigned i = 0; i < length; i++) {
        bits[i] = x->turn >> i & 1;
    }
    for (unsigned i = 0; i < x->quitters; i++) {
        bits[length++] = 1;
    }
    return length;
}

static void toy_decode(const struct supervised_size *size, const unsigned char *bits,
                       unsigned length, void *supervisor)
{
    struct toy_supervisor *x = supervisor;
    unsigned turn_bits = toy_turn_bits(size);
    unsigned turn = 0;
    for (unsigned i = 0; i < turn_bits && i < length; i++) {
        turn |= (unsigned)bits[i] << i;
    }
    memset(x, 0, sizeof *x);
    x->turn = (uint8_t)(turn % size->n);
    x->quitters = (uint8_t)(length > turn_bits ? length - turn_bits : 0);
}

static unsigned toy_most_bits(const struct supervised_size *size)
{
    return toy_turn_bits(size) + 7;
}

static int toy_print(const struct supervised_size *size, const void *value, char *out, size_t bytes)
{
    const struct toy_value *v = value;
    char classes[TOY_MOST + 1] = "";
    for (unsigned i = 0; i < size->n; i++) {
        classes[i] = ".hqec"[v->class[i]];
    }
    return snprintf(out, bytes, "%s", classes);
}

static const struct supervised toy = {
    .prepare = toy_prepare,
    .value_bytes = sizeof(struct toy_value),
    .worker_bytes = sizeof(struct toy_worker),
    .supervisor_bytes = sizeof(struct toy_supervisor),
    .claims = STEP_CLAIM(STEP_EXCLUSION) | STEP_CLAIM(STEP_C1) | STEP_CLAIM(STEP_C2),
    .init = toy_init,
    .work = toy_work,
    .region = toy_region,
    .transition = toy_transition,
    .follow = toy_follow,
    .transitions = toy_transitions,
    .eligibility = toy_eligibility,
    .active = toy_active,
    .threshold = toy_threshold,
    .encode = toy_encode,
    .decode = toy_decode,
    .most_bits = toy_most_bits,
    .print = toy_print,
};

#endif
