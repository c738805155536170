/* The code shared by the machines over colored tickets: see colored_machine.h. */
#include "papers/colored_machine.h"

#include "papers/basic_ticket.h"
#include "papers/papers.h"

#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(struct colored_shape) <= STEP_MAX_CONSTANT_BYTES, "the shape must fit");

const struct colored_shape *colored_machine_shape(const struct step_system *system)
{
    return (const struct colored_shape *)(const void *)system->constants;
}

int colored_machine_prepare(struct step_system *system, uint32_t m, char why[STEP_WHY_BYTES])
{
    struct colored_shape shape;
    if (colored_shape_with(&shape, system->n, system->k, m) != 0) {
        (void)snprintf(why, STEP_WHY_BYTES,
                       "ISSUE, VALID and QUANT of n=%u, k=%u do not fit one 64-bit word", system->n,
                       system->k);
        return -1;
    }
    memcpy(system->constants, &shape, sizeof shape);
    system->shared_words = 1;
    system->private_bytes = sizeof(struct basic_ticket_state);
    system->claims = papers_queuelike_claims(system);
    return 0;
}

static uint64_t take(const struct step_system *system, uint64_t value, uint32_t *ticket)
{
    const struct colored_shape *shape = colored_machine_shape(system);
    value = colored_take(shape, value, system->machine->variant);
    *ticket = colored_issue(shape, value);
    return value;
}

static bool is_valid(const struct step_system *system, uint64_t value, uint32_t ticket)
{
    return colored_is_valid(colored_machine_shape(system), value, ticket, system->machine->variant);
}

static uint64_t validate(const struct step_system *system, uint64_t value, uint32_t ticket)
{
    return colored_validate(colored_machine_shape(system), value, ticket, system->machine->variant);
}

uint64_t colored_machine_delta(const struct step_system *system, uint64_t value, void *state,
                               unsigned process)
{
    static const struct basic_ticket tickets = {take, is_valid, validate, false};
    (void)process;
    return basic_ticket_delta(&tickets, system, value, state);
}

uint64_t colored_machine_delta_two_steps(const struct step_system *system, uint64_t value,
                                         void *state, unsigned process)
{
    static const struct basic_ticket tickets = {take, is_valid, validate, true};
    (void)process;
    return basic_ticket_delta(&tickets, system, value, state);
}

int colored_machine_print_word(const struct step_system *system, unsigned word, uint64_t value,
                               char *out, size_t size)
{
    const struct colored_shape *shape = colored_machine_shape(system);
    uint32_t issue = colored_issue(shape, value);
    uint32_t valid = colored_valid(shape, value);
    uint32_t row = quant_unrank(shape->k, colored_quant(shape, value));
    char quant[4 * (QUANT_MAX_K + 1)];
    size_t at = 0;
    (void)word;
    for (unsigned c = 0; c <= shape->k; c++) {
        at += (size_t)snprintf(quant + at, sizeof quant - at, "%s%u", c == 0 ? "" : ",",
                               quant_count(shape->k, row, c));
    }
    return snprintf(out, size, "ISSUE=(%u,%u) VALID=(%u,%u) QUANT=%s", colored_value(shape, issue),
                    colored_color(shape, issue), colored_value(shape, valid),
                    colored_color(shape, valid), quant);
}

double colored_machine_bound(const struct step_system *system)
{
    const struct colored_shape *shape = colored_machine_shape(system);
    double tickets = (shape->k + 1.0) * shape->m;
    return quant_rows(shape->k) * tickets * tickets;
}

unsigned colored_machine_bits(const struct step_system *system, unsigned word)
{
    (void)word;
    return colored_bits(colored_machine_shape(system));
}

const struct step_space colored_machine_space = {
    .bits = colored_machine_bits,
    .says = "log2(binom(2k,k) ((k+1)M)^2) (1989, Theorem 4.1)",
    .note = "The theorem counts values; here each of the five variables has whole bits. Of the "
            "theorem's values half never occur: VALID's own colour always has a ticket.",
};
