/* The calls of a fuzzed input. calls.h is the contract. */
#include "calls.h"

#include "stage.h"
#include "target.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HANDLES = 2, SEATS = 4, GUESTS = 40 };

struct guest {
    struct usher_pool *pool;
    struct usher_seat seats[SEATS];
    unsigned held;
};

static char directory[] = "/dev/shm/usher-fuzz-XXXXXX";
static char path[sizeof directory + 8];

void target_tidy(void)
{
    (void)unlink(path);
    (void)rmdir(directory);
}

const char *calls_path(void)
{
    if (path[0] == '\0') {
        if (mkdtemp(directory) == NULL) {
            stage_fail("cannot create a directory: %s", strerror(errno));
        }
        (void)snprintf(path, sizeof path, "%s/pool", directory);
        (void)atexit(target_tidy);
    }
    return path;
}

/* Check that the result is 0, positive or one of these errors. */
static int documented(int result, const int *errors)
{
    for (const int *error = errors; result < 0 && *error != 0; error++) {
        if (result == -*error) {
            return result;
        }
    }
    if (result < 0) {
        stage_fail("undocumented result %d, %s", result, usher_strerror(result));
    }
    return result;
}

void calls_opened(int error)
{
    static const int errors[] = {EDOM,    ENOENT,  EEXIST, ENODATA,         EMSGSIZE,
                                 EBADMSG, EUCLEAN, EBUSY,  EPROTONOSUPPORT, EINVAL,
                                 ERANGE,  ENOLCK,  0};
    (void)documented(error, errors);
}

static int waiting(struct usher_pool *pool, void *context)
{
    (void)context;
    (void)usher_inspect(pool, NULL, NULL, 0); /* any result is allowed */
    return stage_enough;
}

static void open_pool(struct guest *guest, unsigned flags)
{
    struct usher_options options = {.flags = flags, .waiting = waiting, .waiting_ms = 50};
    stage_call("usher_open");
    int error = usher_open(&guest->pool, calls_path(), &options);
    calls_opened(error);
    if ((error == 0) != (guest->pool != NULL)) {
        stage_fail("usher_open: error and handle disagree");
    }
    guest->held = 0;
}

static void close_pool(struct guest *guest)
{
    stage_call("usher_close");
    usher_close(guest->pool);
    guest->pool = NULL;
}

/* how: 0 do not wait, 1 a past deadline, 2 a future deadline, 3 no deadline. */
static void acquire(struct guest *guest, unsigned how)
{
    static const int errors[] = {EAGAIN, ETIMEDOUT, EIDRM, EUSERS, ECANCELED, EUCLEAN, ENOLCK, 0};
    struct usher_seat *seat = &guest->seats[guest->held];
    struct timespec deadline = {how == 1 ? 0 : 2000, 0};
    struct usher_info info = {0};
    if (guest->held == SEATS) {
        return;
    }
    stage_call("usher_acquire");
    int error = how == 0   ? usher_try_acquire(guest->pool, seat)
                : how == 3 ? usher_acquire(guest->pool, seat)
                           : usher_acquire_until(guest->pool, seat, &deadline);
    if (documented(error, errors) == 0) {
        guest->held++;
        stage_call("usher_inspect");
        if (usher_inspect(guest->pool, &info, NULL, 0) >= 0 && seat->number >= info.most_seats) {
            stage_fail("seat number %u of %u seats", seat->number, info.most_seats);
        }
    }
}

static void release(struct guest *guest, unsigned which)
{
    static const int errors[] = {EPERM, 0};
    if (guest->held == 0) {
        return;
    }
    struct usher_seat *seat = &guest->seats[which % guest->held];
    stage_call("usher_release");
    (void)documented(usher_release(guest->pool, seat), errors);
    if (usher_release(guest->pool, seat) != -EPERM) {
        stage_fail("a seat was released twice");
    }
    *seat = guest->seats[--guest->held];
}

