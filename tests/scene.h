/*
 * What the tests of libusher share: a directory of their own, real child processes, and a board in
 * shared memory on which parent and children tell each other how far they are.
 *
 * Nothing here waits for a time to pass: UNTIL waits for a condition, and fails after half a
 * minute. A test that hangs is ended by SIGALRM. Children end with whoever started them.
 */
#ifndef USHER_SCENE_H
#define USHER_SCENE_H

#include "test.h"
#include "usher.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

enum { SCENE_GUESTS = 96, SCENE_HANG_SECONDS = 240 };

/* Under the thread sanitizer a quarter of the rounds must do. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SCENE_ROUNDS(rounds) ((rounds) / 4)
#endif
#endif
#ifndef SCENE_ROUNDS
#define SCENE_ROUNDS(rounds) (rounds)
#endif

/* How far a guest is, and what it is told. */
enum scene_step { SCENE_BEGAN = 1, SCENE_OPENED, SCENE_DONE };
enum scene_order { SCENE_STAY, SCENE_LEAVE };

struct scene_board {
    atomic_int step[SCENE_GUESTS];   /* enum scene_step */
    atomic_int told[SCENE_GUESTS];   /* enum scene_order */
    atomic_int result[SCENE_GUESTS]; /* of its acquire, valid from SCENE_DONE on */
    atomic_int turn[SCENE_GUESTS];   /* the how manieth it was to hold a seat, from 1 */
    struct usher_seat seat[SCENE_GUESTS];
    atomic_int turns;
    atomic_int inside, most_inside;
    atomic_int flags[16]; /* for each test to use as it likes */
};
extern struct scene_board *board;

/* Before the first test: the directory, which is $USHER_DIR too, and the board. */
void scene_begin(void);
/* The directory. It is removed when the process that called scene_begin ends. */
const char *scene_directory(void);
/* A path in the directory, good until the fourth call from now. */
const char *scene_path(const char *name);
/* How many files there are in a directory, dot files included. */
int scene_files(const char *directory);
/* How many file descriptors this process has open. */
int scene_descriptors(void);
/* An empty board, before a test. */
void scene_clear(void);

/* Run `body(context)` in a child, which exits 0 when that returns, and ends with its parent. */
pid_t scene_start(void (*body)(void *), void *context);
/* Wait until a child has ended: its status as waitpid has it. */
int scene_end(pid_t child);
/* SIGKILL, and wait until it has ended. */
void scene_kill(pid_t child);
/* Run a body in a child, which must succeed. */
void scene_in_child(void (*body)(void *), void *context);

/* Guest i of the board: opens the pool, acquires, notes that, stays until it is told to leave, then
   releases and closes. */
pid_t scene_guest(int i, const char *pool);
/* The same, and return as soon as it has its seat; or as soon as it waits, as `position`. */
pid_t scene_holder(int i, const char *pool);
pid_t scene_waiter(int i, const char *pool, uint32_t position);
/* Tell a guest to leave; it must end well. */
void scene_leave(int i, pid_t child);

/* usher_open that must work; seats 0: any. */
struct usher_pool *scene_open(const char *pool, uint32_t seats);
/* usher_acquire that must work. */
struct usher_seat scene_acquire(struct usher_pool *pool);
struct usher_info scene_info(struct usher_pool *pool);
/* All is as it was in the beginning: the seats free, nobody waits; k holders fit, and no more. */
void scene_expect_whole(const char *pool, uint32_t seats);

/* Put the pool's memory between two fences: whatever touches memory beside it crashes. */
void scene_fence(struct usher_pool *pool);

/* A CLOCK_MONOTONIC time from now. */
struct timespec scene_in_ms(long ms);
int64_t scene_now_ns(void);
void scene_pause_us(long us);

/* From now on the kernel refuses this system call with that errno, here and in all children: if
   (argument `argument` & mask) == value. argument -1: always. False: this kernel has no seccomp. */
bool scene_refuse(long call, int argument, uint32_t mask, uint32_t value, int error);

uint64_t scene_random(void);
extern uint64_t scene_seed;

#define UNTIL(condition)                                                                           \
    do {                                                                                           \
        int64_t until_ = scene_now_ns() + 30000000000LL;                                           \
        while (!(condition)) {                                                                     \
            if (scene_now_ns() > until_) {                                                         \
                (void)fprintf(stderr, "%s:%d: never so: %s\n", __FILE__, __LINE__, #condition);    \
                exit(1);                                                                           \
            }                                                                                      \
            scene_pause_us(300);                                                                   \
        }                                                                                          \
    } while (0)

#endif
