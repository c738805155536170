/* The hidden queue (1979, Lemma 4.5): the supervisor's side of the talks. See hidden_queue.h. */
#include "papers/hidden_queue.h"

unsigned hidden_queue_channel_due(const struct supervised_size *size,
                                  const struct hidden_queue_value *v)
{
    unsigned due = size->r;
    for (unsigned i = 0; i < size->r; i++) {
        unsigned state = v->channels[i].state;
        if (state == HIDDEN_QUEUE_DONE) {
            return i;
        }
        if (due == size->r && (state == HIDDEN_QUEUE_CLAIM || state == HIDDEN_QUEUE_SAY ||
                               state == HIDDEN_QUEUE_TAKEN)) {
            due = i;
        }
    }
    return due;
}

unsigned hidden_queue_listen(const struct hidden_queue_value *v,
                             const struct hidden_queue_supervisor *s, unsigned channel)
{
    const struct hidden_queue_channel *c = &v->channels[channel];
    switch ((enum hidden_queue_talk_stage)s->talks[channel].stage) {
    case HIDDEN_QUEUE_NO_TALK:
        return c->color * (unsigned)HIDDEN_QUEUE_SYMBOLS + c->symbol;
    case HIDDEN_QUEUE_LISTENS:
        return c->symbol;
    case HIDDEN_QUEUE_TELLS: /* TAKEN or DONE: the supervisor knows which, from what it sent */
        break;
    }
    return 0;
}

/* The position of a process in the hidden queue, by its name; `length` if it is not there. */
static unsigned place_of(const struct hidden_queue_supervisor *s, unsigned color, unsigned name)
{
    unsigned i = 0;
    while (i < s->length && (s->hidden[i].color != color ||
                             (s->hidden[i].name & (HIDDEN_QUEUE_SHORT - 1)) != name)) {
        i++;
    }
    return i;
}

static void rename_entry(struct hidden_queue_supervisor *s, const struct hidden_queue_talk *t)
{
    unsigned i = place_of(s, t->color, t->name);
    if (i < s->length) { /* always true, except in mutants */
        s->hidden[i].color = (uint8_t)(t->reply == 0 ? s->alone - 1U : s->fresh - 1U);
        s->hidden[i].name = t->reply == 0 ? 1 : t->reply;
    }
}

static void hear(const struct supervised_size *size, struct hidden_queue_supervisor *s,
                 struct hidden_queue_talk *t, unsigned symbol)
{
    t->stage = HIDDEN_QUEUE_LISTENS;
    t->name = hidden_queue_hear(t->name, t->position++, symbol);
    if (symbol != HIDDEN_QUEUE_LAST) {
        return;
    }
    t->stage = HIDDEN_QUEUE_TELLS;
    t->position = 0;
    t->reply = place_of(s, t->color, t->name) == 0 ? 0 : ++s->dealt;
    if (hidden_queue_is(size, HIDDEN_QUEUE_HEARD_TOO_SOON)) {
        rename_entry(s, t);
    }
}

static bool sent_all(const struct hidden_queue_talk *t)
{
    return t->reply == 0 || hidden_queue_symbol(t->reply, t->position) == HIDDEN_QUEUE_LAST;
}

void hidden_queue_take_in(const struct supervised_size *size, struct hidden_queue_supervisor *s,
                          unsigned channel, unsigned heard)
{
    struct hidden_queue_talk *t = &s->talks[channel];
    switch ((enum hidden_queue_talk_stage)t->stage) {
    case HIDDEN_QUEUE_NO_TALK:
        t->color = (uint8_t)(heard / HIDDEN_QUEUE_SYMBOLS);
        hear(size, s, t, heard % HIDDEN_QUEUE_SYMBOLS);
        break;
    case HIDDEN_QUEUE_LISTENS:
        hear(size, s, t, heard);
        break;
    case HIDDEN_QUEUE_TELLS:
        if (sent_all(t)) {
            rename_entry(s, t);
            *t = (struct hidden_queue_talk){0};
        } else {
            t->position++;
        }
        break;
    }
}

void hidden_queue_answer(const struct supervised_size *size, struct hidden_queue_value *v,
                         const struct hidden_queue_supervisor *s, unsigned channel)
{
    const struct hidden_queue_talk *t = &s->talks[channel];
    struct hidden_queue_channel *c = &v->channels[channel];
    (void)size;
    switch ((enum hidden_queue_talk_stage)t->stage) {
    case HIDDEN_QUEUE_NO_TALK:
        *c = (struct hidden_queue_channel){.state = HIDDEN_QUEUE_OPEN};
        break;
    case HIDDEN_QUEUE_LISTENS:
        *c = (struct hidden_queue_channel){.state = HIDDEN_QUEUE_HEARD};
        break;
    case HIDDEN_QUEUE_TELLS:
        *c = t->reply == 0 ? (struct hidden_queue_channel){.state = HIDDEN_QUEUE_ALONE}
                           : (struct hidden_queue_channel){
                                 .state = HIDDEN_QUEUE_TELL,
                                 .symbol = hidden_queue_symbol(t->reply, t->position)};
        break;
    }
}
