/*
 * pthread_cancel: a thread is cancelled before or after a call of the library, never inside one. A
 * thread that was cancelled inside would leave a mutex locked or a descriptor open. The linker
 * replaces the functions at which a thread can be cancelled (--wrap).
 */
#include "mortals.h"

#include "pool/pool.h"

#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>

static _Thread_local bool inside;     /* this thread is in a call of the library */
static _Atomic(const char *) exposed; /* a function called where the thread could be cancelled */
static atomic_int calls;              /* calls of all these functions */

static void note(const char *function)
{
    int state;
    if (inside) {
        atomic_fetch_add(&calls, 1);
        (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
        (void)pthread_setcancelstate(state, NULL);
        if (state == PTHREAD_CANCEL_ENABLE) {
            atomic_store(&exposed, function);
        }
    }
}

#define WRAP(type, name, parameters, arguments)                                                    \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        note(#name);                                                                               \
        return __real_##name arguments;                                                            \
    }

WRAP(int, poll, (struct pollfd * which, nfds_t count, int ms), (which, count, ms))
WRAP(int, close, (int fd), (fd))
WRAP(ssize_t, read, (int fd, void *to, size_t size), (fd, to, size))
WRAP(ssize_t, pread, (int fd, void *to, size_t size, off_t at), (fd, to, size, at))

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    note("open");
    return __real_open(path, flags, mode);
}

int __real_openat(int fd, const char *path, int flags, ...);
int __wrap_openat(int fd, const char *path, int flags, ...);
int __wrap_openat(int fd, const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    note("openat");
    return __real_openat(fd, path, flags, mode);
}

static void idle(void *unused)
{
    (void)unused;
    stay();
}

static void acquire_and_assign(void *unused)
{
    (void)unused;
    struct usher_pool *pool = scene_open("cancel", 0);
    struct usher_seat seat = scene_acquire(pool);
    EXPECT_EQ(usher_assign(pool, &seat, (pid_t)atomic_load(&board->flags[0])), 0);
    usher_close(pool);
}

/* Let another process hold the only row of the table by usher_assign. */
static pid_t assign_the_only_row(void)
{
    pid_t heir = scene_start(idle, NULL);
    atomic_store(&board->flags[0], heir);
    scene_in_child(acquire_and_assign, NULL);
    return heir;
}

static __attribute__((noinline)) void acquire_in_vain(struct usher_pool *pool)
{
    struct usher_seat seat;
    EXPECT_EQ(pthread_cancel(pthread_self()), 0); /* takes effect at the next cancellation point */
    EXPECT_EQ(usher_acquire(pool, &seat), -EUSERS);
}

/* The thread has nothing on its stack when it is cancelled: the address sanitizer would not notice
   that the stack is gone. */
static void *acquire_cancelled(void *pool)
{
    acquire_in_vain(pool);
    pthread_testcancel();
    return NULL;
}

static atomic_int tried;

static void *acquire_next(void *pool)
{
    struct usher_seat seat;
    int error = usher_try_acquire(pool, &seat);
    atomic_store(&tried, error);
    return NULL;
}

static void a_cancelled_first_acquire_leaves_no_mutex_locked(void)
{
    struct usher_options small = {.seats = 1, .guests = 1};
    struct usher_pool *pool;
    pthread_t thread;
    void *end;
    scene_clear();
    EXPECT_EQ(usher_open(&pool, "cancel", &small), 0);
    pid_t heir = assign_the_only_row();
    EXPECT_EQ(pthread_create(&thread, NULL, acquire_cancelled, pool), 0);
    EXPECT_EQ(pthread_join(thread, &end), 0);
    EXPECT(end == PTHREAD_CANCELED);
    EXPECT_EQ(pthread_create(&thread, NULL, acquire_next, pool), 0);
    int64_t late = scene_now_ns() + 5000000000LL;
    while (atomic_load(&tried) == 0 && scene_now_ns() < late) {
        scene_pause_us(300);
    }
    EXPECT_EQ(atomic_load(&tried), -EUSERS); /* 0: it still waits for the mutex */
    EXPECT_EQ(pthread_join(thread, NULL), 0);
    scene_kill(heir);
    finish(pool, "cancel", 1);
}

static void expect_covered(const char *call)
{
    const char *function = atomic_exchange(&exposed, NULL);
    if (function != NULL) {
        (void)fprintf(stderr, "%s may be cancelled in %s\n", call, function);
    }
    EXPECT(function == NULL);
}

/* Make a call of the library that returns `returns`. */
#define CALL(call, returns)                                                                        \
    do {                                                                                           \
        inside = true;                                                                             \
        int returned_ = (call);                                                                    \
        inside = false;                                                                            \
        EXPECT_EQ(returned_, returns);                                                             \
        expect_covered(#call);                                                                     \
    } while (0)

static void say_nothing(void *context, const char *sentence)
{
    (void)context;
    (void)sentence;
}

/* Make each call where it asks the kernel about a live process, or opens and closes files. */
static void no_call_can_be_cancelled_inside(void)
{
    struct usher_options two = {.seats = 2, .guests = 4};
    struct usher_pool *pool;
    struct usher_seat seat;
    struct usher_seat other;
    struct usher_guest guests[4];
    scene_clear();
    CALL(usher_open(&pool, "cancel", &two), 0);
    pid_t heir = assign_the_only_row();
    CALL(usher_acquire(pool, &seat), 0);
    CALL(usher_try_acquire(pool, &other), -EAGAIN);
    CALL(usher_inspect(pool, NULL, guests, 4), 2);
    CALL(usher_reap(pool), 0);
    CALL(usher_resize(pool, 3), 0);
    CALL(usher_resize(pool, 2), 0);
    CALL(usher_verify(pool, say_nothing, NULL), 0);
    CALL(usher_assign(pool, &seat, heir), 0);
    CALL(usher_release_for(pool, heir), 2);
    CALL((usher_close(pool), 0), 0);
    CALL(usher_remove("cancel"), 0);
    EXPECT(atomic_load(&calls) >= 20);
    scene_kill(heir);
}

int main(void)
{
    scene_begin();
    RUN(a_cancelled_first_acquire_leaves_no_mutex_locked);
    RUN(no_call_can_be_cancelled_inside);
    return 0;
}
