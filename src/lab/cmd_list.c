/* usher-lab list: print the names and titles of the algorithms. */
#include "lab/lab.h"

static void add(json_t *array, const struct step_machine *const *list, bool mutant)
{
    for (; *list != NULL; list++) {
        json_t *object = json_pack("{s:s, s:s, s:b}", "name", (*list)->name, "title",
                                   (*list)->title, "mutant", mutant);
        (void)json_array_append_new(array, object);
    }
}

static void show(const struct step_machine *const *list, int width)
{
    for (; *list != NULL; list++) {
        (void)printf("%-*s %s\n", width, (*list)->name, (*list)->title);
    }
}

static int run(const struct lab_options *options)
{
    static const struct step_machine *const core[] = {&model_pool, NULL};
    int width = lab_name_width(options->all ? papers_mutants : papers_all); /* the longest name */
    if (options->json) {
        json_t *array = json_array();
        add(array, papers_all, false);
        add(array, core, false);
        add(array, model_gates, false);
        if (options->all) {
            add(array, papers_mutants, true);
            add(array, model_pool_mutants, true);
            add(array, model_gate_mutants, true);
        }
        return lab_print_json(array);
    }
    show(papers_all, width);
    show(core, width);
    show(model_gates, width);
    if (options->all) {
        (void)printf("\nMutants, each without one guard; the checker must find a violation:\n");
        show(papers_mutants, width);
        show(model_pool_mutants, width);
        show(model_gate_mutants, width);
    }
    (void)printf(
        "\n1979, 1989: Fischer, Lynch, Burns, Borodin. 1994: Afek, Dolev, Gafni, Merritt, Shavit.\n"
        "2002: Omori, Obokata, Motegi, Igarashi. 2014: Wang, Wang. See man usher-lab.\n");
    return LAB_OK;
}

const struct lab_command lab_list = {
    .name = "list",
    .usage = "list [--all] [--json]",
    .help = "List the algorithms that check, space, equal and run know, and where they were\n"
            "published. --all lists the mutants too: variants without one guard.\n",
    .flags = "aj",
    .run = run,
};
