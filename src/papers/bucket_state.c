/* The bucket algorithm's states: encoding, word sizes, invariant, bound. See bucket.h. */
#include "papers/bucket.h"

#include <stdio.h>
#include <string.h>

static unsigned width_of(unsigned most)
{
    unsigned width = 0;
    while (most >> width != 0) {
        width++;
    }
    return width;
}

/* The bits of each part of the supervisor's state. */
struct widths {
    unsigned place, length, color, count, maincount;
};

static struct widths widths_of(const struct supervised_size *size)
{
    return (struct widths){width_of(BUCKET_PLACES - 1), width_of(size->k), width_of(size->k + 2),
                           width_of(bucket_limit(size)), width_of(size->n)};
}

static unsigned put(unsigned char *bits, unsigned at, unsigned width, unsigned number)
{
    for (unsigned i = 0; i < width; i++) {
        bits[at + i] = number >> i & 1;
    }
    return at + width;
}

static uint8_t get(const unsigned char *bits, unsigned *at, unsigned width)
{
    unsigned number = 0;
    for (unsigned i = 0; i < width; i++) {
        number |= (unsigned)bits[(*at)++] << i;
    }
    return (uint8_t)number;
}

/* place, maincount, gatecount, length, then colour and count of each bucket on the queue. */
unsigned bucket_encode(const struct supervised_size *size, const void *supervisor,
                       unsigned char *bits)
{
    const struct bucket_supervisor *s = supervisor;
    struct widths w = widths_of(size);
    unsigned at = put(bits, 0, w.place, s->place);
    at = put(bits, at, w.maincount, s->maincount);
    at = put(bits, at, w.count, s->gatecount);
    at = put(bits, at, w.length, s->length);
    for (unsigned i = 0; i < s->length; i++) {
        at = put(bits, at, w.color, s->queue[i]);
        at = put(bits, at, w.count, s->count[i]);
    }
    return at;
}

void bucket_decode(const struct supervised_size *size, const unsigned char *bits, unsigned length,
                   void *supervisor)
{
    struct bucket_supervisor s = {0};
    struct widths w = widths_of(size);
    unsigned at = 0;
    (void)length;
    s.place = get(bits, &at, w.place);
    s.maincount = get(bits, &at, w.maincount);
    s.gatecount = get(bits, &at, w.count);
    s.length = get(bits, &at, w.length);
    for (unsigned i = 0; i < s.length; i++) {
        s.queue[i] = get(bits, &at, w.color);
        s.count[i] = get(bits, &at, w.count);
    }
    *(struct bucket_supervisor *)supervisor = s;
}

unsigned bucket_most_bits(const struct supervised_size *size)
{
    struct widths w = widths_of(size);
    return w.place + w.maincount + w.count + w.length + size->k * (w.color + w.count);
}

/* The state of each colour as value and supervisor determine it. */
struct expected {
    unsigned holders[BUCKET_COLORS];
    unsigned buckets[BUCKET_COLORS]; /* buckets of this colour: 0 or 1 */
    uint8_t elig[BUCKET_COLORS];
    unsigned enabled; /* enabled processes in all */
};

static void expect(struct expected *e, unsigned color, unsigned holders, uint8_t elig)
{
    e->holders[color] += holders;
    e->buckets[color]++;
    e->elig[color] = elig;
}

static struct expected expected_of(const struct bucket_value *v, const struct bucket_supervisor *s)
{
    struct expected e = {0};
    bool moved = s->place == BUCKET_AWAIT_MOVE && !v->move;
    unsigned in_main = s->place == BUCKET_FILL_MAIN ? 0U : s->maincount;
    expect(&e, v->buf, v->bufcount, SUPERVISED_HELPER);
    expect(&e, v->main, in_main - moved, SUPERVISED_HELPER);
    expect(&e, v->gate, s->gatecount + moved, SUPERVISED_HELPER);
    for (unsigned i = 0; i < s->length; i++) {
        uint8_t color = s->queue[i];
        bool drones = v->elig[color] == SUPERVISED_DRONE;
        expect(&e, color, s->count[i] + v->enb[color],
               drones || v->enb[color] != 0 ? SUPERVISED_DRONE : SUPERVISED_QUITTER);
        e.enabled += v->enb[color];
    }
    return e;
}

