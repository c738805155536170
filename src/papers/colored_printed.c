/*
 * The Colored Ticket Algorithm exactly as the scan of the 1989 paper prints it (Figs 2, 4, 6, 7).
 * The shared variable is ISSUE, VALID and QUANT. Fig. 7 starts QUANT with all 0, and LEADS of Fig.
 * 4 on equal colours is >.
 *
 *     property                 promised   decided for n <= 4, k <= 3
 *     at most k in C           yes        violated for k < n; shortest trace at n=2, k=1: 1 2
 *     with either misprint alone          violated by the same trace (mutants printed-quant,
 *                                         printed-leads)
 *
 * This is a transcription, not a variant of colored.c: QUANT goes below zero here, so it has no
 * rank. QUANT's entries are kept modulo 8. As printed they drift without bound once two processes
 * hold the same ticket. The first violation does not depend on the modulus; later findings do.
 */
#include "papers/colored_printed.h"

#include "papers/basic_ticket.h"
#include "tickets/colored.h"

#include <stdio.h>
#include <string.h>

/* The global variables in one word: four values of 8 bits, then QUANT's entries of 3 bits each. */
enum { FIELD_BITS = 8, QUANT_SHIFT = 32, QUANT_BITS = 3, MOST_COLORS = 10 };

struct globals {
    unsigned issue_value, issue_color, valid_value, valid_color;
    int quant[MOST_COLORS];
};

static struct globals unpack(uint64_t word)
{
    struct globals g;
    g.issue_value = word & 0xff;
    g.issue_color = word >> FIELD_BITS & 0xff;
    g.valid_value = word >> 2 * FIELD_BITS & 0xff;
    g.valid_color = word >> 3 * FIELD_BITS & 0xff;
    for (unsigned c = 0; c < MOST_COLORS; c++) {
        unsigned bits = word >> (QUANT_SHIFT + c * QUANT_BITS) & 7;
        g.quant[c] = bits < 4 ? (int)bits : (int)bits - 8;
    }
    return g;
}

static uint64_t pack(const struct globals *g)
{
    uint64_t word = g->issue_value | g->issue_color << FIELD_BITS |
                    g->valid_value << 2 * FIELD_BITS | (uint64_t)g->valid_color << 3 * FIELD_BITS;
    for (unsigned c = 0; c < MOST_COLORS; c++) {
        word |= (uint64_t)((unsigned)g->quant[c] & 7) << (QUANT_SHIFT + c * QUANT_BITS);
    }
    return word;
}

static unsigned m_of(const struct step_system *system)
{
    return colored_paper_m(system->n, system->k);
}

static int prepare(struct step_system *system, char why[STEP_WHY_BYTES])
{
    if (system->k > 3 || m_of(system) > 0xff) {
        (void)snprintf(why, STEP_WHY_BYTES, "QUANT as printed is kept for k up to 3 only");
        return -1;
    }
    system->shared_words = 1;
    system->private_bytes = sizeof(struct basic_ticket_state);
    system->claims = papers_queuelike_claims(system);
    return 0;
}

/* ISSUE = (0,0), VALID = (k,0), QUANT[0], ..., QUANT[k] = 0 */
static void init(const struct step_system *system, uint64_t *words)
{
    struct globals g = {.valid_value = system->k};
    if (system->machine->variant & COLORED_PRINTED_QUANT_CORRECTED) {
        g.quant[0] = (int)system->k;
    }
    words[0] = pack(&g);
}

/* Fig. 4 */
static bool leads(const struct step_system *system, unsigned a_value, unsigned a_color,
                  unsigned b_value, unsigned b_color)
{
    if (a_color == b_color) {
        return system->machine->variant & COLORED_PRINTED_LEADS_CORRECTED ? a_value >= b_value
                                                                          : a_value > b_value;
    }
    return a_value < b_value;
}

/* Fig. 6. The bound on C is ours: a corrupt QUANT must not run off the array. */
static unsigned new_color(const struct globals *g)
{
    unsigned c = 0;
    while (c < MOST_COLORS - 1 && g->quant[c] > 0) {
        c++;
    }
    return c;
}

