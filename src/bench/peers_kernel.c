/*
 * Peers of the kernel: System V semaphores, file locks, an eventfd counter, and a pipe with one
 * token per seat, as in make's jobserver.
 */
#include "bench/bench.h"
#include "bench/peers.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <unistd.h>

static int plain_set = -1, undo_set = -1;

static int make_set(int *set, unsigned seats)
{
    *set = semget(IPC_PRIVATE, 1, 0600);
    return *set < 0 ? -1 : semctl(*set, 0, SETVAL, (int)seats);
}

static inline void add(int set, short what, short flags)
{
    struct sembuf operation = {0, what, flags};
    while (semop(set, &operation, 1) != 0 && errno == EINTR) {
    }
}

static int semop_open(unsigned seats, unsigned guests)
{
    (void)guests;
    return make_set(&plain_set, seats);
}

static inline void semop_get(void)
{
    add(plain_set, -1, 0);
}

static inline void semop_pass(void)
{
    add(plain_set, 1, 0);
}

BENCH_RUN(semop)

static void semop_close(void)
{
    (void)semctl(plain_set, 0, IPC_RMID);
}

const struct bench_peer bench_semop = {
    "semop",    PEER_IN_ORDER, semop_open,      bench_no_attach, semop_get,
    semop_pass, semop_run,     bench_no_detach, semop_close,     NULL,
};

static int semop_undo_open(unsigned seats, unsigned guests)
{
    (void)guests;
    return make_set(&undo_set, seats);
}

static inline void semop_undo_get(void)
{
    add(undo_set, -1, SEM_UNDO);
}

static inline void semop_undo_pass(void)
{
    add(undo_set, 1, SEM_UNDO);
}

BENCH_RUN(semop_undo)

static void semop_undo_close(void)
{
    (void)semctl(undo_set, 0, IPC_RMID);
}

const struct bench_peer bench_semop_undo = {
    "semop+SEM_UNDO", PEER_SURVIVES | PEER_IN_ORDER | PEER_KEY,
    semop_undo_open,  bench_no_attach,
    semop_undo_get,   semop_undo_pass,
    semop_undo_run,   bench_no_detach,
    semop_undo_close, NULL,
};

/* A lock belongs to an open file description, so each process opens the file anew. Each kind of
   lock has its own file. */
static int flock_fd = -1, ofd_fd = -1;

static int lock_open(const char *suffix, unsigned seats)
{
    char path[80];
    bench_path(path, sizeof path, suffix);
    int fd = open(path, O_RDWR | O_CLOEXEC | O_CREAT, 0600);
    if (fd >= 0) {
        (void)close(fd);
    }
    return fd >= 0 && seats == 1 ? 0 : -1;
}

static int lock_attach(const char *suffix, int *fd)
{
    char path[80];
    bench_path(path, sizeof path, suffix);
    *fd = open(path, O_RDWR | O_CLOEXEC);
    return *fd < 0 ? -1 : 0;
}

static void lock_close(const char *suffix)
{
    char path[80];
    bench_path(path, sizeof path, suffix);
    (void)unlink(path);
}

static int flock_open(unsigned seats, unsigned guests)
{
    (void)guests;
    return lock_open("flock", seats);
}

static int flock_attach(void)
{
    return lock_attach("flock", &flock_fd);
}

static inline void flock_get(void)
{
    (void)flock(flock_fd, LOCK_EX);
}

static inline void flock_pass(void)
{
    (void)flock(flock_fd, LOCK_UN);
}

BENCH_RUN(flock)

static void flock_detach(void)
{
    (void)close(flock_fd);
}

static void flock_close(void)
{
    lock_close("flock");
}

const struct bench_peer bench_flock = {
    "flock",     PEER_ONE | PEER_SURVIVES,
    flock_open,  flock_attach,
    flock_get,   flock_pass,
    flock_run,   flock_detach,
    flock_close, NULL,
};

static int ofd_open(unsigned seats, unsigned guests)
{
    (void)guests;
    return lock_open("ofd", seats);
}

static int ofd_attach(void)
{
    return lock_attach("ofd", &ofd_fd);
}

static inline void ofd_lock(short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_len = 1};
    (void)fcntl(ofd_fd, F_OFD_SETLKW, &lock);
}

static inline void ofd_get(void)
{
    ofd_lock(F_WRLCK);
}

static inline void ofd_pass(void)
{
    ofd_lock(F_UNLCK);
}

BENCH_RUN(ofd)

static void ofd_detach(void)
{
    (void)close(ofd_fd);
}

static void ofd_close(void)
{
    lock_close("ofd");
}

const struct bench_peer bench_ofd = {
    "OFD lock", PEER_ONE | PEER_SURVIVES,
    ofd_open,   ofd_attach,
    ofd_get,    ofd_pass,
    ofd_run,    ofd_detach,
    ofd_close,  NULL,
};

static int counter = -1;

static int eventfd_open(unsigned seats, unsigned guests)
{
    (void)guests;
    counter = eventfd(seats, EFD_SEMAPHORE | EFD_CLOEXEC);
    return counter < 0 ? -1 : 0;
}

static inline void eventfd_get(void)
{
    uint64_t one;
    while (read(counter, &one, sizeof one) < 0 && errno == EINTR) {
    }
}

static inline void eventfd_pass(void)
{
    const uint64_t one = 1;
    (void)!write(counter, &one, sizeof one);
}

BENCH_RUN(eventfd)

static void eventfd_close(void)
{
    (void)close(counter);
}

const struct bench_peer bench_eventfd = {
    "eventfd",    0,           eventfd_open,    bench_no_attach, eventfd_get,
    eventfd_pass, eventfd_run, bench_no_detach, eventfd_close,   NULL,
};

static int ends[2] = {-1, -1};

static int pipe_open(unsigned seats, unsigned guests)
{
    (void)guests;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return -1;
    }
    for (; seats > 0; seats--) {
        if (write(ends[1], "+", 1) != 1) {
            return -1;
        }
    }
    return 0;
}

static inline void pipe_get(void)
{
    char token;
    while (read(ends[0], &token, 1) < 0 && errno == EINTR) {
    }
}

static inline void pipe_pass(void)
{
    (void)!write(ends[1], "+", 1);
}

BENCH_RUN(pipe)

static void pipe_close(void)
{
    (void)close(ends[0]);
    (void)close(ends[1]);
}

const struct bench_peer bench_pipe = {
    "pipe of tokens", 0,        pipe_open,       bench_no_attach, pipe_get,
    pipe_pass,        pipe_run, bench_no_detach, pipe_close,      NULL,
};
