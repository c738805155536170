/* The hidden queue (1979, Lemma 4.5): the steps of a worker. See hidden_queue.h. */
#include "papers/hidden_queue.h"

unsigned hidden_queue_name_of(const struct hidden_queue_value *v,
                              const struct hidden_queue_worker *w)
{
    const struct short_names *map = &v->maps[w->color];
    return map->count == 0 ? 0 : short_name(map, w->number);
}

int hidden_queue_cell_of(const struct supervised_size *size, const struct hidden_queue_value *v,
                         const struct hidden_queue_worker *w)
{
    unsigned name = hidden_queue_name_of(v, w);
    for (unsigned i = 0; name != 0 && i < hidden_queue_cells(size); i++) {
        const struct hidden_queue_cell *cell = &v->cells[i];
        if (cell->state != HIDDEN_QUEUE_EMPTY && cell->color == w->color && cell->name == name) {
            return (int)i;
        }
    }
    return -1;
}

static void end_talk(struct hidden_queue_worker *w)
{
    w->channel = w->hears = w->position = w->heard = 0;
}

/* In a round, a process talks if it was in the hidden queue when the round began and has no new
   ticket yet. */
static bool may_talk(const struct supervised_size *size, const struct hidden_queue_value *v,
                     const struct hidden_queue_worker *w)
{
    bool new_here = w->color == v->issue && !hidden_queue_is(size, HIDDEN_QUEUE_ISSUE_KEPT);
    return v->fresh != 0 && !new_here && w->color + 1 != v->fresh && w->color + 1 != v->alone;
}

/* Send the next symbol of the name: of the short name if there is one, because the supervisor then
   no longer has the long one. */
static void say(const struct hidden_queue_value *v, struct hidden_queue_channel *channel,
                struct hidden_queue_worker *w)
{
    unsigned name = hidden_queue_name_of(v, w);
    channel->symbol = hidden_queue_symbol(name != 0 ? name : w->number, w->position++);
    if (channel->symbol == HIDDEN_QUEUE_LAST) {
        w->hears = 1;
        w->position = 0;
    }
}

static void claim(const struct supervised_size *size, struct hidden_queue_value *v,
                  struct hidden_queue_worker *w)
{
    for (unsigned i = 0; i < hidden_queue_channels(size); i++) {
        if (v->channels[i].state == HIDDEN_QUEUE_OPEN) {
            w->channel = (uint8_t)(i + 1);
            v->channels[i].state = HIDDEN_QUEUE_CLAIM;
            v->channels[i].color = w->color;
            say(v, &v->channels[i], w);
            return;
        }
    }
}

static void take_ticket(struct hidden_queue_channel *channel, struct hidden_queue_worker *w,
                        unsigned color, unsigned number)
{
    w->color = (uint8_t)color;
    w->number = (uint8_t)number;
    *channel = (struct hidden_queue_channel){.state = HIDDEN_QUEUE_DONE};
    end_talk(w);
}

static void talk(struct hidden_queue_value *v, struct hidden_queue_worker *w)
{
    struct hidden_queue_channel *channel = &v->channels[w->channel - 1];
    if (channel->state == HIDDEN_QUEUE_HEARD && !w->hears) {
        channel->state = HIDDEN_QUEUE_SAY;
        say(v, channel, w);
    } else if (channel->state == HIDDEN_QUEUE_ALONE && w->hears) {
        take_ticket(channel, w, v->alone - 1U, 1);
    } else if (channel->state == HIDDEN_QUEUE_TELL && w->hears) {
        w->heard = hidden_queue_hear(w->heard, w->position++, channel->symbol);
        if (channel->symbol == HIDDEN_QUEUE_LAST) {
            take_ticket(channel, w, v->fresh - 1U, w->heard);
        } else {
            *channel = (struct hidden_queue_channel){.state = HIDDEN_QUEUE_TAKEN};
        }
    }
}

static void try_once(const struct supervised_size *size, struct hidden_queue_value *v,
                     struct hidden_queue_worker *w)
{
    unsigned name = hidden_queue_name_of(v, w);
    if (name != 0 && (v->cancelled[w->color] >> (name - 1) & 1)) {
        v->cancelled[w->color] = (uint8_t)(v->cancelled[w->color] & ~(1U << (name - 1)));
        end_talk(w);
    }
    int cell = hidden_queue_cell_of(size, v, w);
    if (cell >= 0 && (unsigned)cell < size->k) {
        v->cells[cell].state = HIDDEN_QUEUE_INSIDE;
        w->region = STEP_CRITICAL;
        end_talk(w);
    } else if (w->channel != 0) {
        talk(v, w);
    } else if (cell < 0 && may_talk(size, v, w)) {
        claim(size, v, w);
    }
}

void hidden_queue_work(const struct supervised_size *size, void *value, void *worker,
                       unsigned process)
{
    struct hidden_queue_value *v = value;
    struct hidden_queue_worker *w = worker;
    (void)process;
    if (w->region == STEP_REMAINDER) {
        v->issued =
            (uint8_t)(v->issued + (v->issued < size->n)); /* always true, except in mutants */
        *w = (struct hidden_queue_worker){
            .region = STEP_TRYING, .color = v->issue, .number = v->issued};
    } else if (w->region == STEP_TRYING) {
        try_once(size, v, w);
    } else { /* the exit protocol is one step, so there is no exit region */
        int cell = hidden_queue_cell_of(size, v, w);
        if (cell >= 0) { /* always true, except in mutants */
            v->cells[cell] = (struct hidden_queue_cell){0};
        }
        *w = (struct hidden_queue_worker){0};
    }
}

enum step_region hidden_queue_region(const struct supervised_size *size, const void *worker)
{
    (void)size;
    return (enum step_region)((const struct hidden_queue_worker *)worker)->region;
}

/* A process does not go from helper to drone in one step: it is placed behind the quitter's
   cell. */
enum supervised_eligibility hidden_queue_eligibility(const struct supervised_size *size,
                                                     const void *value, const void *worker)
{
    const struct hidden_queue_worker *w = worker;
    if (w->region != STEP_TRYING) {
        return SUPERVISED_DRONE;
    }
    int cell = hidden_queue_cell_of(size, value, w);
    if (cell < 0 || (unsigned)cell > size->k) {
        return SUPERVISED_HELPER;
    }
    return (unsigned)cell == size->k ? SUPERVISED_QUITTER : SUPERVISED_DRONE;
}