static uint64_t take(const struct step_system *system, uint64_t value, uint32_t *ticket)
{
    struct globals g = unpack(value);
    if (g.issue_value < m_of(system) - 1) {
        g.issue_value++;
    } else {
        if (leads(system, g.issue_value, g.issue_color, g.valid_value, g.valid_color)) {
            g.issue_color = new_color(&g);
        } else {
            g.issue_color = g.valid_color;
        }
        g.issue_value = 0;
    }
    *ticket = g.issue_color << FIELD_BITS | g.issue_value;
    return pack(&g);
}

static bool is_valid(const struct step_system *system, uint64_t value, uint32_t ticket)
{
    struct globals g = unpack(value);
    unsigned t_value = ticket & 0xff;
    unsigned t_color = ticket >> FIELD_BITS;
    if (t_color == g.valid_color) {
        return t_value <= g.valid_value;
    }
    if (t_color == g.issue_color) {
        return leads(system, g.valid_value, g.valid_color, g.issue_value, g.issue_color);
    }
    return true;
}

static uint64_t validate(const struct step_system *system, uint64_t value, uint32_t ticket)
{
    struct globals g = unpack(value);
    if (g.valid_value < m_of(system) - 1) {
        g.valid_value++;
    } else {
        if (leads(system, g.valid_value, g.valid_color, g.issue_value, g.issue_color)) {
            g.valid_color = new_color(&g);
        } else {
            g.valid_color = g.issue_color;
        }
        g.valid_value = 0;
    }
    g.quant[g.valid_color]++;
    g.quant[ticket >> FIELD_BITS]--;
    return pack(&g);
}

static uint64_t delta(const struct step_system *system, uint64_t value, void *state,
                      unsigned process)
{
    static const struct basic_ticket tickets = {take, is_valid, validate, false};
    (void)process;
    return basic_ticket_delta(&tickets, system, value, state);
}

static void step(const struct step_system *system, struct step_memory *memory, void *state,
                 unsigned process)
{
    step_update(system, memory, 0, delta, state, process);
}

static int print_word(const struct step_system *system, unsigned word, uint64_t value, char *out,
                      size_t size)
{
    struct globals g = unpack(value);
    char quant[4 * MOST_COLORS];
    size_t at = 0;
    (void)word;
    for (unsigned c = 0; c <= system->k; c++) {
        at +=
            (size_t)snprintf(quant + at, sizeof quant - at, "%s%d", c == 0 ? "" : ",", g.quant[c]);
    }
    return snprintf(out, size, "ISSUE=(%u,%u) VALID=(%u,%u) QUANT=%s", g.issue_value, g.issue_color,
                    g.valid_value, g.valid_color, quant);
}

static unsigned bits(const struct step_system *system, unsigned word)
{
    (void)word;
    return 2 * (step_bits_of(m_of(system)) + step_bits_of(MOST_COLORS)) + QUANT_BITS * MOST_COLORS;
}

static const struct step_space space = {
    .bits = bits,
    .says = "no bound as printed: QUANT drifts (1989, Figs 4, 7)",
    .note = "As printed QUANT has no bound: its entries drift. Here they are kept modulo 8, for "
            "ten colours.",
};

#define PRINTED(name_, title_, variant_)                                                           \
    {                                                                                              \
        .name = (name_), .title = (title_), .variant = (variant_), .anonymous = true,              \
        .one_step_enabled = true, .prepare = prepare, .init = init, .step = step,                  \
        .region = basic_ticket_region, .print_word = print_word, .space = &space,                  \
        .printed = (variant_) == 0                                                                 \
    }

const struct step_machine papers_colored_printed =
    PRINTED("colored-printed", "Colored Ticket as printed (1989, Figs 2, 4, 6, 7)", 0);

const struct step_machine papers_mutant_printed_quant = PRINTED(
    "mutant-printed-quant", "Colored Ticket with Fig. 7's misprint alone: QUANT starts all 0",
    COLORED_PRINTED_LEADS_CORRECTED);

const struct step_machine papers_mutant_printed_leads =
    PRINTED("mutant-printed-leads", "Colored Ticket with Fig. 4's misprint alone: LEADS is strict",
            COLORED_PRINTED_QUANT_CORRECTED);

const struct step_machine papers_printed_corrected =
    PRINTED("printed-corrected", "The printed Colored Ticket with both misprints corrected",
            COLORED_PRINTED_QUANT_CORRECTED | COLORED_PRINTED_LEADS_CORRECTED);
