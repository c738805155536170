/*
 * usher_verify finds each fault. One word of a good pool is changed at a time: usher_verify must
 * report the sentence for that fault, and nothing after the word is restored.
 */
#include "scene.h"

#include "pool/pool.h"

#include <string.h>

enum { SEATS = 2, GUESTS = 8 };

/* A pool with one seat held, by row 0, and one free; and the last sentence reported about it. */
struct patient {
    struct usher_pool *pool;
    struct usher_seat seat;
    char said[256];
};

static void hear(void *context, const char *sentence)
{
    struct patient *patient = context;
    (void)snprintf(patient->said, sizeof patient->said, "%s", sentence);
}

static struct patient admit(void)
{
    struct patient patient = {0};
    struct usher_options options = {.seats = SEATS, .guests = GUESTS};
    EXPECT_EQ(usher_open(&patient.pool, "pool", &options), 0);
    patient.seat = scene_acquire(patient.pool);
    EXPECT_EQ(usher_verify(patient.pool, hear, &patient), 0);
    return patient;
}

static void discharge(struct patient *patient)
{
    EXPECT_EQ(usher_release(patient->pool, &patient->seat), 0);
    usher_close(patient->pool);
    EXPECT_EQ(usher_remove("pool"), 0);
}

static void expect_said(struct patient *patient, int faults, const char *part)
{
    patient->said[0] = '\0';
    EXPECT_EQ(usher_verify(patient->pool, hear, patient), faults);
    EXPECT_EQ(usher_verify(patient->pool, NULL, NULL), faults);
    if (strstr(patient->said, part) == NULL) {
        (void)fprintf(stderr, "it does not say \"%s\", but \"%s\"\n", part, patient->said);
        exit(1);
    }
}

/* Change a word: usher_verify reports that sentence. Restore it: it reports nothing. */
static void expect_fault(struct patient *patient, _Atomic uint64_t *word, uint64_t value,
                         const char *part)
{
    uint64_t before = atomic_exchange(word, value);
    expect_said(patient, 1, part);
    atomic_store(word, before);
    expect_said(patient, 0, "");
}

static void wrong_sums_of_seats_are_found(void)
{
    struct patient patient = admit();
    const struct core *core = &patient.pool->core;
    _Atomic uint64_t *i = &core->words[CORE_AT_I(core)];
    _Atomic uint64_t *v = &core->words[CORE_AT_V(core)];
    _Atomic uint64_t *k = &core->words[CORE_AT_K(core)];
    uint32_t issue = core_i_issue(*i);
    uint32_t valid = core_v_valid(*v);
    EXPECT_EQ(valid, issue + 1); /* one more ticket is valid: the free seat */
    expect_fault(&patient, v, core_v(valid - 1, 0, CORE_NOBODY, 0), "2 seats only 1");
    expect_fault(&patient, v, core_v(valid, 1, CORE_NOBODY, 0), "3 seats only 2");
    expect_fault(&patient, v, core_v(issue + SEATS + 1, 0, CORE_NOBODY, 0), "3 tickets are valid");
    expect_fault(&patient, i, core_i(valid + core->line_mask + 1, CORE_NOBODY, 0), "places long");
    /* VALID is changed as well, so that the sums of seats are right */
    uint64_t before = atomic_exchange(v, core_v(issue + core->seats, 0, CORE_NOBODY, 0));
    uint64_t seats = atomic_exchange(k, core_k(core->seats + 1, CORE_NOBODY, 0));
    expect_said(&patient, 1, "but there is room for");
    atomic_store(k, seats);
    atomic_store(v, before);
    discharge(&patient);
}

static void wrong_rows_are_found(void)
{
    struct patient patient = admit();
    struct usher_pool *pool = patient.pool;
    _Atomic uint64_t *v = &pool->core.words[CORE_AT_V(&pool->core)];
    uint64_t granted = core_row(CORE_GRANTED, 1, 1);
    atomic_store(&pool->header->rows_used, GUESTS);
    expect_fault(&patient, &pool->rows[1].word, core_row(CORE_WAITING, 1, 0), "1 guests wait");
    expect_fault(&patient, &pool->rows[1].word, core_row((enum core_state)7, 1, 0),
                 "state that does not exist");
    atomic_store(&pool->rows[1].word, granted);
    expect_fault(&patient, &pool->rows[2].word, granted, "3 guests hold a seat");
    atomic_store(&pool->rows[1].word, 0);
    atomic_store(&pool->header->rows_used, 1);
    expect_fault(&patient, &pool->rows[3].word, granted, "row 3 is in use");
    /* a row that leaves counts like a row that is in */
    atomic_store(&pool->header->rows_used, GUESTS);
    uint64_t before = atomic_exchange(v, core_v(core_v_valid(*v) - 1, 0, CORE_NOBODY, 0));
    atomic_store(&pool->rows[1].word, core_row(CORE_LEAVING, 1, 1));
    expect_said(&patient, 0, "");
    atomic_store(&pool->rows[1].word, 0);
    atomic_store(v, before);
    discharge(&patient);
}

static void seats_and_rows_that_do_not_exist_are_found(void)
{
    struct patient patient = admit();
    struct usher_pool *pool = patient.pool;
    _Atomic uint64_t *seats = &pool->core.words[pool->core.at_seat];
    uint32_t last = pool->core.seats - 1;
    expect_fault(&patient, &seats[1], core_seat(GUESTS, CORE_NOBODY, 0), "Seat 1 names guest row");
    expect_fault(&patient, &seats[last], core_seat(0, GUESTS, 0), "names guest row 8");
    expect_fault(&patient, &pool->rows[GUESTS - 1].seat_hint, core_hint(pool->core.seats, 0),
                 "row 7 names");
    discharge(&patient);
}

static void a_header_that_was_changed_is_found(void)
{
    struct patient patient = admit();
    struct format_shape *shape = &patient.pool->header->shape;
    shape->seats++;
    expect_said(&patient, 1, "checksum");
    shape->seats--;
    expect_said(&patient, 0, "");
    discharge(&patient);
}

int main(void)
{
    scene_begin();
    RUN(wrong_sums_of_seats_are_found);
    RUN(wrong_rows_are_found);
    RUN(seats_and_rows_that_do_not_exist_are_found);
    RUN(a_header_that_was_changed_is_found);
    return 0;
}
