/* usher-lab space: the shared memory of an algorithm, in bits and in values reached. */
#include "check/bounds/space.h"

#include "lab/lab.h"
#include "lab/lower_report.h"
#include "lab/space_stated.h"

#include <string.h>

/* Up to this many states the conditions of 1979 are decided, in about a second. */
enum { DECIDED_STATES = 50000 };

/* What is printed about an algorithm. */
struct findings {
    const struct step_system *system;
    bool explored;
    uint32_t values; /* if explored */
    struct check_schedules schedules;
    struct lab_lower lower;
};

/* A count as JSON: an integer if it is exact, else a real number. */
static json_t *count_json(double count)
{
    return count < 9e15 ? json_integer((json_int_t)count) : json_real(count);
}

static bool solves_the_problem(const struct step_system *system)
{
    unsigned needed =
        STEP_CLAIM(STEP_EXCLUSION) | STEP_CLAIM(STEP_DEADLOCK) | STEP_CLAIM(STEP_FIFO);
    return (system->claims & needed) == needed;
}

/* Add what a machine states about its words to an object. */
static void state_json(json_t *object, const struct step_system *system)
{
    const struct step_space *said = system->machine->space;
    struct lab_space space = lab_space_of(system);
    json_t *each = space.stated ? json_array() : json_null();
    for (unsigned word = 0; space.stated && word < system->shared_words; word++) {
        (void)json_array_append_new(each, json_integer(said->bits(system, word)));
    }
    (void)json_object_set_new(object, "words", json_integer(system->shared_words));
    (void)json_object_set_new(object, "bits",
                              space.stated ? json_integer(space.bits) : json_null());
    (void)json_object_set_new(object, "word_bits", each);
    (void)json_object_set_new(object, "unbounded", json_boolean(system->machine->unbounded));
    (void)json_object_set_new(object, "formula_bits",
                              space.formula > 0 ? json_real(space.formula) : json_null());
    (void)json_object_set_new(object, "formula",
                              space.stated ? json_string(said->says) : json_null());
    (void)json_object_set_new(
        object, "note",
        space.stated && !space.agree && said->note != NULL ? json_string(said->note) : json_null());
}

/* Print text from a column on, in lines of at most 80 columns; the first line has begun. */
static void show_note(const char *note, int column)
{
    int at = column;
    for (const char *next = note; *note != '\0'; note = next) {
        int length = (int)strcspn(note, " ");
        bool fits = at + length < 80;
        (void)printf("%s%*s%.*s", fits ? "" : "\n", fits ? at > column : column, "", length, note);
        at = (fits ? at : column) + length + 1;
        next = note + length + strspn(note + length, " ");
    }
    (void)printf("\n");
}

/* "8 x 3 + 6 x 4": runs of words of the same size. */
static void show_words(const struct step_system *system)
{
    const struct step_space *said = system->machine->space;
    for (unsigned word = 0; word < system->shared_words;) {
        unsigned bits = said->bits(system, word);
        unsigned run = 1;
        while (word + run < system->shared_words && said->bits(system, word + run) == bits) {
            run++;
        }
        (void)printf("%s%u x %u", word == 0 ? "" : " + ", run, bits);
        word += run;
    }
}

static void show_bits(const struct step_system *system)
{
    const struct step_space *said = system->machine->space;
    struct lab_space space = lab_space_of(system);
    (void)printf("  shared words        %u\n", system->shared_words);
    if (!space.stated) {
        return;
    }
    (void)printf("  bits                %u%s", space.bits,
                 space.unbounded ? " (kept of values without a bound)" : "");
    if (system->shared_words > 1) {
        (void)printf("  (");
        show_words(system);
        (void)printf(")");
    }
    (void)printf("\n  formula             ");
    if (space.formula > 0) {
        (void)printf("%.2f = ", space.formula);
    }
    (void)printf("%s\n", said->says);
    if (!space.agree && said->note != NULL) {
        (void)printf("%*s", 22, "");
        show_note(said->note, 22);
    }
}

static json_t *document(const struct findings *found, uint64_t lower, json_t *distinct)
{
    const struct step_system *system = found->system;
    const struct step_machine *machine = system->machine;
    double bound = machine->bound != NULL ? machine->bound(system) : 0;
    json_t *object = json_pack(
        "{s:s, s:i, s:i, s:o, s:o, s:o, s:o, s:i}", "algorithm", machine->name, "n",
        (int)system->workers, "k", (int)system->k, "values",
        machine->unbounded || !found->explored ? json_null() : json_integer(found->values), "bound",
        bound > 0 ? count_json(bound) : json_null(), "lower_bound",
        lower != 0 ? json_integer((json_int_t)lower) : json_null(), "schedules_distinct", distinct,
        "schedules", (int)found->schedules.tried);
    state_json(object, system);
    (void)json_object_set_new(object, "explored", json_boolean(found->explored));
    (void)json_object_set_new(object, "lower_1979", lab_lower_json(system, &found->lower));
    return object;
}

