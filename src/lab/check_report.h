/* What usher-lab check prints, for an exploration and for a sweep. */
#ifndef USHER_LAB_CHECK_REPORT_H
#define USHER_LAB_CHECK_REPORT_H

#include "lab/lab.h"

/* The first line: the machine, its size and its title. */
void lab_show_title(const struct step_system *system);

/* The table of properties. */
void lab_show_results(const struct step_system *system, const struct check_report *report);

/* One row of that table. */
void lab_show_result(const struct step_system *system, const char *name, bool promised,
                     const struct check_result *result, enum step_property property);

/* An object with a member for each property; append the promised ones to `claims`. */
json_t *lab_properties_json(const struct step_system *system, const struct check_report *report,
                            json_t *claims);

/* Sweep the system (check/sweep/sweep.h) and print the verdicts. LAB_OK, LAB_VIOLATED, or complain
   and return another status. */
int lab_check_swept(const struct lab_options *options, const struct step_system *system);

#endif
