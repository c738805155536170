/*
 * The header as a promise to programs compiled earlier: versions, sizes of structs, reserved
 * fields, and names of errors. Each error has a sentence and an entry in usher(3).
 */
#include "scene.h"

#include <stdlib.h>
#include <string.h>

static char *text_of(const char *path)
{
    enum { ROOM = 1 << 18 };
    char *text = calloc(1, ROOM);
    FILE *file = fopen(path, "r");
    EXPECT(text != NULL && file != NULL);
    EXPECT(fread(text, 1, ROOM - 1, file) > 1000);
    EXPECT(feof(file));
    (void)fclose(file);
    return text;
}

static void number_and_name_of_the_version_agree(void)
{
    char name[32];
    (void)snprintf(name, sizeof name, "%d.%d.%d", USHER_VERSION >> 16, USHER_VERSION >> 8 & 255,
                   USHER_VERSION & 255);
    EXPECT(strcmp(name, USHER_VERSION_STRING) == 0);
    EXPECT_EQ(usher_version(), USHER_VERSION);
}

/* Changing one of these needs another soname. */
static void structs_keep_their_sizes_and_offsets(void)
{
#ifdef __LP64__
    EXPECT_EQ(sizeof(struct usher_options), 80);
    EXPECT_EQ(offsetof(struct usher_options, waiting_ms), 48);
    EXPECT_EQ(sizeof(struct usher_seat), 32);
    EXPECT_EQ(offsetof(struct usher_seat, request), 16);
    EXPECT_EQ(sizeof(struct usher_command), 64);
    EXPECT_EQ(offsetof(struct usher_command, context), 32);
    EXPECT_EQ(sizeof(struct usher_lease), 32);
    EXPECT_EQ(sizeof(struct usher_info), 88);
    EXPECT_EQ(offsetof(struct usher_info, served), 32);
    EXPECT_EQ(sizeof(struct usher_guest), 304);
    EXPECT_EQ(offsetof(struct usher_guest, note), 152);
    EXPECT_EQ(sizeof(struct usher_past), 32);
    EXPECT_EQ(sizeof(struct usher_gate), 8);
    EXPECT_EQ(sizeof(struct usher_pass), 4);
#endif
}

static bool is_zero(const void *memory, size_t size)
{
    const unsigned char *bytes = memory;
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != 0) {
            return false;
        }
    }
    return true;
}

static void the_library_sets_reserved_fields_to_zero(void)
{
    struct usher_pool *pool;
    struct usher_options options = {.seats = 2, .flags = USHER_TIMES};
    struct usher_seat seat;
    struct usher_lease lease;
    struct usher_info info;
    struct usher_guest guest;
    struct usher_past past;
    EXPECT_EQ(usher_open(&pool, "reserved", &options), 0);
    for (int round = 0; round < 3; round++) { /* the slow path, then the fast path */
        memset(&seat, 0xff, sizeof seat);
        memset(&lease, 0xff, sizeof lease);
        memset(&info, 0xff, sizeof info);
        memset(&guest, 0xff, sizeof guest);
        memset(&past, 0xff, sizeof past);
        EXPECT_EQ(usher_acquire(pool, &seat), 0);
        EXPECT(is_zero(seat.reserved, sizeof seat.reserved));
        EXPECT_EQ(usher_check(pool, &seat, &lease), 0);
        EXPECT(is_zero(lease.reserved, sizeof lease.reserved));
        EXPECT_EQ(usher_inspect(pool, &info, &guest, 1), 1);
        EXPECT(is_zero(info.reserved, sizeof info.reserved));
        EXPECT(is_zero(guest.reserved, sizeof guest.reserved));
        EXPECT_EQ(usher_release(pool, &seat), 0);
        EXPECT(usher_history(pool, &past, 1) > 0);
        EXPECT(is_zero(past.reserved, sizeof past.reserved));
    }
    usher_close(pool);
}

