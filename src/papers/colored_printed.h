/*
 * The printed Colored Ticket, and its versions with one or both misprints corrected. Only mutants.c
 * and tests name the latter.
 */
#ifndef USHER_PAPERS_COLORED_PRINTED_H
#define USHER_PAPERS_COLORED_PRINTED_H

#include "papers/papers.h"

enum colored_printed_variant {
    COLORED_PRINTED_QUANT_CORRECTED = 1,
    COLORED_PRINTED_LEADS_CORRECTED = 2,
};

extern const struct step_machine papers_mutant_printed_quant;
extern const struct step_machine papers_mutant_printed_leads;

/* Both misprints corrected. It must agree with papers_colored, which checks the transcription. */
extern const struct step_machine papers_printed_corrected;

#endif
