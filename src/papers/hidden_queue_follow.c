/*
 * The hidden queue (1979, Lemma 4.5): the supervisor's next state, from the number of its
 * transition. See hidden_queue.h.
 *
 * The number is one of a few, and none of them depends on N (R8):
 *
 *     0 nothing   1 one arrival noticed   2 the round ends
 *     3 + ...     in a round: what was read in which channel
 *                 else: a process is placed, with the new colour of `issue` or none (colours + 1);
 *                 or a round begins, with its three colours
 */
#include "papers/hidden_queue_action.h"

#include <assert.h>
#include <string.h>

enum { NOTHING, NOTICE, END, FIRST };

/* The number of a set of three colours, a < b < c, among all such sets; with `find` the inverse.
   Return the number of sets, or of the sets before the one looked for. */
static unsigned three_colors(unsigned colors, unsigned number, unsigned *a, unsigned *b,
                             unsigned *c, bool find)
{
    unsigned n = 0;
    for (unsigned i = 0; i < colors; i++) {
        for (unsigned j = i + 1; j < colors; j++) {
            for (unsigned l = j + 1; l < colors; l++, n++) {
                if (find ? n == number : i == *a && j == *b && l == *c) {
                    *a = i;
                    *b = j;
                    *c = l;
                    return n;
                }
            }
        }
    }
    return n;
}

unsigned hidden_queue_number_of(const struct supervised_size *size,
                                const struct hidden_queue_action *action)
{
    unsigned colors = hidden_queue_colors(size);
    unsigned a = action->issue;
    unsigned b = action->alone;
    unsigned c = action->fresh;
    switch (action->kind) {
    case HIDDEN_QUEUE_DO_NOTHING:
        return NOTHING;
    case HIDDEN_QUEUE_DO_NOTICE:
        return NOTICE;
    case HIDDEN_QUEUE_DO_END:
        return END;
    case HIDDEN_QUEUE_DO_TALK:
        return FIRST + action->channel * HIDDEN_QUEUE_SYMBOLS * colors + action->heard;
    case HIDDEN_QUEUE_DO_PLACE:
        return FIRST + action->issue;
    case HIDDEN_QUEUE_DO_BEGIN:
        break;
    }
    return FIRST + colors + 1 + three_colors(colors, 0, &a, &b, &c, false);
}

static struct hidden_queue_action action_of(const struct supervised_size *size,
                                            const struct hidden_queue_supervisor *s,
                                            unsigned number)
{
    unsigned colors = hidden_queue_colors(size);
    struct hidden_queue_action action = {HIDDEN_QUEUE_DO_NOTHING, 0, 0, 0, 0, 0};
    if (number < FIRST) {
        action.kind = number == NOTICE ? HIDDEN_QUEUE_DO_NOTICE
                      : number == END  ? HIDDEN_QUEUE_DO_END
                                       : HIDDEN_QUEUE_DO_NOTHING;
    } else if (s->fresh != 0) {
        action.kind = HIDDEN_QUEUE_DO_TALK;
        action.channel = (number - FIRST) / (HIDDEN_QUEUE_SYMBOLS * colors);
        action.heard = (number - FIRST) % (HIDDEN_QUEUE_SYMBOLS * colors);
    } else if (number < FIRST + colors + 1) {
        action.kind = HIDDEN_QUEUE_DO_PLACE;
        action.issue = number - FIRST;
    } else {
        action.kind = HIDDEN_QUEUE_DO_BEGIN;
        (void)three_colors(colors, number - FIRST - colors - 1, &action.issue, &action.alone,
                           &action.fresh, true);
    }
    return action;
}

unsigned hidden_queue_transitions(const struct supervised_size *size, const void *supervisor)
{
    unsigned colors = hidden_queue_colors(size);
    unsigned none = colors;
    if (((const struct hidden_queue_supervisor *)supervisor)->fresh != 0) {
        return FIRST + size->r * HIDDEN_QUEUE_SYMBOLS * colors;
    }
    return FIRST + colors + 1 + three_colors(colors, 0, &none, &none, &none, false);
}

/* A colour has got a map: record its holders under their short names. */
static void shorten(struct hidden_queue_supervisor *s, unsigned color)
{
    uint8_t name = 0;
    for (unsigned i = 0; i < s->length; i++) {
        if (s->hidden[i].color == color && hidden_queue_is_long(&s->hidden[i])) {
            s->hidden[i].name = HIDDEN_QUEUE_SHORT | ++name;
        }
    }
}

static void end_round(const struct supervised_size *size, struct hidden_queue_supervisor *s)
{
    for (unsigned i = 0; i < s->length; i++) {
        if (hidden_queue_is_left(size, s, i)) {
            shorten(s, s->hidden[i].color);
        }
    }
    s->alone = s->fresh = s->dealt = 0;
    memset(s->talks, 0, sizeof s->talks);
}

static void place_first(struct hidden_queue_supervisor *s)
{
    s->length--;
    memmove(&s->hidden[0], &s->hidden[1], s->length * sizeof s->hidden[0]);
    s->hidden[s->length] = (struct hidden_queue_entry){0};
}

void hidden_queue_follow(const struct supervised_size *size, void *supervisor, unsigned transition)
{
    struct hidden_queue_supervisor *s = supervisor;
    struct hidden_queue_action action = action_of(size, s, transition);
    bool new_issue = action.kind == HIDDEN_QUEUE_DO_BEGIN;
    switch (action.kind) {
    case HIDDEN_QUEUE_DO_NOTHING:
        break;
    case HIDDEN_QUEUE_DO_NOTICE:
        assert(s->length < HIDDEN_QUEUE_WORKERS);
        s->hidden[s->length++] = (struct hidden_queue_entry){s->issue, ++s->noticed};
        break;
    case HIDDEN_QUEUE_DO_END:
        end_round(size, s);
        break;
    case HIDDEN_QUEUE_DO_TALK:
        hidden_queue_take_in(size, s, action.channel, action.heard);
        break;
    case HIDDEN_QUEUE_DO_PLACE:
        shorten(s, s->hidden[0].color);
        place_first(s);
        new_issue = action.issue < hidden_queue_colors(size);
        break;
    case HIDDEN_QUEUE_DO_BEGIN:
        s->alone = (uint8_t)(action.alone + 1);
        s->fresh = (uint8_t)(action.fresh + 1);
        new_issue = !hidden_queue_is(size, HIDDEN_QUEUE_ISSUE_KEPT);
        break;
    }
    if (new_issue) {
        s->issue = (uint8_t)action.issue;
        s->noticed = 0;
    }
}