static const char *wrong_queue(const struct supervised_size *size, const struct bucket_value *v,
                               const struct bucket_supervisor *s)
{
    if (s->length > size->k) {
        return "the queue is longer than k";
    }
    if (s->gatecount > bucket_limit(size)) {
        return "the gate has too many processes";
    }
    for (unsigned i = 0; i < s->length; i++) {
        if (s->count[i] + v->enb[s->queue[i]] > bucket_limit(size)) {
            return "a bucket of the queue has too many processes";
        }
    }
    return v->move && s->place != BUCKET_AWAIT_MOVE
               ? "`move` is set, but the supervisor does not wait for a move"
               : NULL;
}

const char *bucket_wrong(const struct supervised_size *size, const void *value, const void *workers,
                         const void *supervisor)
{
    const struct bucket_value *v = value;
    const struct bucket_supervisor *s = supervisor;
    const struct bucket_worker *w = workers;
    struct expected e = expected_of(v, s);
    unsigned holders[BUCKET_COLORS] = {0};
    unsigned critical = 0;
    for (unsigned i = 0; i < size->n; i++) {
        holders[w[i].color] += w[i].region == STEP_TRYING;
        critical += w[i].region == STEP_CRITICAL;
    }
    if (v->cscount != critical || critical + e.enabled > size->k) {
        return "more than k processes are in C or enabled, or cscount is wrong";
    }
    for (unsigned c = 0; c < BUCKET_COLORS; c++) {
        if (e.buckets[c] > 1) {
            return "two buckets have the same colour";
        }
        if (holders[c] != e.holders[c]) {
            return "the count of a bucket is wrong";
        }
        if (e.buckets[c] == 1 && v->elig[c] != e.elig[c]) {
            return "a bucket has the wrong eligibility";
        }
    }
    return wrong_queue(size, v, s);
}

int bucket_print(const struct supervised_size *size, const void *value, char *out, size_t bytes)
{
    const struct bucket_value *v = value;
    char elig[BUCKET_COLORS + 1] = "";
    char enb[BUCKET_COLORS + 1] = "";
    for (unsigned c = 0; c < size->k + 3; c++) {
        elig[c] = "HQD"[v->elig[c]];
        enb[c] = "0123456789ABCDEF"[v->enb[c]];
    }
    return snprintf(out, bytes, "buf=%u:%u main=%u gate=%u move=%u elig=%s enb=%s C=%u", v->buf,
                    v->bufcount, v->main, v->gate, v->move, elig, enb, v->cscount);
}

/* All combinations of the ranges of the shared variables: N+1 times a function of k and r. */
double bucket_bound(const struct step_system *system)
{
    struct supervised_size size = supervised_size_of(system);
    double colors = size.k + 3;
    double enabled = 1 + (bucket_limit(&size) < size.k ? bucket_limit(&size) : size.k);
    double values = (size.n + 1.0) * 2 * (size.k + 1) * colors * (colors - 1) * (colors - 2);
    for (unsigned c = 0; c < size.k + 3; c++) {
        values *= 3 * enabled; /* elig and enb */
    }
    return values;
}

static unsigned bits(const struct step_system *system, unsigned word)
{
    struct supervised_size size = supervised_size_of(system);
    unsigned most = bucket_limit(&size) < size.k ? bucket_limit(&size) : size.k;
    unsigned first =
        word % 2 == 1 ? 0 : 8; /* elig is in words 1 and 2, enb in 3 and 4: one byte a colour */
    unsigned colors = size.k + 3 < first ? 0 : size.k + 3 - first;
    if (word == 0) {
        return 3 * width_of(size.k + 2) + 1 + width_of(size.n) + width_of(size.k);
    }
    return (colors < 8 ? colors : 8) * (word < 3 ? 2 : width_of(most));
}

const struct step_space bucket_space = {
    .bits = bits,
    .says = "O(N): N+1 times the values of the other variables (1979, Lemma 4.4)",
    .note = "The formula counts values; here each variable has whole bits.",
};
