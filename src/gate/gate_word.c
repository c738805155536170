/* The gate's operations, with all that the quick ways leave out: see gate.h. */
#include "gate/gate_word.h"

/* c, and whether a shape is possible: q is 2k-2 where the sum of the three matters, from 5 on. */
#define C(k) ((k) > 7 ? 4 : (k) > 3 ? 3 : (k) > 1 ? 2 : 1)
#define FITS(b, k) ((k) >= 1 && (b) >= C(k) && (b) + C(k) <= 23 && (b) + C(k) + 2 * (k) <= 34)
#define MASK(b, k) (FITS(b, k) ? (1U << (FITS(b, k) ? (b) + C(k) : 0)) - 1 : 0)
#define MASKS(b)                                                                                   \
    MASK(b, 0), MASK(b, 1), MASK(b, 2), MASK(b, 3), MASK(b, 4), MASK(b, 5), MASK(b, 6),            \
        MASK(b, 7), MASK(b, 8), MASK(b, 9), MASK(b, 10), MASK(b, 11), MASK(b, 12), MASK(b, 13),    \
        MASK(b, 14), MASK(b, 15)

const uint32_t gate__masks[GATE_SHAPES] = {
    MASKS(0),  MASKS(1),  MASKS(2),  MASKS(3),  MASKS(4),  MASKS(5),  MASKS(6),  MASKS(7),
    MASKS(8),  MASKS(9),  MASKS(10), MASKS(11), MASKS(12), MASKS(13), MASKS(14), MASKS(15),
    MASKS(16), MASKS(17), MASKS(18), MASKS(19), MASKS(20), MASKS(21), MASKS(22), MASKS(23),
    MASKS(24), MASKS(25), MASKS(26), MASKS(27), MASKS(28), MASKS(29), MASKS(30), MASKS(31),
};

/* The shape of a word that keeps the rules beside gate.h's picture; false for any other. */
static bool shape_of(uint64_t word, struct colored_shape *s)
{
    struct gate_view v = gate_view(word);
    if (v.mask == 0) {
        return false;
    }
    *s = (struct colored_shape){.n = v.seats + (1U << v.bits) - 1,
                                .k = v.seats,
                                .m = 1U << v.bits,
                                .value_bits = (uint8_t)v.bits,
                                .color_bits = (uint8_t)C(v.seats),
                                .quant_bits = (uint8_t)(32 - v.bits - (unsigned)C(v.seats))};
    return v.issue >> v.bits <= v.seats && v.valid >> v.bits <= v.seats &&
           colored_quant(s, word) < quant_rows(v.seats);
}

static struct gate_step refused(uint64_t word, int error)
{
    return (struct gate_step){.word = word, .result = error};
}

/* How far a is ahead of b, if it leads. */
static uint32_t ahead(const struct colored_shape *s, uint32_t a, uint32_t b)
{
    return (a - b) & (s->m - 1);
}

unsigned gate_least_bits(uint32_t guests, uint32_t seats)
{
    unsigned bits = 1;
    while (bits < 32 && 1ULL << bits < colored_paper_m(guests, seats)) {
        bits++;
    }
    return bits;
}

int gate_start(uint64_t *word, uint32_t guests, uint32_t seats, unsigned value_bits)
{
    struct colored_shape s;
    unsigned bits = value_bits == 0 ? 31 : value_bits;
    if (guests < 1 || seats < 1) {
        return -EINVAL;
    }
    if (seats > GATE_MOST_SEATS || bits > 31) {
        return -ERANGE;
    }
    while (value_bits == 0 && bits > 0 && gate__masks[bits << 4 | seats] == 0) {
        bits--;
    }
    if (gate__masks[bits << 4 | seats] == 0 || bits < gate_least_bits(guests, seats) ||
        colored_shape_with(&s, guests, seats, 1U << bits) != 0) {
        return -ERANGE;
    }
    *word =
        colored_start(&s) | (uint64_t)seats << GATE_SEATS_SHIFT | (uint64_t)bits << GATE_BITS_SHIFT;
    return 0;
}

uint32_t gate_room(uint64_t word)
{
    struct colored_shape s;
    return shape_of(word, &s) ? s.n : 0;
}

struct gate_step gate_take(uint64_t word, unsigned broken)
{
    struct colored_shape s;
    struct gate_step step;
    if (gate_quick_take(word, gate_mask(word), &step, broken)) {
        return step;
    }
    if (!shape_of(word, &s)) {
        return refused(word, -EINVAL);
    }
    uint32_t issue = colored_issue(&s, word);
    uint32_t valid = colored_valid(&s, word);
    if (colored_leads(&s, issue, valid, 0) && ahead(&s, issue, valid) == s.m - 1 &&
        !(broken & GATE_ROOM)) {
        return refused(word, -EUSERS);
    }
    step = (struct gate_step){.word = colored_take(&s, word, 0)};
    step.ticket = colored_issue(&s, step.word);
    step.result = !colored_is_valid(&s, step.word, step.ticket, 0);
    return step;
}

struct gate_step gate_try(uint64_t word, unsigned broken)
{
    struct gate_step step = gate_take(word, broken);
    if (step.result == 1 && (broken & GATE_TRY_VALID)) {
        step.result = 0;
    }
    /* that there is no room, either, is one more way of not being let in at once */
    return step.result == 1 || step.result == -EUSERS ? refused(word, -EAGAIN) : step;
}

int gate_is_valid(uint64_t word, uint32_t ticket)
{
    struct colored_shape s;
    return shape_of(word, &s) ? colored_is_valid(&s, word, ticket, 0) : -EINVAL;
}

uint32_t gate_places(uint64_t word, uint32_t ticket)
{
    struct colored_shape s;
    return shape_of(word, &s) ? ahead(&s, ticket, colored_valid(&s, word)) : 0;
}

/* The bit of the ticket just validated, if it has been issued: else nobody can wait for it. */
static uint32_t wakes(const struct colored_shape *s, uint64_t word, unsigned broken)
{
    uint32_t issue = colored_issue(s, word);
    uint32_t valid = colored_valid(s, word);
    bool issued = colored_leads(s, issue, valid, 0);
    return issued && !(issue == valid && (broken & GATE_WAKE_LAST)) ? gate_bit(valid) : 0;
}

struct gate_step gate_leave(uint64_t word, uint32_t ticket, unsigned broken)
{
    struct colored_shape s;
    struct gate_step step;
    if (gate_quick_leave(word, gate_mask(word), ticket, &step, broken)) {
        return step;
    }
    if (!shape_of(word, &s)) {
        return refused(word, -EINVAL);
    }
    uint32_t issue = colored_issue(&s, word);
    uint32_t valid = colored_valid(&s, word);
    uint32_t color = ticket >> s.value_bits;
    bool nobody_in = colored_leads(&s, valid, issue, 0) && ahead(&s, valid, issue) >= s.k;
    if (color > s.k || (nobody_in && !(broken & GATE_NOBODY_IN))) {
        return refused(word, -EPERM);
    }
    step.word = colored_validate(&s, word, ticket, 0);
    step.wakes = wakes(&s, step.word, broken);
    /* Is it valid? QUANT counts it, and goes down where the next ticket has another colour. */
    bool counted = color == colored_color(&s, colored_valid(&s, step.word))
                       ? color == colored_color(&s, valid) && ticket <= valid
                       : colored_quant(&s, step.word) != colored_quant(&s, word);
    return counted || (broken & GATE_LEAVE_VALID) ? step : refused(word, -EPERM);
}
