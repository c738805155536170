/*
 * SQ2 (2014, Algorithm 2): the elements of its queue and the state of a process. sq2.c has the
 * algorithm. sq2_ids.c renumbers ids for the checker and checks them.
 */
#ifndef USHER_PAPERS_SQ2_H
#define USHER_PAPERS_SQ2_H

#include "papers/shared_queue.h"

/*
 * Elements, the first bit first:
 *
 *     (APPLY, name, version):      0, name, version                 3 bits
 *     (OFFER, name, version, id):  1, name (2 bits), version, id    4 + 21 bits
 *
 * There are at most six elements, two of them offers: 12 + 2 * 25 bits. Ids are kept modulo 2^21
 * and compared by the sign of the difference. That is right unless one process rests or is stopped
 * while the other passes 2^20 times; then a good offer could look overdue.
 */
enum { SQ2_ID_BITS = 21, SQ2_APPLY_BITS = 3, SQ2_OFFER_BITS = 4 + SQ2_ID_BITS };
enum { SQ2_ID_MASK = (1 << SQ2_ID_BITS) - 1 };
enum { SQ2_ALL = 2 }; /* a third name: the offer is for both */

enum sq2_stage {
    SQ2_REMAINDER,
    SQ2_APPLYING,   /* line 2, j = 2, is next */
    SQ2_LOOKING,    /* line 5 */
    SQ2_REAPPLYING, /* line 11 */
    SQ2_INSIDE,     /* lines 18-23 */
    SQ2_SWEEPING,   /* line 23 */
    SQ2_OFFERING,   /* line 29 */
    SQ2_GIVING,     /* line 32, j = 1 */
    SQ2_GIVING_TWO, /* line 32, j = 2 */
    SQ2_WATCHING,   /* line 35 */
    SQ2_REGIVING,   /* line 41 */
    SQ2_RETURNING   /* line 43 */
};

struct sq2_state {
    uint8_t stage;
    uint8_t flag;
    uint8_t m1, m2; /* versions; 0 if unused */
    uint8_t eaten;
    uint8_t unused[3];
    uint32_t idmaker; /* kept in the remainder */
    uint32_t t;       /* the element just dequeued: the offer taken, or one to enqueue again */
};

static inline uint32_t sq2_apply(unsigned name, unsigned version)
{
    return name << 1 | (version - 1) << 2;
}

static inline uint32_t sq2_offer(unsigned name, unsigned version, uint32_t id)
{
    return 1 | name << 1 | (version - 1) << 3 | (id & SQ2_ID_MASK) << 4;
}

static inline bool sq2_is_offer(uint64_t element)
{
    return element & 1;
}

static inline unsigned sq2_name_of(uint64_t element)
{
    return (unsigned)(element >> 1) & (sq2_is_offer(element) ? 3 : 1);
}

static inline uint8_t sq2_version_of(uint64_t element)
{
    return (uint8_t)((element >> (sq2_is_offer(element) ? 3 : 2) & 1) + 1);
}

static inline uint32_t sq2_id_of(uint64_t element)
{
    return (uint32_t)(element >> 4) & SQ2_ID_MASK;
}

/* Is `id` greater than `than` (positive), equal (0) or less? */
static inline int32_t sq2_beyond(uint32_t id, uint32_t than)
{
    int32_t difference = (int32_t)((id - than) & SQ2_ID_MASK);
    return difference < 1 << (SQ2_ID_BITS - 1) ? difference : difference - (1 << SQ2_ID_BITS);
}

static inline unsigned sq2_width(const struct step_system *system, uint64_t bits)
{
    (void)system;
    return sq2_is_offer(bits) ? SQ2_OFFER_BITS : SQ2_APPLY_BITS;
}

/* sq2_ids.c: members of the machine (step/step.h). */
void sq2_rebase(const struct step_system *system, uint64_t *words, void *states);
const char *sq2_wrong(const struct step_system *system, const uint64_t *words, const void *states);
int sq2_print_word(const struct step_system *system, unsigned word, uint64_t value, char *out,
                   size_t size);

#endif