/* The errno value of the name that ends before the first character that is neither a capital letter
   nor a digit; 0: none. */
static int value_of(const char *name, size_t length)
{
    for (int error = 1; error < 200; error++) {
        const char *known = strerrorname_np(error);
        if (known != NULL && strlen(known) == length && strncmp(known, name, length) == 0) {
            return error;
        }
    }
    return strncmp(name, "EOPNOTSUPP", length) == 0 ? EOPNOTSUPP : 0;
}

static size_t name_length(const char *name)
{
    return strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}

/* The errno value that the header defines a USHER_E name as. */
static int own_value(const char *header, const char *name, size_t length)
{
    char define[64];
    (void)snprintf(define, sizeof define, "#define %.*s E", (int)length, name);
    const char *at = strstr(header, define);
    EXPECT(at != NULL);
    at += strlen(define) - 1;
    return value_of(at, name_length(at));
}

/* usher_strerror has a sentence for the error, and usher(3) has an entry. */
static void expect_documented(const char *manual, const char *name, size_t length, int error)
{
    char entry[64];
    (void)snprintf(entry, sizeof entry, ".It Bq Er %.*s\n", (int)length, name);
    const char *meaning = usher_strerror(-error);
    if (error == 0 || strstr(manual, entry) == NULL ||
        strcmp(meaning, strerrordesc_np(error)) == 0) {
        (void)fprintf(stderr, "%.*s: value %d, sentence '%s', usher(3) %s\n", (int)length, name,
                      error, meaning, strstr(manual, entry) == NULL ? "lacks it" : "has it");
        exit(1);
    }
}

static void every_error_of_the_header_has_a_sentence_and_is_in_the_manual(void)
{
    char *header = text_of(USHER_SOURCE "/include/usher.h");
    char *manual = text_of(USHER_SOURCE "/man/usher.3");
    unsigned own = 0;
    unsigned others = 0;
    for (const char *at = header; (at = strstr(at, "-E")) != NULL; at++) {
        size_t length = name_length(at + 1);
        /* "such as -EIO" names no error of a call */
        if (length > 3 && strncmp(at + 1, "EIO", length) != 0) {
            expect_documented(manual, at + 1, length, value_of(at + 1, length));
            others++;
        }
    }
    for (const char *at = header; (at = strstr(at, "USHER_E")) != NULL; at++) {
        size_t length = name_length(at);
        if (strncmp(at, "USHER_EXISTING", length) != 0 &&
            strncmp(at, "USHER_EXCLUSIVE", length) != 0) {
            expect_documented(manual, at, length, own_value(header, at, length));
            own++;
        }
    }
    EXPECT(own > 36);
    EXPECT(others > 50);
    free(header);
    free(manual);
}

/* Each error of the manual is in the header. */
static void every_error_of_the_manual_is_in_the_header(void)
{
    char *header = text_of(USHER_SOURCE "/include/usher.h");
    char *manual = text_of(USHER_SOURCE "/man/usher.3");
    unsigned found = 0;
    for (const char *at = manual; (at = strstr(at, ".It Bq Er ")) != NULL; found++) {
        char name[64];
        at += strlen(".It Bq Er ");
        (void)snprintf(name, sizeof name, "-%.*s", (int)name_length(at), at);
        if (strstr(header, name) == NULL) {
            (void)fprintf(stderr, "usher.h does not have %s\n", name);
            exit(1);
        }
    }
    EXPECT(found > 35);
    free(header);
    free(manual);
}

int main(void)
{
    scene_begin();
    RUN(number_and_name_of_the_version_agree);
    RUN(structs_keep_their_sizes_and_offsets);
    RUN(the_library_sets_reserved_fields_to_zero);
    RUN(every_error_of_the_header_has_a_sentence_and_is_in_the_manual);
    RUN(every_error_of_the_manual_is_in_the_header);
    return 0;
}
