/* The actions of the hidden queue's supervisor; hidden_queue_supervisor.c chooses one per step. */
#ifndef USHER_PAPERS_HIDDEN_QUEUE_ACTION_H
#define USHER_PAPERS_HIDDEN_QUEUE_ACTION_H

#include "papers/hidden_queue.h"

enum hidden_queue_kind {
    HIDDEN_QUEUE_DO_NOTHING, /* the supervisor's state stays; a cell may be deleted */
    HIDDEN_QUEUE_DO_NOTICE,
    HIDDEN_QUEUE_DO_END,
    HIDDEN_QUEUE_DO_TALK,
    HIDDEN_QUEUE_DO_PLACE,
    HIDDEN_QUEUE_DO_BEGIN
};

struct hidden_queue_action {
    enum hidden_queue_kind kind;
    unsigned channel, heard; /* TALK: the channel, and what was read there */
    unsigned issue; /* PLACE: the new colour, or `colours` if unchanged; BEGIN: the new colour */
    unsigned alone, fresh; /* BEGIN: issue < alone < fresh */
};

/* The transition number of an action. */
unsigned hidden_queue_number_of(const struct supervised_size *size,
                                const struct hidden_queue_action *action);

static inline bool hidden_queue_is_long(const struct hidden_queue_entry *entry)
{
    return (entry->name & HIDDEN_QUEUE_SHORT) == 0;
}

/* Has the i-th process of the hidden queue not yet talked in this round? */
static inline bool hidden_queue_is_left(const struct supervised_size *size,
                                        const struct hidden_queue_supervisor *s, unsigned i)
{
    unsigned color = s->hidden[i].color;
    return color + 1 != s->alone && color + 1 != s->fresh &&
           (color != s->issue || hidden_queue_is(size, HIDDEN_QUEUE_ISSUE_KEPT));
}

#endif
