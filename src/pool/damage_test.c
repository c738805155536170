/*
 * Damaged pool files: truncated, foreign, with flipped bits, random, or changed by another process
 * that has them open. The library refuses the damage that it recognises, each kind with its own
 * error, and does not change the file. If the header is right and the content is not, any call may
 * fail or wait. But no call crashes, hangs despite a deadline, or touches memory beside the pool:
 * the calls run in children, and the pool lies between two fences. usage: damage_test [SEED]
 */
#include "pool/pool.h"
#include "scene.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 64 * 1024, CHILD_SECONDS = 60 };

static unsigned char whole[MOST]; /* the bytes of a new pool */
static size_t whole_size;

/* Create a pool and keep the bytes of its file. */
static void make_new_pool(uint32_t seats, uint32_t guests)
{
    struct usher_pool *pool;
    struct usher_options options = {.seats = seats, .guests = guests};
    EXPECT_EQ(usher_open(&pool, "model", &options), 0);
    int fd = open(usher_path(pool), O_RDONLY | O_CLOEXEC);
    ssize_t got = read(fd, whole, sizeof whole);
    EXPECT(got > FORMAT_PAGE && got < (ssize_t)sizeof whole);
    whole_size = (size_t)got;
    EXPECT_EQ(close(fd), 0);
    usher_close(pool);
    EXPECT_EQ(usher_remove("model"), 0);
}

