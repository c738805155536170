/*
 * The options of usher_open, and its errors: numbers, files that are not regular, what the kernel
 * refuses; and which descriptors stay open. name_test covers the errors of names, directories and
 * owners, make_test full disks, damage_test the content of files.
 */
#include "pool_file.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* A checksum of a file's bytes. */
static uint64_t sum_of(const char *path)
{
    unsigned char bytes[8192];
    uint64_t sum = 1;
    ssize_t got;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    EXPECT(fd >= 0);
    while ((got = read(fd, bytes, sizeof bytes)) > 0) {
        for (ssize_t b = 0; b < got; b++) {
            sum = sum * 31 + bytes[b];
        }
    }
    EXPECT_EQ(close(fd), 0);
    return sum;
}

static void every_error_has_a_sentence_of_its_own(void)
{
    static const int errors[] = {
        0,         -EINVAL,  -ENAMETOOLONG, -ERANGE, -EDOM,      -ENOENT,
        -EEXIST,   -EACCES,  -ELOOP,        -ENODEV, -ENODATA,   -EKEYREJECTED,
        -EMSGSIZE, -EBADMSG, -EUCLEAN,      -ENOLCK, -ENOSPC,    -EPROTONOSUPPORT,
        -ENOMEM,   -EMFILE,  -ENFILE,       -EROFS,  -EUSERS,    -EIDRM,
        -ESTALE,   -EAGAIN,  -ETIMEDOUT,    -EPERM,  -ESRCH,     -EBUSY,
        -ENOSYS,   -ENOTDIR, -EIO,          -EDQUOT, -EOVERFLOW, -EKEYREVOKED,
        -ENOTUNIQ, -ENOLINK, -EBADE};
    enum { ERRORS = sizeof errors / sizeof errors[0] };
    for (unsigned a = 0; a < ERRORS; a++) {
        const char *sentence = usher_strerror(errors[a]);
        EXPECT(sentence != NULL && strlen(sentence) > 4);
        EXPECT(strcmp(sentence, usher_strerror(123456)) != 0);
        EXPECT(strcmp(sentence, usher_strerror(-errors[a])) == 0);
        for (unsigned b = 0; b < a; b++) {
            EXPECT(strcmp(sentence, usher_strerror(errors[b])) != 0);
        }
    }
    EXPECT(usher_strerror(INT_MAX) != NULL);
    EXPECT(usher_strerror(INT_MIN) != NULL);
    EXPECT(usher_strerror(-1000000) != NULL);
}

static void options_without_a_meaning_are_refused(void)
{
    struct usher_pool *pool;
    struct usher_options options = {.flags = 1U << 31};
    EXPECT_EQ(usher_open(NULL, "x", NULL), -EINVAL);
    refused_with("x", &options, -EINVAL);
    for (unsigned flag = 9; flag < 32; flag++) {
        options.flags = 1U << flag;
        refused_with("x", &options, -EINVAL);
        EXPECT_EQ(usher_open(&pool, NULL, &options), -EINVAL);
    }
    options.flags = USHER_EXISTING | USHER_EXCLUSIVE;
    refused_with("x", &options, -EINVAL);
    options.flags = USHER_INSPECT; /* without USHER_EXISTING */
    refused_with("x", &options, -EINVAL);
    options.flags = 0;
    for (unsigned i = 0; i < sizeof options.reserved / sizeof options.reserved[0]; i++) {
        options.reserved[i] = 1U << 4 * i;
        refused_with("x", &options, -EINVAL);
        options.reserved[i] = 0;
    }
    EXPECT_EQ(scene_files(scene_directory()), 0);
}

static void more_seats_or_guests_than_a_pool_can_have_are_refused(void)
{
    static const uint32_t many[][2] = {{65536, 0},
                                       {UINT32_MAX, 0},
                                       {1, 65536},
                                       {1, UINT32_MAX},
                                       {2, 1},
                                       {65535, 65534},
                                       {65536, 65535},
                                       {65537, UINT32_MAX},
                                       {1U << 31, 1U << 31},
                                       {0, 1U << 16},
                                       {UINT32_MAX / 2 + 2, 0}};
    struct usher_pool *pool;
    for (unsigned i = 0; i < sizeof many / sizeof many[0]; i++) {
        struct usher_options options = {.seats = many[i][0], .guests = many[i][1]};
        refused_with("many", &options, -ERANGE);
        EXPECT_EQ(usher_open(&pool, NULL, &options), -ERANGE);
        EXPECT(pool == NULL);
    }
    EXPECT_EQ(scene_files(scene_directory()), 0);
}

