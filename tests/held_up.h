/*
 * A thread that seccomp stops in the middle of a call, each time before a certain system call,
 * until the test lets it continue.
 */
#ifndef USHER_HELD_UP_H
#define USHER_HELD_UP_H

#include "scene.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* musl declares the request of ioctl as int, glibc as unsigned long; the kernel reads 32 bits. */
#ifdef __GLIBC__
#define HELD_UP_RECEIVE SECCOMP_IOCTL_NOTIF_RECV
#define HELD_UP_SEND SECCOMP_IOCTL_NOTIF_SEND
#else
#define HELD_UP_RECEIVE (int)SECCOMP_IOCTL_NOTIF_RECV
#define HELD_UP_SEND (int)SECCOMP_IOCTL_NOTIF_SEND
#endif

/* The low half of the second argument of a call. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define HELD_UP_SECOND (offsetof(struct seccomp_data, args) + 8)
#else
#define HELD_UP_SECOND (offsetof(struct seccomp_data, args) + 12)
#endif

struct held_up {
    long call;
    uint32_t mask, value; /* of its second argument */
    atomic_int listener;  /* below 0: not possible here */
    atomic_int ended;
    struct seccomp_notif what;
};

/* Called by the thread itself before the call. False: not possible. */
static inline bool held_up_here(struct held_up *self)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)self->call, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, HELD_UP_SECOND),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, self->mask),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, self->value, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    EXPECT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    atomic_store(&self->listener, listener);
    return listener >= 0;
}

/* Called by the thread itself after the call. */
static inline void held_up_end(struct held_up *self)
{
    atomic_store(&self->ended, 1);
}

/* Called by the others: wait until it has begun. False, with a message: not possible. */
static inline bool held_up_begun(struct held_up *self)
{
    UNTIL(atomic_load(&self->listener) != 0);
    if (atomic_load(&self->listener) < 0) {
        (void)printf("  SKIPPED: this kernel has no seccomp notifications\n");
    }
    return atomic_load(&self->listener) >= 0;
}

/* Wait until it is stopped. False: its call is over. */
static inline bool held_up_now(struct held_up *self)
{
    struct pollfd notified = {.fd = self->listener, .events = POLLIN};
    memset(&self->what, 0, sizeof self->what);
    while (poll(&notified, 1, 1) != 1) {
        if (atomic_load(&self->ended)) {
            EXPECT_EQ(close(self->listener), 0);
            return false;
        }
    }
    return ioctl(self->listener, HELD_UP_RECEIVE, &self->what) == 0;
}

static inline void held_up_no_longer(struct held_up *self)
{
    struct seccomp_notif_resp go_on = {.id = self->what.id,
                                       .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    EXPECT_EQ(ioctl(self->listener, HELD_UP_SEND, &go_on), 0);
}

#endif
