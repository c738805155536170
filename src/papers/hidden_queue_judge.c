/* The hidden queue: invariants, and the number of values. See hidden_queue.h. */
#include "papers/hidden_queue.h"

#include <math.h>

/* Match workers and places: each worker has one place, each place one worker. */
struct account {
    const struct supervised_size *size;
    const struct hidden_queue_value *v;
    const struct hidden_queue_supervisor *s;
    bool cells[HIDDEN_QUEUE_CELLS];
    bool hidden[HIDDEN_QUEUE_WORKERS];
    bool unnoticed[256];
};

static bool is_new_ticket(const struct hidden_queue_supervisor *s, unsigned i,
                          const struct hidden_queue_worker *w)
{
    const struct hidden_queue_talk *t = &s->talks[i];
    return t->stage == HIDDEN_QUEUE_TELLS &&
           (t->reply == 0 ? w->color + 1U == s->alone && w->number == 1
                          : w->color + 1U == s->fresh && w->number == t->reply);
}

/* Does the entry have this worker's name? A worker with a channel DONE is there under its old
   name. */
static bool is_entry(const struct account *a, const struct hidden_queue_entry *entry,
                     const struct hidden_queue_worker *w)
{
    unsigned name = hidden_queue_name_of(a->v, w);
    unsigned known = name != 0 ? (name | HIDDEN_QUEUE_SHORT) : w->number;
    if (entry->color == w->color && entry->name == known) {
        return true;
    }
    for (unsigned i = 0; i < a->size->r; i++) {
        const struct hidden_queue_talk *t = &a->s->talks[i];
        if (a->v->channels[i].state == HIDDEN_QUEUE_DONE && is_new_ticket(a->s, i, w) &&
            t->color == entry->color && t->name == (entry->name & (HIDDEN_QUEUE_SHORT - 1))) {
            return true;
        }
    }
    return false;
}

/* Count and mark the places of a worker. */
static unsigned places_of(struct account *a, const struct hidden_queue_worker *w)
{
    unsigned places = 0;
    int cell = hidden_queue_cell_of(a->size, a->v, w);
    if (cell >= 0) {
        places += a->cells[cell] ? 2 : 1;
        a->cells[cell] = true;
    }
    for (unsigned i = 0; i < a->s->length; i++) {
        if (is_entry(a, &a->s->hidden[i], w)) {
            places += a->hidden[i] ? 2 : 1;
            a->hidden[i] = true;
        }
    }
    if (w->color == a->v->issue && w->number > a->s->noticed && w->number <= a->v->issued) {
        places += a->unnoticed[w->number] ? 2 : 1;
        a->unnoticed[w->number] = true;
    }
    return places;
}

static const char *wrong_worker(struct account *a, const struct hidden_queue_worker *w)
{
    int cell = hidden_queue_cell_of(a->size, a->v, w);
    if (w->region == STEP_REMAINDER) {
        return NULL;
    }
    if (places_of(a, w) != 1) {
        return "a process is not in exactly one place of the queue";
    }
    if (w->region == STEP_CRITICAL && (cell < 0 || (unsigned)cell >= a->size->k ||
                                       a->v->cells[cell].state != HIDDEN_QUEUE_INSIDE)) {
        return "a process in C is not in one of the first k cells";
    }
    if (w->region == STEP_TRYING && cell >= 0 && a->v->cells[cell].state != HIDDEN_QUEUE_WAITS) {
        return "a cell is INSIDE but its process is not in C";
    }
    return w->number > a->size->n ? "a ticket has a number above N" : NULL;
}

static const char *wrong_places(const struct account *a)
{
    for (unsigned i = 0; i < hidden_queue_cells(a->size); i++) {
        const struct hidden_queue_cell *cell = &a->v->cells[i];
        if (a->cells[i] != (cell->state != HIDDEN_QUEUE_EMPTY)) {
            return "an occupied cell has no process";
        }
    }
    for (unsigned i = 0; i < a->s->length; i++) {
        if (!a->hidden[i]) {
            return "an entry of the hidden queue has no process";
        }
    }
    for (unsigned i = a->s->noticed + 1U; i <= a->v->issued; i++) {
        if (!a->unnoticed[i]) {
            return "an issued ticket has no process";
        }
    }
    return NULL;
}