static void another_number_of_seats_is_refused_and_changes_nothing(void)
{
    make_pool("three", &(struct usher_options){.seats = 3});
    uint64_t before = sum_of(scene_path("three"));
    for (uint32_t seats = 1; seats < 100; seats++) {
        if (seats != 3) {
            refused_with("three", &(struct usher_options){.seats = seats}, -EDOM);
        }
    }
    refused_with("three", &(struct usher_options){.seats = 65535}, -EDOM);
    EXPECT_EQ(sum_of(scene_path("three")), before);
    /* `guests` is for a new pool only */
    make_pool("three", &(struct usher_options){.seats = 3, .guests = 7});
    make_pool("three", NULL);
    EXPECT_EQ(usher_remove("three"), 0);
}

static void the_number_of_seats_that_counts_is_the_present_one(void)
{
    struct usher_pool *pool = scene_open("resized", 3);
    EXPECT_EQ(usher_resize(pool, 5), 0);
    refused_with("resized", &(struct usher_options){.seats = 3}, -EDOM);
    make_pool("resized", &(struct usher_options){.seats = 5});
    EXPECT_EQ(usher_resize(pool, 0), 0);
    /* a pool without seats can be opened: guests may wait in it */
    make_pool("resized", &(struct usher_options){.seats = 7});
    make_pool("resized", NULL);
    usher_close(pool);
    EXPECT_EQ(usher_remove("resized"), 0);
}

static void existing_and_exclusive_do_as_documented(void)
{
    struct usher_options existing = {.flags = USHER_EXISTING};
    struct usher_options exclusive = {.flags = USHER_EXCLUSIVE};
    refused_with("e", &existing, -ENOENT);
    EXPECT_EQ(scene_files(scene_directory()), 0);
    EXPECT_EQ(usher_remove("e"), -ENOENT);
    EXPECT_EQ(usher_discard("e"), -ENOENT);
    make_pool("e", &exclusive);
    uint64_t before = sum_of(scene_path("e"));
    refused_with("e", &exclusive, -EEXIST);
    make_pool("e", &existing);
    EXPECT_EQ(sum_of(scene_path("e")), before);
    EXPECT_EQ(usher_remove("e"), 0);
    /* USHER_EXCLUSIVE refuses any file that has the name. */
    make_file(scene_path("e"), "x", 1);
    refused_with("e", &exclusive, -EEXIST);
    EXPECT_EQ(unlink(scene_path("e")), 0);
    EXPECT_EQ(symlink("nowhere", scene_path("e")), 0);
    refused_with("e", &exclusive, -EEXIST);
    EXPECT_EQ(unlink(scene_path("e")), 0);
}

static void a_pool_is_not_made_up_if_nothing_says_how_many_seats(void)
{
    struct usher_options defined = {.flags = USHER_DEFINED};
    refused_with("d", &defined, -ENOENT);
    refused_with(scene_path("d"), &defined, -ENOENT);
    EXPECT_EQ(scene_files(scene_directory()), 0);
    defined.seats = 2;
    make_pool("d", &defined);
    defined.seats = 0;
    make_pool("d", &defined); /* there is one */
    EXPECT_EQ(usher_remove("d"), 0);
}

