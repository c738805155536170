/* What a pool file must look like: see format.h. */
#include "pool/format.h"

#include "core/core.h"

#include <errno.h>
#include <string.h>

static uint32_t power_of_two(uint32_t least)
{
    uint32_t power = 2;
    while (power < least) {
        power *= 2;
    }
    return power;
}

int usher__format_shape(struct format_shape *shape, uint32_t seats, uint32_t guests)
{
    if (guests == 0) {
        guests = FORMAT_DEFAULT_GUESTS;
        while (guests < 2 * (uint64_t)seats && guests < FORMAT_MAX_GUESTS) {
            guests = guests * 2 < FORMAT_MAX_GUESTS ? guests * 2 : FORMAT_MAX_GUESTS;
        }
    }
    if (guests > FORMAT_MAX_GUESTS || seats > guests) {
        return -1;
    }
    uint32_t places = power_of_two(guests);
    /* As many seats as 80 bytes for each guest, of which its row takes 64, and 64 for each first
       seat leave room for: it can grow to that. More than guests would be of no use. */
    uint64_t room = (16 * (uint64_t)guests + 64 * (uint64_t)seats - 8 * places) / 8;
    uint32_t most = room < guests ? (uint32_t)room : guests;
    most = most > seats ? most : seats;
    most = most > 0 ? most : 1;
    memset(shape, 0, sizeof *shape);
    shape->magic = FORMAT_MAGIC;
    shape->version = FORMAT_VERSION;
    shape->order = FORMAT_ORDER;
    shape->guests = guests;
    shape->places = places;
    shape->most_seats = most;
    shape->seats = seats;
    shape->rows_at = FORMAT_PAGE;
    shape->line_at = shape->rows_at + 64 * ((uint64_t)guests + FORMAT_VISITORS);
    shape->seats_at = shape->line_at + 8 * (uint64_t)places;
    shape->size = shape->seats_at + 8 * (uint64_t)most;
    return 0;
}

struct core usher__format_core(struct format_header *header, const struct format_shape *shape)
{
    return (struct core){
        .words = (void *)((char *)header + FORMAT_WORDS),
        .rows = shape->guests,
        .seats = shape->most_seats,
        .line_mask = shape->places - 1,
        .at_line = (uint32_t)((shape->line_at - FORMAT_WORDS) / 8),
        .at_seat = (uint32_t)((shape->seats_at - FORMAT_WORDS) / 8),
        .rows_used = &header->rows_used,
        .visitors = FORMAT_VISITORS,
    };
}

int usher__format_verify(const struct format_header *header, uint64_t size)
{
    const struct format_shape *shape = &header->shape;
    struct format_shape right;
    if (shape->magic == __builtin_bswap64(FORMAT_MAGIC)) {
        return -EPROTONOSUPPORT; /* written by a machine of the other byte order */
    }
    if (shape->magic != FORMAT_MAGIC) {
        return -EBADMSG;
    }
    if (shape->order != FORMAT_ORDER || shape->version != FORMAT_VERSION) {
        return -EPROTONOSUPPORT;
    }
    if (format_check(shape) != header->check) {
        return -EUCLEAN;
    }
    /* The rest follows from two numbers: a right sum over wrong ones was not written by this
       library. */
    if (shape->guests == 0 || usher__format_shape(&right, shape->seats, shape->guests) != 0 ||
        memcmp(&right, shape, sizeof right) != 0) {
        return -EUCLEAN;
    }
    return size < shape->size ? -EMSGSIZE : 0;
}
