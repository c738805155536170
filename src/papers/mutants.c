/*
 * Broken variants that the checker must catch. Each drops one guard of a correct machine.
 * tests/mutants_test.c lists the size and the property by which each is caught.
 */
#include "papers/basic_ticket.h"
#include "papers/bucket.h"
#include "papers/colored_machine.h"
#include "papers/colored_printed.h"
#include "papers/fife.h"
#include "papers/fife_bounded.h"
#include "papers/hidden_queue.h"
#include "papers/levels.h"
#include "papers/papers.h"
#include "papers/shared_queue.h"
#include "tickets/numbered.h"

/* machine.variant holds bits of enum colored_broken, for src/tickets/colored.h. */
static int prepare_colored(struct step_system *system, char why[STEP_WHY_BYTES])
{
    return colored_machine_prepare(system, colored_paper_m(system->n, system->k), why);
}

static void init_colored(const struct step_system *system, uint64_t *words)
{
    words[0] = colored_start(colored_machine_shape(system));
}

static void step_colored(const struct step_system *system, struct step_memory *memory, void *state,
                         unsigned process)
{
    step_update(system, memory, 0, colored_machine_delta, state, process);
}

#define COLORED_MUTANT(symbol, name_, title_, broken)                                              \
    static const struct step_machine symbol = {.name = (name_),                                    \
                                               .title = (title_),                                  \
                                               .variant = (broken),                                \
                                               .anonymous = true,                                  \
                                               .prepare = prepare_colored,                         \
                                               .init = init_colored,                               \
                                               .step = step_colored,                               \
                                               .region = basic_ticket_region,                      \
                                               .print_word = colored_machine_print_word}

COLORED_MUTANT(leads_strict, "mutant-leads-strict",
               "Colored Ticket, LEADS with > for >=", COLORED_LEADS_STRICT);
COLORED_MUTANT(quant_stale, "mutant-quant-stale", "Colored Ticket, QUANT not updated",
               COLORED_QUANT_STALE);
COLORED_MUTANT(color_not_free, "mutant-color-not-free", "Colored Ticket, the new colour is in use",
               COLORED_COLOR_NOT_FREE);
COLORED_MUTANT(trailing_new_color, "mutant-trailing-new-color",
               "Colored Ticket, the trailing pointer picks its own colour",
               COLORED_TRAILING_NEW_COLOR);
COLORED_MUTANT(valid_early, "mutant-valid-early",
               "Colored Ticket, tickets of ISSUE's block count as valid at once",
               COLORED_VALID_EARLY);
COLORED_MUTANT(old_block_invalid, "mutant-old-block-invalid",
               "Colored Ticket, tickets of a block both pointers have left count as invalid",
               COLORED_OLD_BLOCK_INVALID);

/* Numbered tickets with a broken operation of Fig. 3. */
enum numbered_broken { VALIDATE_NOTHING = 1, VALID_TOO_FAR };

static uint64_t take(const struct step_system *system, uint64_t value, uint32_t *ticket)
{
    (void)system;
    value = numbered_take(value);
    *ticket = numbered_issue(value);
    return value;
}

static bool is_valid(const struct step_system *system, uint64_t value, uint32_t ticket)
{
    return numbered_is_valid(value,
                             system->machine->variant == VALID_TOO_FAR ? ticket - 1 : ticket);
}

static uint64_t validate(const struct step_system *system, uint64_t value, uint32_t ticket)
{
    (void)ticket;
    return system->machine->variant == VALIDATE_NOTHING ? value : numbered_validate(value);
}

static uint64_t delta(const struct step_system *system, uint64_t value, void *state,
                      unsigned process)
{
    static const struct basic_ticket tickets = {take, is_valid, validate, false};
    (void)process;
    return basic_ticket_delta(&tickets, system, value, state);
}

static void step_numbered(const struct step_system *system, struct step_memory *memory, void *state,
                          unsigned process)
{
    step_update(system, memory, 0, delta, state, process);
}

static int prepare_numbered(struct step_system *system, char why[STEP_WHY_BYTES])
{
    return papers_numbered.prepare(system, why);
}

static void init_numbered(const struct step_system *system, uint64_t *words)
{
    papers_numbered.init(system, words);
}

static void rebase_numbered(const struct step_system *system, uint64_t *words, void *states)
{
    papers_numbered.rebase(system, words, states);
}

static int print_numbered(const struct step_system *system, unsigned word, uint64_t value,
                          char *out, size_t size)
{
    return papers_numbered.print_word(system, word, value, out, size);
}