static void assign(struct guest *guest, unsigned pid)
{
    static const int errors[] = {EPERM, ESRCH, ENOSYS, 0};
    static const int others[] = {EIDRM, EUSERS, 0};
    static const pid_t pids[] = {1000, 1001, 1002, 1004, 4000};
    stage_call("usher_assign");
    if (guest->held > 0 && pid % 2 == 0) {
        (void)documented(
            usher_assign(guest->pool, &guest->seats[guest->held - 1], pids[pid / 2 % 5]), errors);
        if (pid % 8 == 0) {
            static const int refused[] = {EPERM, EUSERS, 0};
            stage_call("usher_release_assigned");
            (void)documented(usher_release_assigned(guest->pool, &guest->seats[guest->held - 1]),
                             refused);
        }
    } else {
        stage_call("usher_release_for");
        (void)documented(usher_release_for(guest->pool, pids[pid / 2 % 5]), others);
    }
}

static void say(void *context, const char *sentence)
{
    (void)context;
    for (const char *at = sentence; *at != '\0'; at++) {
        if (!isprint((unsigned char)*at)) {
            stage_fail("usher_verify passed an invalid sentence");
        }
    }
}

static void inspect(struct guest *guest, unsigned how)
{
    static const int errors[] = {EIDRM, 0};
    static const int reap_errors[] = {EIDRM, EUSERS, 0};
    struct usher_info info;
    struct usher_guest guests[GUESTS];
    struct usher_past past[GUESTS];
    stage_call(how % 4 == 0   ? "usher_inspect"
               : how % 4 == 1 ? "usher_history"
               : how % 4 == 2 ? "usher_verify"
                              : "usher_reap");
    if (how % 4 == 0) {
        size_t room = how % GUESTS;
        (void)documented(usher_inspect(guest->pool, &info, guests, room), errors);
    } else if (how % 4 == 1) {
        if (documented(usher_history(guest->pool, past, GUESTS), errors) > 220) {
            stage_fail("more than 220 guests listed");
        }
    } else if (how % 4 == 2) {
        (void)documented(usher_verify(guest->pool, say, NULL), errors);
    } else {
        (void)documented(usher_reap(guest->pool), reap_errors);
    }
}

static void resize(struct guest *guest, unsigned seats)
{
    static const int errors[] = {ERANGE, EIDRM, EUSERS, EUCLEAN, ENOLCK, 0};
    stage_call("usher_resize");
    (void)documented(usher_resize(guest->pool, seats), errors);
}

static void remove_pool(bool force)
{
    stage_call("usher_remove");
    calls_opened(force ? usher_discard(calls_path()) : usher_remove(calls_path()));
}

static void make(struct guest *guests, struct guest **now, uint8_t call)
{
    unsigned what = call % 12;
    unsigned how = call / 12;
    switch (what) {
    case 0:
    case 1:
        acquire(*now, how % 4);
        break;
    case 2:
    case 3:
        release(*now, how);
        break;
    case 4:
        assign(*now, how);
        break;
    case 5:
    case 6:
        inspect(*now, how);
        break;
    case 7:
        resize(*now, how < 18 ? how : 65535U + how);
        break;
    case 8:
        close_pool(*now);
        open_pool(*now, how % 2 == 0 ? USHER_EXISTING : USHER_TIMES);
        break;
    case 9:
        *now = &guests[how % HANDLES];
        if ((*now)->pool == NULL) {
            open_pool(*now, USHER_TIMES);
        }
        break;
    case 10:
        remove_pool(how % 2 != 0);
        break;
    default:
        inspect(*now, 3);
        break;
    }
}

void calls_make(const uint8_t *calls, size_t count)
{
    struct guest guests[HANDLES] = {0};
    struct guest *now = guests;
    open_pool(now, USHER_EXISTING);
    for (size_t c = 0; c < count && now->pool != NULL; c++) {
        make(guests, &now, calls[c]);
    }
    for (unsigned g = 0; g < HANDLES; g++) {
        close_pool(&guests[g]);
    }
}
