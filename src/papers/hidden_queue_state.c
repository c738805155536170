/* The hidden queue's states: encoding and printing. See hidden_queue.h. */
#include "papers/hidden_queue.h"

#include <stdio.h>

static unsigned width_of(unsigned most)
{
    unsigned width = 0;
    while (most >> width != 0) {
        width++;
    }
    return width;
}

/* A string of bits that is written or read. */
struct string {
    unsigned char *to;
    const unsigned char *from;
    unsigned at;
};

/* Write or read a field: one list of fields serves both. */
static void field(struct string *string, unsigned width, uint8_t *number)
{
    if (string->to != NULL) {
        for (unsigned i = 0; i < width; i++) {
            string->to[string->at++] = *number >> i & 1;
        }
        return;
    }
    *number = 0;
    for (unsigned i = 0; i < width; i++) {
        *number = (uint8_t)(*number | string->from[string->at++] << i);
    }
}

static void talk_fields(const struct supervised_size *size, struct string *string,
                        struct hidden_queue_talk *t)
{
    unsigned number = width_of(size->n);
    field(string, 2, &t->stage);
    if (t->stage != HIDDEN_QUEUE_NO_TALK) {
        field(string, width_of(hidden_queue_colors(size) - 1), &t->color);
        field(string, number, &t->name);
        field(string, width_of(number), &t->position);
    }
    if (t->stage == HIDDEN_QUEUE_TELLS) {
        field(string, number, &t->reply);
    }
}

static void entry_fields(const struct supervised_size *size, struct string *string,
                         struct hidden_queue_entry *entry)
{
    uint8_t is_short = (entry->name & HIDDEN_QUEUE_SHORT) != 0;
    uint8_t name = entry->name & (HIDDEN_QUEUE_SHORT - 1);
    field(string, width_of(hidden_queue_colors(size) - 1), &entry->color);
    field(string, 1, &is_short);
    field(string, is_short ? width_of(hidden_queue_names(size)) : width_of(size->n), &name);
    entry->name = (uint8_t)((is_short ? HIDDEN_QUEUE_SHORT : 0) | name);
}

static void fields(const struct supervised_size *size, struct string *string,
                   struct hidden_queue_supervisor *s)
{
    unsigned color = width_of(hidden_queue_colors(size));
    field(string, color, &s->issue);
    field(string, width_of(size->n), &s->noticed);
    field(string, color, &s->fresh);
    if (s->fresh != 0) {
        field(string, color, &s->alone);
        field(string, width_of(size->n), &s->dealt);
        for (unsigned i = 0; i < size->r; i++) {
            talk_fields(size, string, &s->talks[i]);
        }
    }
    field(string, width_of(size->n), &s->length);
    for (unsigned i = 0; i < s->length; i++) {
        entry_fields(size, string, &s->hidden[i]);
    }
}

unsigned hidden_queue_encode(const struct supervised_size *size, const void *supervisor,
                             unsigned char *bits)
{
    struct hidden_queue_supervisor s = *(const struct hidden_queue_supervisor *)supervisor;
    struct string string = {bits, NULL, 0};
    fields(size, &string, &s);
    return string.at;
}

void hidden_queue_decode(const struct supervised_size *size, const unsigned char *bits,
                         unsigned length, void *supervisor)
{
    struct hidden_queue_supervisor s = {0};
    struct string string = {NULL, bits, 0};
    (void)length;
    fields(size, &string, &s);
    *(struct hidden_queue_supervisor *)supervisor = s;
}

unsigned hidden_queue_most_bits(const struct supervised_size *size)
{
    unsigned color = width_of(hidden_queue_colors(size));
    unsigned number = width_of(size->n);
    unsigned talk = 2 + color + 2 * number + width_of(number);
    return 3 * color + 3 * number + size->r * talk + size->n * (color + 1 + number);
}

static int print_channel(const struct hidden_queue_channel *c, char *out, size_t bytes)
{
    static const char *const states[] = {"-",     "open", "claim", "heard", "say",
                                         "alone", "tell", "taken", "done"};
    if (c->state == HIDDEN_QUEUE_CLAIM) {
        return snprintf(out, bytes, " claim(%u,%c)", c->color, "01L"[c->symbol]);
    }
    if (c->state == HIDDEN_QUEUE_SAY || c->state == HIDDEN_QUEUE_TELL) {
        return snprintf(out, bytes, " %s(%c)", states[c->state], "01L"[c->symbol]);
    }
    return snprintf(out, bytes, " %s", states[c->state]);
}

static int print_map(const struct hidden_queue_value *v, unsigned color, char *out, size_t bytes)
{
    const struct short_names *map = &v->maps[color];
    int length = snprintf(out, bytes, " M%u=%u", color, map->count);
    for (unsigned j = 0; j + 1 < map->count; j++) {
        size_t rest = (size_t)length < bytes ? bytes - (size_t)length : 0;
        length += snprintf(rest == 0 ? NULL : out + length, rest, "/%u", map->position[j]);
    }
    if (v->cancelled[color] != 0) {
        size_t rest = (size_t)length < bytes ? bytes - (size_t)length : 0;
        length += snprintf(rest == 0 ? NULL : out + length, rest, "!%x", v->cancelled[color]);
    }
    return length;
}

int hidden_queue_print(const struct supervised_size *size, const void *value, char *out,
                       size_t bytes)
{
    const struct hidden_queue_value *v = value;
    int length = snprintf(out, bytes, "ISSUE=(%u,%u)", v->issue, v->issued);
#define REST                                                                                       \
    ((size_t)length < bytes ? out + length : NULL),                                                \
        ((size_t)length < bytes ? bytes - (size_t)length : 0)
    for (unsigned i = 0; i < hidden_queue_cells(size); i++) {
        const struct hidden_queue_cell *cell = &v->cells[i];
        length += cell->state == HIDDEN_QUEUE_EMPTY
                      ? snprintf(REST, " -")
                      : snprintf(REST, " %u.%u%s", cell->color, cell->name,
                                 cell->state == HIDDEN_QUEUE_INSIDE ? "*" : "");
    }
    for (unsigned c = 0; c < hidden_queue_colors(size); c++) {
        length += v->maps[c].count == 0 ? 0 : print_map(v, c, REST);
    }
    if (v->fresh != 0) {
        length += snprintf(REST, " ALONE=%u FRESH=%u", v->alone - 1U, v->fresh - 1U);
        for (unsigned i = 0; i < size->r; i++) {
            length += print_channel(&v->channels[i], REST);
        }
    }
#undef REST
    return length;
}
