/*
 * The hidden queue (1979, Lemma 4.5): the supervisor's step. See hidden_queue.h.
 *
 * A step does the first of these that is possible, and nothing else:
 *
 *     1. delete an empty cell that has an occupied cell behind it
 *     2. notice one arrival, and append it to the hidden queue
 *     3. in a round: rename the process of a channel that is DONE; or
 *                    end the round, if at most r-1 processes have not yet talked; or
 *                    receive a symbol, or send the next
 *     4. else: place the first process of the hidden queue in the last cell, if that is empty and
 *              the process has, or can be given, a short name; or begin a round
 *
 * So `issue` changes (in 4) only when all arrivals have been noticed.
 */
#include "papers/hidden_queue_action.h"

#include <string.h>

unsigned hidden_queue_holders(const struct hidden_queue_supervisor *s, unsigned color)
{
    unsigned holders = 0;
    for (unsigned i = 0; i < s->length; i++) {
        holders += s->hidden[i].color == color;
    }
    return holders;
}

/* Have at most r-1 processes not yet talked? They may all have failed. */
static bool enough_talked(const struct supervised_size *size,
                          const struct hidden_queue_supervisor *s)
{
    unsigned left = 0;
    for (unsigned i = 0; i < s->length; i++) {
        left += hidden_queue_is_left(size, s, i);
    }
    return left <= (hidden_queue_is(size, HIDDEN_QUEUE_ALL_TALK) ? 0 : size->r - 1);
}

/* The colours in use, as a mask: in cells, in the hidden queue, or for new tickets. */
static unsigned colors_used(const struct supervised_size *size, const struct hidden_queue_value *v,
                            const struct hidden_queue_supervisor *s)
{
    unsigned used = 1U << s->issue;
    used |= s->fresh == 0 ? 0 : 1U << (s->alone - 1) | 1U << (s->fresh - 1);
    for (unsigned i = 0; i < hidden_queue_cells(size); i++) {
        used |= v->cells[i].state == HIDDEN_QUEUE_EMPTY ? 0 : 1U << v->cells[i].color;
    }
    for (unsigned i = 0; i < s->length; i++) {
        used |= 1U << s->hidden[i].color;
    }
    return used;
}

/* The first `count` unused colours; false if there are fewer. */
static bool new_colors(const struct supervised_size *size, const struct hidden_queue_value *v,
                       const struct hidden_queue_supervisor *s, unsigned *colors, unsigned count)
{
    unsigned used = colors_used(size, v, s);
    unsigned found = 0;
    if (hidden_queue_is(size, HIDDEN_QUEUE_COLOR_TOO_SOON)) {
        struct hidden_queue_value none = {0};
        used = colors_used(size, &none, s);
    }
    for (unsigned c = 0; c < hidden_queue_colors(size) && found < count; c++) {
        if (!(used >> c & 1)) {
            colors[found++] = c;
        }
    }
    return found == count;
}

/* Delete the first empty cell that has an occupied cell behind it. False if there is none. */
static bool delete_one(const struct supervised_size *size, struct hidden_queue_value *v)
{
    unsigned cells = hidden_queue_cells(size);
    unsigned at = 0;
    unsigned end = cells;
    while (end > 0 && v->cells[end - 1].state == HIDDEN_QUEUE_EMPTY) {
        end--;
    }
    while (at < end && v->cells[at].state != HIDDEN_QUEUE_EMPTY) {
        at++;
    }
    if (at == end || hidden_queue_is(size, HIDDEN_QUEUE_NONE_DELETED)) {
        return false;
    }
    memmove(&v->cells[at], &v->cells[at + 1], (cells - 1 - at) * sizeof v->cells[0]);
    v->cells[cells - 1] = (struct hidden_queue_cell){0};
    return true;
}