static void show_values(const struct findings *found)
{
    const struct step_machine *machine = found->system->machine;
    double bound = machine->bound != NULL ? machine->bound(found->system) : 0;
    if (machine->unbounded) {
        (void)printf("  values reached      unbounded\n");
    } else if (found->explored) {
        (void)printf("  values reached      %u\n", found->values);
    }
    if (bound > 0) {
        (void)printf("  bound by theorem    %.0f\n", bound);
    }
}

static int show(const struct lab_options *options, const struct findings *found)
{
    const struct step_system *system = found->system;
    const struct check_schedules *schedules = &found->schedules;
    uint64_t lower = solves_the_problem(system) ? check_lower_bound(system->n, system->k) : 0;
    bool apply = lower != 0 && schedules->executable;
    bool distinct = schedules->distinct == schedules->tried;
    if (options->json) {
        return lab_print_json(document(found, lower, apply ? json_boolean(distinct) : json_null()));
    }
    (void)printf("%s, n=%u, k=%u\n", system->machine->name, system->workers, system->k);
    show_bits(system);
    show_values(found);
    if (lower != 0) {
        (void)printf("  lower bound         %llu  (1989, Theorem 5.8)\n",
                     (unsigned long long)lower);
    } else {
        (void)printf(
            "  lower bound         does not apply (it needs n >= k+2, FIFO enabling and no "
            "k-deadlock)\n");
    }
    if (apply) {
        (void)printf("  schedules h(i,j)    %u of %u lead to different values\n",
                     schedules->distinct, schedules->tried);
    }
    lab_lower_show(system, &found->lower);
    return LAB_OK;
}

static json_t *all_json(const struct lab_options *options)
{
    json_t *array = json_array();
    for (const struct step_machine *const *m = papers_all; *m != NULL; m++) {
        struct step_system system;
        char why[STEP_WHY_BYTES];
        json_t *object = json_pack("{s:s}", "algorithm", (*m)->name);
        if (step_system_init(&system, *m, options->n, options->k, options->robustness, why) == 0) {
            state_json(object, &system);
        } else {
            (void)json_object_set_new(object, "why_not", json_string(why));
        }
        (void)json_array_append_new(array, object);
    }
    return json_pack("{s:i, s:i, s:o}", "n", (int)options->n, "k", (int)options->k, "algorithms",
                     array);
}

static bool differs(const struct lab_space *space)
{
    return space->formula > 0 && !space->agree;
}

static void show_one_of_all(const struct step_system *system)
{
    struct lab_space space = lab_space_of(system);
    (void)printf("%-*s %5u", lab_name_width(papers_all), system->machine->name,
                 system->shared_words);
    if (!space.stated) {
        (void)printf("\n");
        return;
    }
    (void)printf(" %6u%c", space.bits, space.unbounded ? '+' : differs(&space) ? '*' : ' ');
    if (space.formula > 0) {
        (void)printf(" %8.2f", space.formula);
    } else {
        (void)printf(" %8s", "-");
    }
    (void)printf("  %s\n", system->machine->space->says);
}

/* Print every algorithm at one size, without exploration, so for any n. */
static int show_all(const struct lab_options *options)
{
    int width = lab_name_width(papers_all);
    struct step_system system;
    char why[STEP_WHY_BYTES];
    if (options->json) {
        return lab_print_json(all_json(options));
    }
    (void)printf("Shared memory at n=%u, k=%u, each variable rounded up to whole bits, beside the\n"
                 "paper's own formula\n\n%-*s %5s %6s  %8s\n",
                 options->n, options->k, width, "", "words", "bits", "formula");
    for (const struct step_machine *const *m = papers_all; *m != NULL; m++) {
        if (step_system_init(&system, *m, options->n, options->k, options->robustness, why) == 0) {
            show_one_of_all(&system);
        } else {
            (void)printf("%-*s     -      -         -  does not take this size: %s\n", width,
                         (*m)->name, why);
        }
    }
    (void)printf("\n  +  the values have no bound; this is the number of bits kept of them\n"
                 "  *  bits and formula, rounded up, differ:\n");
    for (const struct step_machine *const *m = papers_all; *m != NULL; m++) {
        struct lab_space space = {0};
        if (step_system_init(&system, *m, options->n, options->k, options->robustness, why) == 0) {
            space = lab_space_of(&system);
        }
        if (differs(&space) && (*m)->space->note != NULL) {
            (void)printf("%-*s  ", width, (*m)->name);
            show_note((*m)->space->note, width + 2);
        }
    }
    return LAB_OK;
}