static void write_file(const void *bytes, size_t size)
{
    int fd = open(scene_path("damaged"), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    EXPECT(fd >= 0);
    EXPECT_EQ(write(fd, bytes, size), (ssize_t)size);
    EXPECT_EQ(close(fd), 0);
}

static bool file_is(const void *bytes, size_t size)
{
    static unsigned char found[MOST];
    int fd = open(scene_path("damaged"), O_RDONLY | O_CLOEXEC);
    ssize_t got = read(fd, found, sizeof found);
    EXPECT_EQ(close(fd), 0);
    return got == (ssize_t)size && memcmp(found, bytes, size) == 0;
}

/* Open the damaged file and return the error. The file must not change. usher_discard removes what
   was a pool once, and nothing else. */
static int error_of(const void *bytes, size_t size)
{
    struct usher_pool *pool = (struct usher_pool *)board;
    write_file(bytes, size);
    int error = usher_open(&pool, "damaged", NULL);
    if (error == 0) {
        usher_close(pool);
        return 0;
    }
    EXPECT(pool == NULL);
    EXPECT_EQ(usher_open(&pool, "damaged", &(struct usher_options){.flags = USHER_EXISTING}),
              error);
    EXPECT_EQ(usher_remove("damaged"), error);
    bool was_a_pool = error == -EUCLEAN || error == -EMSGSIZE || error == -EPROTONOSUPPORT;
    EXPECT(file_is(bytes, size));
    EXPECT_EQ(usher_discard("damaged"), was_a_pool ? 0 : error);
    EXPECT(was_a_pool ? access(scene_path("damaged"), F_OK) != 0 : file_is(bytes, size));
    return error;
}

static void an_empty_file_has_an_error_of_its_own(void)
{
    EXPECT_EQ(error_of("", 0), -ENODATA);
    EXPECT_EQ(error_of("x", 1), -EBADMSG);
    EXPECT_EQ(error_of("", 1), -EBADMSG);
    EXPECT_EQ(error_of("usher pool\n", 11), -EBADMSG);
    memset(whole, 0, sizeof whole);
    for (size_t size = 1; size < sizeof whole; size = 2 * size + 1) {
        EXPECT_EQ(error_of(whole, size), -EBADMSG); /* all zero: a file that was never written */
    }
}

static void a_file_truncated_anywhere_is_refused(void)
{
    static const uint32_t sizes[][2] = {{1, 1}, {2, 3}, {1, 64}};
    for (unsigned s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        make_new_pool(sizes[s][0], sizes[s][1]);
        EXPECT_EQ(error_of(whole, whole_size), 0);
        write_file(whole, whole_size);
        for (size_t size = whole_size - 1; size > 0; size--) {
            struct usher_pool *pool = (struct usher_pool *)board;
            EXPECT_EQ(truncate(scene_path("damaged"), (off_t)size), 0);
            int error = usher_open(&pool, "damaged", NULL);
            EXPECT(error == -EMSGSIZE || (size < 8 && error == -EBADMSG));
            EXPECT(pool == NULL);
        }
        EXPECT_EQ(truncate(scene_path("damaged"), 0), 0);
        EXPECT_EQ(error_of("", 0), -ENODATA);
    }
}

static void a_file_that_is_longer_is_accepted(void)
{
    make_new_pool(3, 9);
    memset(whole + whole_size, 0xa5, 5000);
    EXPECT_EQ(error_of(whole, whole_size + 1), 0);
    EXPECT_EQ(error_of(whole, whole_size + 5000), 0);
    scene_expect_whole("damaged", 3);
}

/* The header, in which a test changes a field. error_with_sum corrects the checksum. */
static struct format_header *header(void)
{
    return (void *)whole;
}

static int error_with_sum(void)
{
    header()->check = format_check(&header()->shape);
    return error_of(whole, whole_size);
}

static void a_pool_of_another_version_has_an_error_of_its_own(void)
{
    static const uint32_t versions[] = {0,   FORMAT_VERSION - 1, FORMAT_VERSION + 1, 255,
                                        256, UINT32_MAX};
    make_new_pool(2, 8);
    for (unsigned v = 0; v < sizeof versions / sizeof versions[0]; v++) {
        header()->shape.version = versions[v];
        EXPECT_EQ(error_of(whole, whole_size), -EPROTONOSUPPORT);
        EXPECT_EQ(error_with_sum(), -EPROTONOSUPPORT);
        EXPECT_EQ(error_of(whole, sizeof(struct format_header)), -EPROTONOSUPPORT);
    }
}

/* The file as a machine of the other byte order would write it. */
static void a_pool_of_another_byte_order_has_an_error_of_its_own(void)
{
    make_new_pool(2, 8);
    struct format_shape *shape = &header()->shape;
    shape->magic = __builtin_bswap64(shape->magic);
    uint32_t *narrow[] = {&shape->version, &shape->order,      &shape->guests,
                          &shape->places,  &shape->most_seats, &shape->seats};
    uint64_t *wide[] = {&shape->rows_at, &shape->line_at, &shape->seats_at, &shape->size};
    for (unsigned i = 0; i < 6; i++) {
        *narrow[i] = __builtin_bswap32(*narrow[i]);
    }
    for (unsigned i = 0; i < 4; i++) {
        *wide[i] = __builtin_bswap64(*wide[i]);
    }
    header()->check = __builtin_bswap64(format_check(shape));
    EXPECT_EQ(error_of(whole, whole_size), -EPROTONOSUPPORT);
    EXPECT_EQ(error_with_sum(), -EPROTONOSUPPORT);
    make_new_pool(2, 8);
    header()->shape.order = __builtin_bswap32(header()->shape.order);
    EXPECT_EQ(error_with_sum(), -EPROTONOSUPPORT);
}

static void fill_randomly(void *bytes, size_t size)
{
    for (size_t at = 0; at < size; at += 8) {
        uint64_t word = scene_random();
        memcpy((char *)bytes + at, &word, size - at < 8 ? size - at : 8);
    }
}

static void random_bytes_are_refused(void)
{
    for (int round = 0; round < 500; round++) {
        size_t size = 1 + scene_random() % (MOST / 4);
        fill_randomly(whole, size);
        EXPECT_EQ(error_of(whole, size), -EBADMSG);
    }
    for (int round = 0; round < 500; round++) { /* the stamp is right, the rest is random */
        size_t size = 8 + scene_random() % 6000;
        fill_randomly(whole, size);
        header()->shape.magic = FORMAT_MAGIC;
        int error = error_of(whole, size);
        EXPECT(size < sizeof(struct format_header) ? error == -EMSGSIZE
                                                   : error == -EPROTONOSUPPORT);
        header()->shape.version = FORMAT_VERSION;
        header()->shape.order = FORMAT_ORDER;
        EXPECT(size < sizeof(struct format_header) || error_of(whole, size) == -EUCLEAN);
    }
}

/* Write `value` into one field of the shape. Return whether the shape is wrong now. The first
   number of seats is no index, so any value that fits is right. */
static bool misshape(struct format_shape *shape, uint64_t field, uint64_t value)
{
    struct format_shape before = *shape;
    uint32_t *narrow[] = {&shape->guests, &shape->places, &shape->most_seats, &shape->seats};
    uint64_t *wide[] = {&shape->rows_at, &shape->line_at, &shape->seats_at, &shape->size};
    if (field < 4) {
        *narrow[field] = (uint32_t)value;
    } else {
        *wide[field - 4] = value;
    }
    before.seats = shape->seats <= shape->guests ? shape->seats : before.seats;
    return memcmp(&before, shape, sizeof before) != 0;
}

static void wrong_numbers_with_a_right_sum_are_refused(void)
{
    static const uint64_t odd[] = {0, 1, 7, 8, 4095, 4096, 1 << 20, 1ULL << 32, UINT64_MAX, 3904};
    make_new_pool(2, 8);
    struct format_shape right = header()->shape;
    for (int round = 0; round < 1000; round++) {
        uint64_t value = scene_random() % 3 == 0 ? scene_random() : odd[scene_random() % 10];
        bool wrong = misshape(&header()->shape, scene_random() % 8, value);
        EXPECT_EQ(error_with_sum(), wrong ? -EUCLEAN : 0);
        header()->shape = right;
    }
    /* The numbers fit each other, but not the file. */
    make_new_pool(2, 8);
    EXPECT_EQ(usher__format_shape(&header()->shape, 2, 60000), 0);
    EXPECT_EQ(error_with_sum(), -EMSGSIZE);
    /* The pool has more seats than it has room for. */
    make_new_pool(2, 8);
    uint64_t k = core_k(9, CORE_NOBODY, 0);
    memcpy(whole + FORMAT_WORDS + 8UL * CORE_AT_K(0), &k, sizeof k);
    EXPECT_EQ(error_of(whole, whole_size), -EUCLEAN);
}

/* Make every call. The results do not matter. */
static void abuse(struct usher_pool *pool, int rounds)
{
    struct usher_info info;
    struct usher_guest guests[100];
    struct usher_seat seats[4];
    int got[4];
    for (int round = 0; round < rounds; round++) {
        EXPECT(usher_inspect(pool, &info, guests, 100) >= -4095);
        for (int s = 0; s < 4; s++) {
            struct timespec soon = scene_in_ms(s == 3 ? 2 : 0);
            got[s] = s < 2 ? usher_try_acquire(pool, &seats[s])
                           : usher_acquire_until(pool, &seats[s], &soon);
            EXPECT(got[s] != 0 || seats[s].number < pool->core.seats);
        }
        (void)usher_resize(pool, (uint32_t)scene_random() % (pool->core.seats + 2));
        (void)usher_reap(pool);
        for (int s = 0; s < 4; s++) {
            if (got[s] != 0) {
                fill_randomly(&seats[s], sizeof seats[s]);
                /* a row number that may exist */
                seats[s].request &= 0x000000000063ffffULL << 1 | 1;
                (void)usher_release(pool, &seats[s]);
                (void)usher_assign(pool, &seats[s], getpid());
            } else if (scene_random() % 2 == 0) {
                (void)usher_assign(pool, &seats[s], scene_random() % 2 == 0 ? getpid() : 1);
            } else {
                (void)usher_release(pool, &seats[s]);
                (void)usher_release(pool, &seats[s]);
            }
        }
        (void)usher_release_for(pool, getpid());
        (void)usher_release_for(pool, (pid_t)(scene_random() % 1000));
    }
}

static void abuse_the_damaged(void *unused)
{
    struct usher_pool *pool;
    struct usher_options existing = {.flags = USHER_EXISTING};
    (void)unused;
    (void)alarm(CHILD_SECONDS);
    if (usher_open(&pool, "damaged", &existing) == 0) {
        scene_fence(pool);
        abuse(pool, 2);
        usher_close(pool);
    }
    (void)usher_remove("damaged");
}

static void expect_survival(int status, const char *what, uint64_t which)
{
    if (status != 0) {
        (void)fprintf(stderr, "%s %llu: %s %d\n", what, (unsigned long long)which,
                      WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit",
                      WEXITSTATUS(status));
        exit(1);
    }
}

static void a_flipped_bit_in_the_header_is_refused_or_harmless(void)
{
    size_t checked = 8 * (sizeof(struct format_shape) + 8);
    make_new_pool(2, 8);
    for (size_t bit = 0; bit < 8 * sizeof(struct format_header); bit++) {
        unsigned char mask = (unsigned char)(1U << bit % 8);
        whole[bit / 8] ^= mask;
        if (bit < checked) {
            int error = error_of(whole, whole_size);
            EXPECT(error == -EBADMSG || error == -EPROTONOSUPPORT || error == -EUCLEAN);
        } else if (bit % 5 == 0) {
            write_file(whole, whole_size);
            expect_survival(scene_end(scene_start(abuse_the_damaged, NULL)), "bit", bit);
        }
        whole[bit / 8] ^= mask;
    }
}

/* A word that could be right. */
static uint64_t plausible(int kind)
{
    uint32_t row =
        scene_random() % 5 == 0 ? (uint32_t)scene_random() & 0xffff : (uint32_t)scene_random() % 10;
    uint32_t ticket =
        scene_random() % 8 == 0 ? (uint32_t)scene_random() : (uint32_t)scene_random() % 16;
    uint32_t cycle = (uint32_t)scene_random() % 4;
    switch (kind) {
    case 0:
        return core_i(ticket, row, cycle);
    case 1:
        return core_v(ticket, scene_random() % 4 == 0 ? (uint32_t)scene_random() % 100 : 0, row,
                      cycle);
    case 2:
        return core_k((uint32_t)scene_random() % 5, row, cycle);
    case 3:
        return core_row((enum core_state)(scene_random() % 8), cycle, ticket);
    case 4:
        return core_line(ticket, scene_random() % 6 == 0 ? CORE_NOBODY : row, cycle,
                         (enum core_verdict)(scene_random() % 4));
    case 5:
        return core_seat(row, scene_random() % 3 == 0 ? row : CORE_NOBODY, cycle) |
               (scene_random() % 4) << 30;
    default:
        return format_owner((uint32_t)scene_random(), (uint32_t)scene_random() % 8,
                            scene_random() % 2 == 0 ? (uint32_t)getpid()
                                                    : (uint32_t)scene_random());
    }
}

/* Change one word of a pool. */
static void spoil(unsigned char *bytes, uint64_t at, bool wildly)
{
    const struct format_shape *shape = (const void *)bytes;
    int kind = 6;
    if (at == FORMAT_WORDS) {
        kind = 0;
    } else if (at == FORMAT_WORDS + 8UL * CORE_AT_V(0)) {
        kind = 1;
    } else if (at == FORMAT_WORDS + 8UL * CORE_AT_K(0)) {
        kind = 2;
    } else if (at >= shape->seats_at) {
        kind = 5;
    } else if (at >= shape->line_at) {
        kind = 4;
    } else if (at >= shape->rows_at && (at - shape->rows_at) % 48 == 0) {
        kind = 3;
    }
    uint64_t word = wildly ? scene_random() : plausible(kind);
    memcpy(bytes + at, &word, 8);
}

static void spoil_all(int way)
{
    make_new_pool(2, way % 2 == 0 ? 64 : 7); /* 64: the pool ends at the end of a page */
    size_t words = (whole_size - 128) / 8;
    uint64_t k = core_k(2, CORE_NOBODY, 0);
    if (way < 4) {
        for (size_t word = 0; word < words; word++) {
            spoil(whole, 128 + 8 * word, way < 2);
        }
        header()->removed = 0;
        if (scene_random() % 4 != 0) {
            header()->rows_used = header()->shape.guests;
        }
    } else {
        for (uint64_t count = 1 + scene_random() % 6; count > 0; count--) {
            size_t word = scene_random() % words;
            spoil(whole, scene_random() % 4 == 0 ? FORMAT_WORDS + 64 * (word % 3) : 128 + 8 * word,
                  scene_random() % 2 == 0);
        }
    }
    uint64_t now;
    memcpy(&now, whole + FORMAT_WORDS + 8UL * CORE_AT_K(0), 8);
    if (core_k_seats(now) > header()->shape.most_seats) { /* usher_open would refuse this pool */
        memcpy(whole + FORMAT_WORDS + 8UL * CORE_AT_K(0), &k, 8);
    }
}

static void damaged_content_never_hurts_our_process(void)
{
    enum { SEEDS = SCENE_ROUNDS(240) };
    uint64_t first = scene_seed;
    static const unsigned char tail[] = "this is beyond the pool";
    for (uint64_t seed = first; seed < first + SEEDS; seed++) {
        scene_seed = seed << 20;
        spoil_all((int)(seed % 6));
        memcpy(whole + whole_size, tail, sizeof tail); /* a pool may end within a page */
        write_file(whole, whole_size + sizeof tail);
        int fd = open(scene_path("damaged"), O_RDONLY | O_CLOEXEC);
        expect_survival(scene_end(scene_start(abuse_the_damaged, NULL)), "seed", seed);
        unsigned char found[sizeof tail];
        EXPECT_EQ(pread(fd, found, sizeof found, (off_t)whole_size), sizeof found);
        EXPECT(memcmp(found, tail, sizeof tail) == 0);
        EXPECT_EQ(close(fd), 0);
        (void)unlink(scene_path("damaged"));
    }
    scene_seed = first;
}

/* A process that has the file open writes into it while others use it. */
static void scribble(void *unused)
{
    struct usher_pool *pool;
    (void)unused;
    struct usher_options existing = {.flags = USHER_EXISTING};
    if (usher_open(&pool, "damaged", &existing) != 0) {
        return;
    }
    EXPECT_EQ(pool->size, whole_size);
    for (int count = 0; count < 20000; count++) {
        size_t at = 128 + 8 * (scene_random() % ((pool->size - 128) / 8));
        if (count % 3 == 0) {
            at = FORMAT_WORDS + 64 * (scene_random() % 3);
        }
        spoil(whole, at, scene_random() % 2 == 0); /* into our copy: only the value is needed */
        _Atomic uint64_t *word = (_Atomic uint64_t *)(void *)((char *)pool->header + at);
        uint64_t value;
        memcpy(&value, whole + at, 8);
        atomic_store(word, value);
    }
    atomic_store(&pool->header->removed, 0);
}

static void a_hostile_peer_never_hurts_our_process(void)
{
    for (uint64_t round = 0; round < SCENE_ROUNDS(8); round++) {
        make_new_pool(2, 64);
        write_file(whole, whole_size);
        pid_t scribbler = scene_start(scribble, NULL);
        scene_seed += 1000;
        pid_t first = scene_start(abuse_the_damaged, NULL);
        scene_seed += 1000;
        pid_t second = scene_start(abuse_the_damaged, NULL);
        expect_survival(scene_end(scribbler), "scribbler in round", round);
        expect_survival(scene_end(first), "first in round", round);
        expect_survival(scene_end(second), "second in round", round);
        (void)unlink(scene_path("damaged"));
    }
}

int main(int argc, char **argv)
{
    scene_seed = argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t)scene_now_ns() % 1000000000;
    (void)printf("seed %llu\n", (unsigned long long)scene_seed);
    scene_begin();
    RUN(an_empty_file_has_an_error_of_its_own);
    RUN(a_file_truncated_anywhere_is_refused);
    RUN(a_file_that_is_longer_is_accepted);
    RUN(a_pool_of_another_version_has_an_error_of_its_own);
    RUN(a_pool_of_another_byte_order_has_an_error_of_its_own);
    RUN(random_bytes_are_refused);
    RUN(wrong_numbers_with_a_right_sum_are_refused);
    RUN(a_flipped_bit_in_the_header_is_refused_or_harmless);
    RUN(damaged_content_never_hurts_our_process);
    RUN(a_hostile_peer_never_hurts_our_process);
    return 0;
}