#define NUMBERED_MUTANT(symbol, name_, title_, broken)                                             \
    static const struct step_machine symbol = {.name = (name_),                                    \
                                               .title = (title_),                                  \
                                               .variant = (broken),                                \
                                               .anonymous = true,                                  \
                                               .unbounded = true,                                  \
                                               .prepare = prepare_numbered,                        \
                                               .init = init_numbered,                              \
                                               .step = step_numbered,                              \
                                               .region = basic_ticket_region,                      \
                                               .rebase = rebase_numbered,                          \
                                               .print_word = print_numbered}

NUMBERED_MUTANT(validate_nothing, "mutant-validate-nothing",
                "Numbered Ticket, leaving validates no ticket", VALIDATE_NOTHING);
NUMBERED_MUTANT(valid_too_far, "mutant-valid-too-far",
                "Numbered Ticket, one ticket beyond VALID counts as valid", VALID_TOO_FAR);

const struct step_machine *const papers_mutants[] = {
    &papers_mutant_printed_quant,
    &papers_mutant_printed_leads,
    &leads_strict,
    &quant_stale,
    &color_not_free,
    &trailing_new_color,
    &valid_early,
    &old_block_invalid,
    &papers_mutant_m_too_small,
    &validate_nothing,
    &valid_too_far,
    &papers_mutant_queue_barging,
    &papers_mutant_naive_bound_more,
    &papers_mutant_naive_one_fewer,
    &papers_mutant_excl_no_turn,
    &papers_mutant_excl_turn_first,
    &papers_mutant_excl_above,
    &papers_mutant_excl_stay,
    &papers_mutant_excl_count_on,
    &papers_mutant_excl_bound_more,
    &papers_mutant_excl_bound_less,
    &papers_mutant_excl_one_fewer,
    &papers_mutant_gtex_printed,
    &papers_mutant_gtex_all_count,
    &papers_mutant_gtex_same,
    &papers_mutant_gtex_bound_more,
    &papers_mutant_gtex_one_fewer,
    &papers_mutant_fife_printed,
    &papers_mutant_fife_no_relabel,
    &papers_mutant_fife_label_first,
    &papers_mutant_fife_equal,
    &papers_mutant_fife_everyone,
    &papers_mutant_fife_one_more,
    &papers_fife_bounded_mutants[0],
    &papers_fife_bounded_mutants[1],
    &papers_fife_bounded_mutants[2],
    &papers_fife_bounded_mutants[3],
    &papers_peek_queue_mutants[0],
    &papers_peek_queue_mutants[1],
    &papers_dqb_mutants[0],
    &papers_dqb_mutants[1],
    &papers_dqb_mutants[2],
    &papers_dqb_mutants[3],
    &papers_dqb_mutants[4],
    &papers_dqb_mutants[5],
    &papers_dqb_mutants[6],
    &papers_dqb_mutants[7],
    &papers_sq2_printed,
    &papers_sq2_mutants[0],
    &papers_sq2_mutants[1],
    &papers_sq2_mutants[2],
    &papers_sq2_mutants[3],
    &papers_sq2_mutants[4],
    &papers_sq2_mutants[5],
    &papers_sq2_mutants[6],
    &papers_sq2_mutants[7],
    &papers_sq2_mutants[8],
    &papers_sq2_mutants[9],
    &papers_sq2_mutants[10],
    &papers_sq2_mutants[11],
    &papers_sq2_mutants[12],
    &papers_sq2_mutants[13],
    &papers_bucket_mutants[0],
    &papers_bucket_mutants[1],
    &papers_bucket_mutants[2],
    &papers_bucket_mutants[3],
    &papers_bucket_mutants[4],
    &papers_bucket_mutants[5],
    &papers_bucket_mutants[6],
    &papers_bucket_mutants[7],
    &papers_bucket_mutants[8],
    &papers_bucket_mutants[9],
    &papers_bucket_mutants[10],
    &papers_bucket_mutants[11],
    &papers_bucket_mutants[12],
    &papers_bucket_mutants[13],
    &papers_bucket_mutants[14],
    &papers_bucket_mutants[15],
    &papers_bucket_mutants[16],
    &papers_bucket_mutants[17],
    &papers_bucket_mutants[18],
    &papers_bucket_mutants[19],
    &papers_hidden_queue_mutants[0],
    &papers_hidden_queue_mutants[1],
    &papers_hidden_queue_mutants[2],
    &papers_hidden_queue_mutants[3],
    &papers_hidden_queue_mutants[4],
    &papers_hidden_queue_mutants[5],
    &papers_hidden_queue_mutants[6],
    &papers_hidden_queue_mutants[7],
    &papers_hidden_queue_mutants[8],
    &papers_hidden_queue_mutants[9],
    &papers_hidden_queue_mutants[10],
    &papers_hidden_queue_mutants[11],
    &papers_hidden_queue_mutants[12],
    &papers_hidden_queue_mutants[13],
    &papers_hidden_queue_mutants[14],
    &papers_hidden_queue_mutants[15],
    &papers_hidden_queue_mutants[16],
    NULL,
};