/* Decide the conditions of 1979 on the whole graph if it is small; else keep them as promised. */
static int decide(const struct lab_options *options, const struct step_system *system,
                  struct check_conditions *conditions)
{
    struct check_graph graph;
    struct check_report report;
    int status = lab_explore(options, system, &graph);
    if (status != LAB_OK) {
        return status;
    }
    if (graph.complete) {
        if (lab_decide(&graph, &report) != 0 ||
            check_conditions_decide(&graph, &report, conditions) != 0) {
            status = lab_fail(LAB_OS, "out of memory");
        }
        check_report_free(&report);
    }
    check_graph_free(&graph);
    return status;
}

/* Count the values that are reached, and find the conditions that are met. */
static int explore(const struct lab_options *options, struct findings *found,
                   struct check_conditions *conditions)
{
    const struct step_system *system = found->system;
    const struct step_machine *machine = system->machine;
    struct lab_options how = *options;
    struct check_graph graph;
    how.only_exclusion = true; /* no edges are needed to count values */
    int status = lab_explore(&how, system, &graph);
    if (status != LAB_OK) {
        return status;
    }
    if (!graph.complete) {
        status = lab_fail(LAB_OS, "the exploration did not fit the memory limit; raise --memory, "
                                  "or use --schedules, which explores nothing");
    }
    uint32_t states = check_states(&graph);
    found->explored = true;
    found->values = graph.seen.shared.count;
    check_graph_free(&graph);
    if (status == LAB_OK && states <= DECIDED_STATES && !machine->supervised &&
        !machine->loose_regions && machine->events == 0) {
        status = decide(options, system, conditions);
    }
    return status;
}

static int run(const struct lab_options *options)
{
    struct step_system system;
    struct check_conditions conditions;
    struct findings found = {.system = &system};
    if (options->operand_count == 0) {
        return show_all(options);
    }
    int status = lab_system(options, options->operands[0], &system);
    if (status != LAB_OK) {
        return status;
    }
    check_conditions_promised(&system, &conditions);
    if (!options->schedules) {
        status = explore(options, &found, &conditions);
    }
    if (status != LAB_OK) {
        return status;
    }
    if (check_schedules_run(&system, &found.schedules) != 0 ||
        lab_lower_find(&system, &conditions, &found.lower) != 0) {
        status = lab_fail(LAB_OS, "out of memory");
    } else {
        const struct check_schedules *schedules = &found.schedules;
        status = show(options, &found);
        if (status == LAB_OK &&
            ((solves_the_problem(&system) && system.n >= system.k + 2 &&
              (!schedules->executable || schedules->distinct != schedules->tried)) ||
             lab_lower_fails(&found.lower))) {
            status = LAB_VIOLATED;
        }
    }
    lab_lower_free(&found.lower);
    return status;
}

const struct lab_command lab_space = {
    .name = "space",
    .usage = "space [ALGORITHM] -n N -k K [-r R] [--schedules]\n"
             "       [--memory SIZE] [--json]",
    .help = "Print the shared memory of an algorithm: its words and their bits, and the\n"
            "paper's own formula; the distinct values that are reached, the bound of the\n"
            "paper's theorem, and the lower bound for every algorithm with the same\n"
            "promises. Execute the schedules h(i,j) of the lower bound's proof: they must\n"
            "lead to different values. So must those of Theorems 5.1, 5.2 and 5.3 of 1979,\n"
            "if their conditions are met. Exit 1 if they do not.\n"
            "With --schedules nothing is explored: conditions are taken as promised, and N\n"
            "may be up to 64.\n"
            "Without ALGORITHM: print the bits of all algorithms. Nothing is explored, and\n"
            "N may be up to 64.\n"
            "\n"
            "    usher-lab space colored -n 5 -k 2\n"
            "    usher-lab space bank -n 64 -k 4 --schedules\n"
            "    usher-lab space -n 32 -k 4\n",
    .flags = "nkrmjX",
    .most_operands = 1,
    .run = run,
};