/* The action for the first process of the hidden queue, and the number of new colours it needs. */
static enum hidden_queue_kind wish(const struct supervised_size *size,
                                   const struct hidden_queue_value *v,
                                   const struct hidden_queue_supervisor *s, unsigned *needs)
{
    const struct hidden_queue_entry *first = &s->hidden[0];
    bool room = v->cells[hidden_queue_cells(size) - 1].state == HIDDEN_QUEUE_EMPTY;
    *needs = 0;
    if (s->length == 0 || (!room && !hidden_queue_is(size, HIDDEN_QUEUE_ROUND_EARLY))) {
        return HIDDEN_QUEUE_DO_NOTHING;
    }
    if (hidden_queue_is_long(first) &&
        hidden_queue_holders(s, first->color) > hidden_queue_names(size)) {
        *needs = 3;
        return HIDDEN_QUEUE_DO_BEGIN;
    }
    /* no process may take a ticket of a colour that has a map */
    *needs = first->color == s->issue && !hidden_queue_is(size, HIDDEN_QUEUE_ISSUE_MAPPED);
    return room ? HIDDEN_QUEUE_DO_PLACE : HIDDEN_QUEUE_DO_NOTHING;
}

static struct hidden_queue_action choose_outside(const struct supervised_size *size,
                                                 const struct hidden_queue_value *v,
                                                 const struct hidden_queue_supervisor *s)
{
    unsigned stays = hidden_queue_colors(size);
    unsigned colors[3] = {stays, stays, stays};
    unsigned needs;
    enum hidden_queue_kind kind = wish(size, v, s, &needs);
    if (!new_colors(size, v, s, colors, needs)) {
        kind = HIDDEN_QUEUE_DO_NOTHING; /* until a process has left */
    }
    return (struct hidden_queue_action){kind, 0, 0, colors[0], colors[1], colors[2]};
}

bool hidden_queue_lacks_colors(const struct supervised_size *size,
                               const struct hidden_queue_value *v,
                               const struct hidden_queue_supervisor *s)
{
    unsigned colors[3];
    unsigned needs;
    return s->fresh == 0 && v->issued == s->noticed &&
           wish(size, v, s, &needs) != HIDDEN_QUEUE_DO_NOTHING &&
           !new_colors(size, v, s, colors, needs);
}

static struct hidden_queue_action choose(const struct supervised_size *size,
                                         const struct hidden_queue_value *v,
                                         const struct hidden_queue_supervisor *s)
{
    unsigned due = hidden_queue_channel_due(size, v);
    bool late = hidden_queue_is(size, HIDDEN_QUEUE_UNNOTICED);
    struct hidden_queue_action action = {HIDDEN_QUEUE_DO_NOTHING, 0, 0, 0, 0, 0};
    if (v->issued != s->noticed && !late) {
        action.kind = HIDDEN_QUEUE_DO_NOTICE;
    } else if (s->fresh == 0) {
        action = choose_outside(size, v, s);
    } else if (enough_talked(size, s) &&
               (due == size->r || v->channels[due].state != HIDDEN_QUEUE_DONE ||
                hidden_queue_is(size, HIDDEN_QUEUE_DONE_MISSED))) {
        action.kind = HIDDEN_QUEUE_DO_END;
    } else if (due < size->r) {
        action.kind = HIDDEN_QUEUE_DO_TALK;
        action.channel = due;
        action.heard = hidden_queue_listen(v, s, due);
    }
    if (action.kind == HIDDEN_QUEUE_DO_NOTHING && v->issued != s->noticed) {
        action.kind = HIDDEN_QUEUE_DO_NOTICE;
    }
    return action;
}

/* The map of all holders of a colour, in the order of the hidden queue; all of them are there. */
static struct short_names map_of(const struct supervised_size *size,
                                 const struct hidden_queue_supervisor *s, unsigned color)
{
    unsigned numbers[SHORT_NAMES_MOST] = {0};
    unsigned count = 0;
    for (unsigned i = 0; i < s->length && count < SHORT_NAMES_MOST; i++) {
        if (s->hidden[i].color == color) {
            numbers[count++] = s->hidden[i].name;
        }
    }
    struct short_names map = short_names_of(numbers, count);
    if (hidden_queue_is(size, HIDDEN_QUEUE_POSITION_FEWER) && count > 1) {
        map.position[count - 2] = 31; /* a bit position that no number has */
        map.codes = (uint16_t)(map.codes & ~(0x1111U << (count - 2)));
    }
    return map;
}

