/*
 * Helpers of the libusher tests: a private directory, real child processes, and a board in shared
 * memory through which parent and children coordinate.
 *
 * Nothing here waits for a fixed time: UNTIL waits for a condition and fails after half a minute.
 * SIGALRM ends a test that hangs. Children end with their parent.
 */
#ifndef USHER_SCENE_H
#define USHER_SCENE_H

#include "process_state.h"
#include "test.h"
#include "usher.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

enum { SCENE_GUESTS = 96, SCENE_HANG_SECONDS = 240 };

/* The thread sanitizer is slow: run a quarter of the rounds. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SCENE_ROUNDS(rounds) ((rounds) / 4)
#endif
#endif
#ifndef SCENE_ROUNDS
#define SCENE_ROUNDS(rounds) (rounds)
#endif

/* How far a guest is, and the order that it gets. */
enum scene_step { SCENE_BEGAN = 1, SCENE_OPENED, SCENE_DONE };
enum scene_order { SCENE_STAY, SCENE_LEAVE };

struct scene_board {
    atomic_int step[SCENE_GUESTS];   /* enum scene_step */
    atomic_int order[SCENE_GUESTS];  /* enum scene_order */
    atomic_int result[SCENE_GUESTS]; /* of its acquire; valid from SCENE_DONE on */
    atomic_int turn[SCENE_GUESTS];   /* its position among all entries, from 1 */
    struct usher_seat seat[SCENE_GUESTS];
    atomic_int turns;
    atomic_int inside, most_inside;
    atomic_int flags[16]; /* free for each test */
};
extern struct scene_board *board;

/* Call before the first test: create the directory, also as $USHER_DIR, and the board. */
void scene_begin(void);
/* The directory. It is removed when the process that called scene_begin ends. */
const char *scene_directory(void);
/* A path in the directory; valid for the next three calls. */
const char *scene_path(const char *name);
/* Count the files in a directory, dot files included. */
int scene_files(const char *directory);
/* Count the open descriptors of this process. */
int scene_descriptors(void);
/* Clear the board before a test. */
void scene_clear(void);

/* Run `body(context)` in a child. It exits 0 after that, and ends with its parent. */
pid_t scene_start(void (*body)(void *), void *context);
/* Wait for a child's end; return its status as from waitpid. */
int scene_end(pid_t child);
/* Send SIGKILL and wait for the end. */
void scene_kill(pid_t child);
/* Run a body in a child that must succeed. */
void scene_in_child(void (*body)(void *), void *context);

/* Start guest i of the board: it opens the pool, acquires, records that, stays until it may
   leave, then releases and closes. */
pid_t scene_guest(int i, const char *pool);
/* The same; return when it holds a seat (scene_holder), or waits at `position` (scene_waiter). */
pid_t scene_holder(int i, const char *pool);
pid_t scene_waiter(int i, const char *pool, uint32_t position);
/* Let a guest leave; it must exit 0. */
void scene_leave(int i, pid_t child);

/* usher_open that must succeed; seats 0: any number. */
struct usher_pool *scene_open(const char *pool, uint32_t seats);
/* usher_acquire that must succeed. */
struct usher_seat scene_acquire(struct usher_pool *pool);
struct usher_info scene_info(struct usher_pool *pool);
/* Check that the pool is as new: all seats free, no waiter; k guests fit in, and no more. */
void scene_expect_whole(const char *pool, uint32_t seats);

/* Put the pool's memory between two inaccessible regions: any access beside it crashes. */
void scene_fence(struct usher_pool *pool);

/* A CLOCK_MONOTONIC time from now. */
struct timespec scene_in_ms(long ms);
int64_t scene_now_ns(void);
void scene_pause_us(long us);

/* From now on the kernel refuses this system call with `error`, here and in all children, if
   (argument `argument` & mask) == value; argument -1: always. False: this kernel has no seccomp. */
bool scene_refuse(long call, int argument, uint32_t mask, uint32_t value, int error);

uint64_t scene_random(void);
extern uint64_t scene_seed;

#define UNTIL(condition)                                                                           \
    do {                                                                                           \
        int64_t until_ = scene_now_ns() + 30000000000LL;                                           \
        while (!(condition)) {                                                                     \
            if (scene_now_ns() > until_) {                                                         \
                (void)fprintf(stderr, "%s:%d: still false: %s\n", __FILE__, __LINE__, #condition); \
                exit(1);                                                                           \
            }                                                                                      \
            scene_pause_us(300);                                                                   \
        }                                                                                          \
    } while (0)

#endif
