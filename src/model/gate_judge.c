/* The invariant of the gate's model (the equations of gate/gate_word.h), and its words as text. */
#include "model/gate_parts.h"

#include <stdio.h>

static const struct gate_constants *constants_of(const struct step_system *system)
{
    return (const struct gate_constants *)(const void *)system->constants;
}

static const struct gate_guest *guest_of(const struct step_system *system, const void *states,
                                         unsigned process)
{
    return (const struct gate_guest *)(const void *)((const unsigned char *)states +
                                                     (size_t)process * system->private_bytes);
}

static bool has_ticket(const struct gate_guest *guest)
{
    return guest->mode != RESTING && guest->mode != WAKING;
}

/* psi(ISSUE) - psi(VALID), from the word. */
static int32_t lead(const struct colored_shape *s, uint64_t word)
{
    uint32_t issue = colored_issue(s, word);
    uint32_t valid = colored_valid(s, word);
    uint32_t ahead = (issue - valid) & (s->m - 1);
    uint32_t behind = (valid - issue) & (s->m - 1);
    return colored_leads(s, issue, valid, 0) ? (int32_t)ahead : -(int32_t)behind;
}

/* Is the ticket of a guest valid, judging by the low half alone? */
static bool valid_by_low_half(const struct colored_shape *s, uint64_t word, uint32_t ticket)
{
    uint32_t low = (uint32_t)word;
    uint32_t valid = colored_valid(s, low);
    uint32_t row = quant_unrank(s->k, colored_quant(s, low));
    uint32_t color = colored_color(s, ticket);
    return color == colored_color(s, valid) ? ticket <= valid : quant_count(s->k, row, color) > 0;
}

/* Is a guest about to wake the sleepers on this bit? */
static bool wake_is_coming(const struct step_system *system, const void *states, uint32_t bit)
{
    for (unsigned i = 0; i < system->n; i++) {
        if (guest_of(system, states, i)->wakes & bit) {
            return true;
        }
    }
    return false;
}

static const char *wrong_guest(const struct step_system *system, const uint64_t *words,
                               const void *states, unsigned process)
{
    const struct colored_shape *s = &constants_of(system)->shape;
    const struct gate_guest *guest = guest_of(system, states, process);
    bool valid = gate_is_valid(words[AT_GATE], guest->ticket) == 1;
    if (guest->mode == INSIDE && !valid) {
        return "a guest inside has a ticket that is not valid";
    }
    if (valid != valid_by_low_half(s, words[AT_GATE], guest->ticket)) {
        return "the low half alone does not tell which tickets are valid";
    }
    if (guest->mode == FALLING_ASLEEP && valid && guest->low == (uint32_t)words[AT_GATE]) {
        return "a ticket became valid without a change of the low half";
    }
    if (guest->mode == ASLEEP && valid && (words[AT_KERNEL] >> 6 * process & 63) != 0 &&
        !wake_is_coming(system, states, gate_bit(guest->ticket))) {
        return "a guest with a valid ticket sleeps, and no guest is about to wake it";
    }
    for (unsigned other = 0; other < process; other++) {
        const struct gate_guest *g = guest_of(system, states, other);
        if (has_ticket(g) && g->ticket == guest->ticket) {
            return "two guests have the same ticket";
        }
    }
    return NULL;
}

const char *gate__wrong(const struct step_system *system, const uint64_t *words, const void *states)
{
    const struct gate_constants *constants = constants_of(system);
    const struct colored_shape *s = &constants->shape;
    uint64_t word = words[AT_GATE];
    int32_t valid = 0;
    int32_t waiting = 0;
    if ((word ^ constants->start) >> GATE_SEATS_SHIFT != 0 || gate_room(word) == 0) {
        return "the word is no longer a gate of its shape";
    }
    for (unsigned i = 0; i < system->n; i++) {
        const struct gate_guest *guest = guest_of(system, states, i);
        if (has_ticket(guest)) {
            const char *why = wrong_guest(system, words, states, i);
            if (why != NULL) {
                return why;
            }
            (*(gate_is_valid(word, guest->ticket) == 1 ? &valid : &waiting))++;
        }
    }
    int32_t l = lead(s, word);
    if (waiting != (l > 0 ? l : 0) || valid != (int32_t)s->k + (l < 0 ? l : 0)) {
        return "ISSUE and VALID do not match the numbers of guests inside and waiting";
    }
    uint32_t row = quant_unrank(s->k, colored_quant(s, word));
    if (quant_count(s->k, row, colored_color(s, colored_valid(s, word))) < 1) {
        return "QUANT has no ticket of VALID's colour";
    }
    return NULL;
}

int gate__print_word(const struct step_system *system, unsigned word, uint64_t value, char *out,
                     size_t size)
{
    const struct colored_shape *s = &constants_of(system)->shape;
    char text[8 * (QUANT_MAX_K + 1)] = "";
    size_t at = 0;
    if (word == AT_KERNEL) {
        for (unsigned i = 0; i < system->n; i++) {
            unsigned on = (unsigned)(value >> 6 * i) & 63;
            if (on != 0) {
                at += (size_t)snprintf(text + at, sizeof text - at, " %u on %u", i + 1, on - 1);
            }
        }
        return snprintf(out, size, "asleep:%s", at == 0 ? " none" : text);
    }
    uint32_t issue = colored_issue(s, value);
    uint32_t valid = colored_valid(s, value);
    uint32_t row = quant_unrank(s->k, colored_quant(s, value));
    for (unsigned c = 0; c <= s->k; c++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%u", c == 0 ? "" : ",",
                               quant_count(s->k, row, c));
    }
    return snprintf(out, size, "ISSUE=(%u,%u) VALID=(%u,%u) QUANT=%s", colored_value(s, issue),
                    colored_color(s, issue), colored_value(s, valid), colored_color(s, valid),
                    text);
}