/* Apply an action to the value. `before` and `after` are the supervisor's states. */
static void publish_end(const struct supervised_size *size, struct hidden_queue_value *v,
                        const struct hidden_queue_supervisor *before,
                        const struct hidden_queue_supervisor *after)
{
    for (unsigned i = 0; i < before->length; i++) {
        unsigned color = before->hidden[i].color;
        if (!hidden_queue_is_left(size, before, i)) {
            continue;
        }
        if (hidden_queue_is_long(&before->hidden[i])) {
            v->maps[color] = map_of(size, before, color);
        }
        if (!hidden_queue_is(size, HIDDEN_QUEUE_NOT_CANCELLED)) {
            unsigned name = after->hidden[i].name & (HIDDEN_QUEUE_SHORT - 1);
            v->cancelled[color] = (uint8_t)(v->cancelled[color] | 1U << (name - 1));
        }
    }
    memset(v->channels, 0, sizeof v->channels);
}

static void publish_place(const struct supervised_size *size, struct hidden_queue_value *v,
                          const struct hidden_queue_supervisor *before)
{
    const struct hidden_queue_entry *first = &before->hidden[0];
    unsigned at = hidden_queue_cells(size) - 1;
    while (hidden_queue_is(size, HIDDEN_QUEUE_UNPADDED) && at > 0 &&
           v->cells[at - 1].state == HIDDEN_QUEUE_EMPTY) {
        at--;
    }
    v->cells[at] = (struct hidden_queue_cell){HIDDEN_QUEUE_WAITS, first->color, 1};
    if (hidden_queue_is_long(first)) {
        v->maps[first->color] = map_of(size, before, first->color);
    } else {
        v->cells[at].name = first->name & (HIDDEN_QUEUE_SHORT - 1);
    }
}

static void publish(const struct supervised_size *size, struct hidden_queue_value *v,
                    const struct hidden_queue_supervisor *before,
                    const struct hidden_queue_supervisor *after,
                    const struct hidden_queue_action *action)
{
    switch (action->kind) {
    case HIDDEN_QUEUE_DO_NOTHING:
    case HIDDEN_QUEUE_DO_NOTICE:
        break;
    case HIDDEN_QUEUE_DO_END:
        publish_end(size, v, before, after);
        break;
    case HIDDEN_QUEUE_DO_TALK:
        hidden_queue_answer(size, v, after, action->channel);
        break;
    case HIDDEN_QUEUE_DO_PLACE:
        publish_place(size, v, before);
        break;
    case HIDDEN_QUEUE_DO_BEGIN:
        for (unsigned i = 0; i < hidden_queue_channels(size); i++) {
            v->channels[i].state = HIDDEN_QUEUE_OPEN;
        }
        break;
    }
    if (after->issue != before->issue) {
        v->issue = after->issue;
        v->issued = 0;
    }
    v->alone = after->alone;
    v->fresh = after->fresh;
}

/* Delete the maps of colours that are not in use. */
static void delete_unused_maps(const struct supervised_size *size, struct hidden_queue_value *v,
                               const struct hidden_queue_supervisor *s)
{
    unsigned used = colors_used(size, v, s);
    for (unsigned c = 0; c < hidden_queue_colors(size); c++) {
        if (!(used >> c & 1)) {
            v->maps[c] = (struct short_names){0};
            v->cancelled[c] = 0;
        }
    }
}

unsigned hidden_queue_transition(const struct supervised_size *size, void *value,
                                 const void *supervisor)
{
    struct hidden_queue_value *v = value;
    const struct hidden_queue_supervisor *before = supervisor;
    struct hidden_queue_supervisor after = *before;
    struct hidden_queue_action action = {HIDDEN_QUEUE_DO_NOTHING, 0, 0, 0, 0, 0};
    delete_unused_maps(size, v, before); /* so that colours chosen below have no map */
    if (!delete_one(size, v)) {
        action = choose(size, v, before);
    } else if (hidden_queue_is(size, HIDDEN_QUEUE_TWO_DELETED)) {
        (void)delete_one(size, v);
    }
    unsigned transition = hidden_queue_number_of(size, &action);
    hidden_queue_follow(size, &after, transition);
    publish(size, v, before, &after, &action);
    delete_unused_maps(size, v, &after);
    return transition;
}