static void labels_are_kept_in_the_pool(void)
{
    static const char *const bad[] = {"", ",", "a,", ",a", "a,,b", "a", "a,b,c", "a\n,b", "a,\x7f"};
    struct usher_options options = {.seats = 2};
    char text[32];
    struct usher_guest guest;
    struct usher_seat seat;
    struct stat status;
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        options.labels = bad[i];
        refused_with("l", &options, -EINVAL);
    }
    EXPECT_EQ(scene_files(scene_directory()), 0);
    options.labels = "left,right";
    make_pool("l", &options);
    struct usher_pool *pool = scene_open("l", 0);
    EXPECT_EQ(usher_labels(pool, text, sizeof text), 10);
    EXPECT(strcmp(text, "left,right") == 0);
    EXPECT_EQ(usher_labels(pool, text, 5), 10);
    EXPECT(strcmp(text, "left") == 0);
    EXPECT_EQ(usher_labels(pool, NULL, 0), 10);
    EXPECT_EQ(usher_acquire(pool, &seat), 0);
    EXPECT_EQ(usher_inspect(pool, NULL, &guest, 1), 1);
    EXPECT(strcmp(guest.label, seat.number == 0 ? "left" : "right") == 0);
    EXPECT_EQ(usher_resize(pool, 3), 0); /* a seat without a label */
    usher_close(pool);
    scene_expect_whole("l", 3);
    EXPECT_EQ(stat(scene_path("l"), &status), 0);
    EXPECT_EQ(truncate(scene_path("l"), status.st_size - 1), 0);
    pool = scene_open("l", 0); /* the labels are gone, the pool is not */
    EXPECT_EQ(usher_labels(pool, text, sizeof text), 0);
    usher_close(pool);
    EXPECT_EQ(usher_remove("l"), 0);
    pool = scene_open("l", 2);
    EXPECT_EQ(usher_labels(pool, text, sizeof text), 0);
    EXPECT(strcmp(text, "") == 0);
    usher_close(pool);
    EXPECT_EQ(usher_remove("l"), 0);
}

static void an_inspector_only_looks(void)
{
    struct usher_options inspect = {.flags = USHER_EXISTING | USHER_INSPECT};
    struct usher_pool *pool;
    struct usher_seat seat;
    refused_with("i", &inspect, -ENOENT);
    make_pool("i", NULL);
    EXPECT_EQ(usher_open(&pool, "i", &inspect), 0);
    EXPECT_EQ(usher_acquire(pool, &seat), -EPERM);
    EXPECT_EQ(usher_try_acquire(pool, &seat), -EPERM);
    EXPECT_EQ(usher_resize(pool, 2), -EPERM);
    EXPECT_EQ(scene_info(pool).seats, 1);
    EXPECT_EQ(usher_verify(pool, NULL, NULL), 0);
    EXPECT_EQ(usher_reap(pool), 0);
    usher_close(pool);
    scene_expect_whole("i", 1);
    EXPECT_EQ(usher_remove("i"), 0);
}

static void what_is_not_a_regular_file_is_refused(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    EXPECT_EQ(symlink("target", scene_path("link")), 0);
    refused("link", -ELOOP);
    EXPECT(access(scene_path("target"), F_OK) != 0);
    make_pool("target", NULL);
    refused("link", -ELOOP);
    EXPECT_EQ(usher_remove("link"), -ELOOP);
    EXPECT_EQ(usher_discard("link"), -ELOOP);
    EXPECT_EQ(unlink(scene_path("link")), 0);
    EXPECT_EQ(link(scene_path("target"), scene_path("link")), 0);
    make_pool("link", NULL); /* a hard link is another name of the pool */
    EXPECT_EQ(unlink(scene_path("link")), 0);
    EXPECT_EQ(usher_remove("target"), 0);
    EXPECT_EQ(symlink("loop", scene_path("loop")), 0);
    refused("loop", -ELOOP);
    EXPECT_EQ(unlink(scene_path("loop")), 0);

    EXPECT_EQ(mkdir(scene_path("directory"), 0700), 0);
    refused("directory", -ENODEV);
    EXPECT_EQ(rmdir(scene_path("directory")), 0);
    EXPECT_EQ(mkfifo(scene_path("fifo"), 0600), 0);
    refused("fifo", -ENODEV);
    EXPECT_EQ(unlink(scene_path("fifo")), 0);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", scene_path("socket"));
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    refused("socket", -ENODEV);
    EXPECT_EQ(close(fd), 0);
    EXPECT_EQ(unlink(scene_path("socket")), 0);
    refused("/dev/null", -ENODEV);
    refused("/dev/tty0/x", -ENOTDIR);
}