/* (R7): numbers of long names are bounded by the number of processes in T, plus r-1. */
static const char *wrong_numbers(const struct account *a)
{
    unsigned waiting = a->s->length + (unsigned)a->v->issued - a->s->noticed;
    for (unsigned i = 0; i < a->s->length; i++) {
        unsigned name = a->s->hidden[i].name;
        if ((name & HIDDEN_QUEUE_SHORT) == 0 && name > waiting + a->size->r - 1) {
            return "a long name in the hidden queue is too large (R7)";
        }
    }
    for (unsigned i = 0; i < a->size->r; i++) {
        const struct hidden_queue_talk *t = &a->s->talks[i];
        if (t->name > waiting + a->size->r - 1 || t->reply > a->s->dealt) {
            return "a number in a talk is too large (R7)";
        }
    }
    return a->s->dealt > waiting ? "more fresh tickets than waiting processes (R7)" : NULL;
}

static const char *wrong_colors(const struct account *a)
{
    unsigned hidden = 1U << a->s->issue;
    unsigned mapped = 0;
    for (unsigned i = 1; i < a->s->length; i++) { /* the first may have a colour of its own */
        hidden |= 1U << a->s->hidden[i].color;
    }
    for (unsigned c = 0; c < HIDDEN_QUEUE_COLORS; c++) {
        mapped += a->v->maps[c].count != 0;
    }
    if (a->s->fresh == 0 && (unsigned)__builtin_popcount(hidden) > a->size->r + 1) {
        return "the hidden queue has too many colours";
    }
    if (!(a->size->variant & HIDDEN_QUEUE_TIGHT) &&
        hidden_queue_lacks_colors(a->size, a->v, a->s)) {
        return "all colours are in use";
    }
    if (mapped > hidden_queue_cells(a->size) + a->size->r - 1) {
        return "too many colours have maps";
    }
    if (a->v->maps[a->v->issue].count != 0 ||
        (a->v->fresh != 0 && a->v->maps[a->v->fresh - 1].count != 0)) {
        return "the colour issue, alone or fresh has a map";
    }
    return a->v->issue != a->s->issue || a->v->fresh != a->s->fresh || a->v->alone != a->s->alone
               ? "the supervisor's issue, alone or fresh differs from the value's"
               : NULL;
}

const char *hidden_queue_wrong(const struct supervised_size *size, const void *value,
                               const void *workers, const void *supervisor)
{
    struct account account = {.size = size, .v = value, .s = supervisor};
    for (unsigned i = 0; i < size->n; i++) {
        const char *wrong = wrong_worker(&account, (const struct hidden_queue_worker *)workers + i);
        if (wrong != NULL) {
            return wrong;
        }
    }
    const char *wrong = wrong_places(&account);
    wrong = wrong != NULL ? wrong : wrong_numbers(&account);
    return wrong != NULL ? wrong : wrong_colors(&account);
}

/* Maps at one time: one for each cell, and one for each process that a round may leave over. */
static unsigned maps_at_once(const struct supervised_size *size)
{
    return hidden_queue_cells(size) + size->r - 1;
}

double hidden_queue_values(const struct supervised_size *size)
{
    double colors = hidden_queue_colors(size);
    unsigned names = hidden_queue_names(size);
    unsigned bits = 32U - (unsigned)__builtin_clz(size->n);
    double values = colors * (size->n + 1.0); /* issue, issued */
    values *= 1 + colors * (colors - 1);      /* alone, fresh, or no round */
    for (unsigned i = 0; i < hidden_queue_cells(size); i++) {
        values *= 1 + (i < size->k ? 2 : 1) * colors * names; /* INSIDE in the first k only */
    }
    for (unsigned i = 0; i < maps_at_once(size); i++) { /* which colours, their maps, cancelled */
        values *= (colors - i) / (i + 1);
        values *= short_names_maps(names, bits) * exp2(names);
    }
    for (unsigned i = 0; i < hidden_queue_channels(size); i++) {
        values *= 12 + HIDDEN_QUEUE_SYMBOLS * colors; /* states without CLAIM; CLAIM */
    }
    return values;
}

/* c2, given the bounds of wrong_numbers; issue, alone and fresh are those of the value. */
double hidden_queue_supervisors(const struct supervised_size *size)
{
    double colors = hidden_queue_colors(size);
    unsigned waiting = size->k + 2 * size->r - 1;
    unsigned longest = waiting + size->r - 1;
    unsigned bits = 32U - (unsigned)__builtin_clz(longest);
    double entry = colors * (longest + hidden_queue_names(size));
    double queues = 0;
    for (unsigned i = 0; i <= waiting; i++) {
        queues = queues * entry + 1;
    }
    double talk = 1 + colors * (longest + 1.0) * (bits + 1.0) * (waiting + 2.0);
    double all = queues * (waiting + 1.0) * (waiting + 1.0); /* noticed, dealt */
    for (unsigned i = 0; i < size->r; i++) {
        all *= talk;
    }
    return all;
}

unsigned hidden_queue_exponent(const struct supervised_size *size)
{
    return (hidden_queue_names(size) - 1) * maps_at_once(size);
}
