/* The verdicts of a check, as a table and as JSON: see check_report.h. */
#include "lab/check_report.h"

json_t *lab_properties_json(const struct step_system *system, const struct check_report *report,
                            json_t *claims)
{
    json_t *properties = json_object();
    for (unsigned p = 0; p < STEP_PROPERTIES; p++) {
        const char *name = step_property_name((enum step_property)p);
        if (!lab_shows(system, (enum step_property)p)) {
            continue;
        }
        (void)json_object_set_new(
            properties, name, lab_result_json(system, &report->results[p], (enum step_property)p));
        if (system->claims >> p & 1) {
            (void)json_array_append_new(claims, json_string(name));
        }
    }
    return properties;
}

/* The number of entries by others while one process is in T, for the properties that count it. */
static void show_entries(const struct check_result *result, enum step_property property)
{
    bool counted = result->has_bound && (property == STEP_OVERTAKINGS || property == STEP_PROMPT);
    if (counted && result->entries != CHECK_UNBOUNDED) {
        (void)printf(", entries of others at most %lld", (long long)result->entries);
    } else if (counted && result->bound != CHECK_UNBOUNDED) {
        (void)printf(", entries of others without bound");
    }
}

/* The last column: what a verdict rests on. */
static void show_details(const struct step_system *system, const struct check_result *result,
                         enum step_property property)
{
    char text[200];
    if (result->verdict == CHECK_NOT_CHECKED) {
        (void)printf("  %s", result->why);
    } else if (result->verdict == CHECK_HOLDS && result->tested == 0) {
        (void)printf("  vacuous: no state tests it");
    }
    if (result->has_bound && result->bound != CHECK_UNBOUNDED) {
        (void)printf("  at most %lld", (long long)result->bound);
    }
    show_entries(result, property);
    if (property == STEP_C2 && result->verdict != CHECK_NOT_CHECKED) {
        if (result->robust == CHECK_UNBOUNDED) {
            (void)printf("  for every r");
        } else {
            (void)printf("  for r up to %lld", (long long)result->robust);
        }
    }
    if (result->verdict == CHECK_VIOLATED && result->why != NULL) {
        (void)printf("  %s%s", result->why, result->trace.length > 0 ? ":" : "");
    }
    if (result->verdict == CHECK_VIOLATED && result->trace.length > 0) {
        (void)printf("  %s", lab_schedule_text(system, &result->trace, text, sizeof text));
        if (result->stopped != 0) {
            (void)printf(", stop");
            for (unsigned i = 0; i < CHECK_MAX_PROCESSES; i++) {
                if (result->stopped >> i & 1) {
                    (void)printf(" %u", i + 1);
                }
            }
        }
        if (result->loop.length > 0) {
            (void)printf(", then %s for ever",
                         lab_schedule_text(system, &result->loop, text, sizeof text));
        }
    }
}

void lab_show_title(const struct step_system *system)
{
    (void)printf("%s, n=%u, k=%u", system->machine->name, system->workers, system->k);
    if (system->robustness != system->k) {
        (void)printf(", r=%u", system->robustness);
    }
    (void)printf(": %s\n", system->machine->title);
}

void lab_show_result(const struct step_system *system, const char *name, bool promised,
                     const struct check_result *result, enum step_property property)
{
    (void)printf("  %-13s %-9s %-11s", name, promised ? "yes" : "-",
                 result->verdict == CHECK_VIOLATED ? "VIOLATED"
                                                   : lab_verdict_name(result->verdict));
    show_details(system, result, property);
    (void)putchar('\n');
}

void lab_show_results(const struct step_system *system, const struct check_report *report)
{
    (void)printf("  %-13s %-9s %s\n", "property", "promised", "found");
    for (unsigned p = 0; p < STEP_PROPERTIES; p++) {
        if (lab_shows(system, (enum step_property)p)) {
            lab_show_result(system, step_property_name((enum step_property)p),
                            system->claims >> p & 1, &report->results[p], (enum step_property)p);
        }
    }
}