/* Each runs in a child of its own: a seccomp filter cannot be removed. */
static void without_locks(void *unused)
{
    (void)unused;
    if (scene_refuse(SYS_fcntl, 1, UINT32_MAX, F_OFD_GETLK, ENOLCK)) {
        refused_with("limits", NULL, -ENOLCK);
    }
}

static void without_ofd_locks(void *unused)
{
    (void)unused;
    if (scene_refuse(SYS_fcntl, 1, UINT32_MAX, F_OFD_GETLK, EINVAL)) {
        refused_with("limits", NULL, -ENOLCK);
    }
}

static void without_memory(void *unused)
{
    (void)unused;
    if (scene_refuse(SYS_mmap, 3, MAP_SHARED | MAP_PRIVATE, MAP_SHARED, ENOMEM)) {
        refused_with("limits", NULL, -ENOMEM);
        refused_with("new", NULL, -ENOMEM);
        EXPECT(access(scene_path("new"), F_OK) != 0);
    }
}

static void without_descriptors(void *unused)
{
    struct usher_pool *pool;
    int error;
    (void)unused;
    struct rlimit few = {3, 64};
    for (int fd = 3; fd < 64; fd++) {
        (void)close(fd);
    }
    do {
        EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
        pool = (struct usher_pool *)board;
        error = usher_open(&pool, "new", NULL);
        EXPECT(error == 0 || (error == -EMFILE && pool == NULL));
        EXPECT(error == 0 || access(scene_path("new"), F_OK) != 0);
        few.rlim_cur++;
    } while (error != 0);
    EXPECT(few.rlim_cur > 5); /* usher_open failed with one descriptor too few, and with two */
    usher_close(pool);
    EXPECT_EQ(usher_remove("new"), 0);
}

static void what_the_kernel_refuses_becomes_an_error(void)
{
    make_pool("limits", NULL);
    uint64_t before = sum_of(scene_path("limits"));
    scene_in_child(without_locks, NULL);
    scene_in_child(without_ofd_locks, NULL);
    scene_in_child(without_memory, NULL);
    scene_in_child(without_descriptors, NULL);
    EXPECT_EQ(sum_of(scene_path("limits")), before);
    EXPECT_EQ(usher_remove("limits"), 0);
    EXPECT_EQ(scene_files(scene_directory()), 0);
}

static void opening_and_closing_leaves_no_descriptor_behind(void)
{
    int before = scene_descriptors();
    for (int i = 0; i < 300; i++) {
        make_pool("leak", NULL);
        EXPECT_EQ(usher_remove("leak"), 0);
        EXPECT_EQ(usher_remove("leak"), -ENOENT);
    }
    EXPECT_EQ(scene_descriptors(), before);
    usher_close(NULL);
}

static int open_across_exec(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++) {
        int flags = fcntl(fd, F_GETFD);
        count += flags >= 0 && !(flags & FD_CLOEXEC);
    }
    return count;
}

static void descriptors_are_closed_on_exec_unless_kept(void)
{
    int before = open_across_exec();
    for (unsigned keep = 0; keep <= USHER_KEEP; keep += USHER_KEEP) {
        struct usher_pool *pool;
        EXPECT_EQ(usher_open(&pool, "exec", &(struct usher_options){.flags = keep}), 0);
        EXPECT_EQ(open_across_exec() - before, keep ? 1 : 0);
        usher_close(pool);
    }
    EXPECT_EQ(usher_remove("exec"), 0);
}

int main(void)
{
    scene_begin();
    RUN(every_error_has_a_sentence_of_its_own);
    RUN(options_without_a_meaning_are_refused);
    RUN(more_seats_or_guests_than_a_pool_can_have_are_refused);
    RUN(another_number_of_seats_is_refused_and_changes_nothing);
    RUN(the_number_of_seats_that_counts_is_the_present_one);
    RUN(existing_and_exclusive_do_as_documented);
    RUN(a_pool_is_not_made_up_if_nothing_says_how_many_seats);
    RUN(labels_are_kept_in_the_pool);
    RUN(an_inspector_only_looks);
    RUN(what_is_not_a_regular_file_is_refused);
    RUN(what_the_kernel_refuses_becomes_an_error);
    RUN(opening_and_closing_leaves_no_descriptor_behind);
    RUN(descriptors_are_closed_on_exec_unless_kept);
    return 0;
}
