/* A canonical form of the hidden queue's states: see hidden_queue_colors.h. */
#include "hidden_queue_colors.h"

#include "papers/hidden_queue.h"
#include "test.h"

#include <string.h>

/* The new numbers of colours; NONE: it has not appeared yet. */
enum { NONE = 0xff };

struct numbering {
    uint8_t to[HIDDEN_QUEUE_COLORS];
    uint8_t next;
};

static void number(struct numbering *numbering, uint8_t *color)
{
    if (numbering->to[*color] == NONE) {
        numbering->to[*color] = numbering->next++;
    }
    *color = numbering->to[*color];
}

/* alone and fresh are 1 + a colour, or 0. */
static void number_next(struct numbering *numbering, uint8_t *color)
{
    if (*color != 0) {
        *color = (uint8_t)(*color - 1);
        number(numbering, color);
        *color = (uint8_t)(*color + 1);
    }
}

static void rename_value(const struct supervised_size *size, struct numbering *numbering,
                         struct hidden_queue_value *v)
{
    number(numbering, &v->issue);
    number_next(numbering, &v->alone);
    number_next(numbering, &v->fresh);
    for (unsigned i = 0; i < hidden_queue_cells(size); i++) {
        if (v->cells[i].state != HIDDEN_QUEUE_EMPTY) {
            number(numbering, &v->cells[i].color);
        }
    }
    for (unsigned i = 0; i < size->r; i++) {
        if (v->channels[i].state == HIDDEN_QUEUE_CLAIM) {
            number(numbering, &v->channels[i].color);
        }
    }
}

static void rename_supervisor(const struct supervised_size *size, struct numbering *numbering,
                              struct hidden_queue_supervisor *s)
{
    number(numbering, &s->issue);
    number_next(numbering, &s->alone);
    number_next(numbering, &s->fresh);
    for (unsigned i = 0; i < s->length; i++) {
        number(numbering, &s->hidden[i].color);
    }
    for (unsigned i = 0; i < size->r; i++) {
        if (s->talks[i].stage != HIDDEN_QUEUE_NO_TALK) {
            number(numbering, &s->talks[i].color);
        }
    }
}

static void move_maps(const struct numbering *numbering, struct hidden_queue_value *v)
{
    struct hidden_queue_value old = *v;
    memset(v->maps, 0, sizeof v->maps);
    memset(v->cancelled, 0, sizeof v->cancelled);
    for (unsigned c = 0; c < HIDDEN_QUEUE_COLORS; c++) {
        if (numbering->to[c] != NONE) {
            v->maps[numbering->to[c]] = old.maps[c];
            v->cancelled[numbering->to[c]] = old.cancelled[c];
        }
    }
}

/* A private state begins with a word that is 1 for a supervisor's state other than the initial one,
   which is all zero: supervised.c. */
static void put_supervisor(unsigned char *state, const struct hidden_queue_supervisor *s)
{
    static const struct hidden_queue_supervisor first = {0};
    uint64_t supervises = memcmp(s, &first, sizeof *s) != 0;
    memcpy(state, &supervises, sizeof supervises);
    memcpy(state + sizeof supervises, s, sizeof *s);
}

void hidden_queue_rename_colors(const struct step_system *system, uint64_t *words, void *states)
{
    struct supervised_size size = supervised_size_of(system);
    struct hidden_queue_value v;
    struct hidden_queue_supervisor s;
    struct numbering numbering = {.next = 0};
    unsigned char *last = step_state_of(system, states, system->workers);
    memset(numbering.to, NONE, sizeof numbering.to);
    memcpy(&v, words, sizeof v);
    memcpy(&s, last + sizeof(uint64_t), sizeof s);
    rename_value(&size, &numbering, &v);
    rename_supervisor(&size, &numbering, &s);
    for (unsigned i = 0; i < system->workers; i++) {
        unsigned char *at = (unsigned char *)step_state_of(system, states, i) + sizeof(uint64_t);
        struct hidden_queue_worker w;
        memcpy(&w, at, sizeof w);
        if (w.region != STEP_REMAINDER) {
            EXPECT(numbering.to[w.color] != NONE);
            w.color = numbering.to[w.color];
            memcpy(at, &w, sizeof w);
        }
    }
    move_maps(&numbering, &v);
    memcpy(words, &v, sizeof v);
    put_supervisor(last, &s);
}
