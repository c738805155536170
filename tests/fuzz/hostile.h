/*
 * Included before each library source in fuzz builds. Before each access to shared memory the stage
 * (stage.h) may change memory as a hostile peer would, and checks the address. The sources are the
 * production ones, unchanged.
 */
#ifndef USHER_FUZZ_HOSTILE_H
#define USHER_FUZZ_HOSTILE_H

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

void stage_access(const volatile void *at, size_t size);
void *stage_map(void *where, size_t size, int protection, int flags, int fd, off_t from);
int stage_unmap(void *memory, size_t size);
int stage_close(int fd);
int stage_nap(const struct timespec *time, struct timespec *left);
pid_t stage_no_fork(void);
int stage_no_exec(const char *file, char *const argv[]);
int usher_main(int argc, char **argv); /* of usher(1) */

#ifdef __clang__
#define STAGE_LOAD(p, order) __c11_atomic_load(p, order)
#define STAGE_STORE(p, value, order) __c11_atomic_store(p, value, order)
#define STAGE_ADD(p, value, order) __c11_atomic_fetch_add(p, value, order)
#define STAGE_SWAP(p, from, to)                                                                    \
    __c11_atomic_compare_exchange_strong(p, from, to, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
#else
#define STAGE_LOAD(p, order) __atomic_load_n(p, order)
#define STAGE_STORE(p, value, order) __atomic_store_n(p, value, order)
#define STAGE_ADD(p, value, order) __atomic_fetch_add(p, value, order)
#define STAGE_SWAP(p, from, to)                                                                    \
    __atomic_compare_exchange_n(p, from, to, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
#endif

#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_fetch_add
#undef atomic_fetch_add_explicit
#undef atomic_compare_exchange_strong
#define atomic_load_explicit(p, order) (stage_access(p, sizeof *(p)), STAGE_LOAD(p, order))
#define atomic_load(p) atomic_load_explicit(p, __ATOMIC_SEQ_CST)
#define atomic_store_explicit(p, value, order)                                                     \
    (stage_access(p, sizeof *(p)), STAGE_STORE(p, value, order))
#define atomic_store(p, value) atomic_store_explicit(p, value, __ATOMIC_SEQ_CST)
#define atomic_fetch_add_explicit(p, value, order)                                                 \
    (stage_access(p, sizeof *(p)), STAGE_ADD(p, value, order))
#define atomic_fetch_add(p, value) atomic_fetch_add_explicit(p, value, __ATOMIC_SEQ_CST)
#define atomic_compare_exchange_strong(p, from, to)                                                \
    (stage_access(p, sizeof *(p)), STAGE_SWAP(p, from, to))

/* Memory between inaccessible regions; locks that end with their descriptor; and no command is
   started. */
#define mmap stage_map
#define munmap stage_unmap
#define close stage_close
#define nanosleep stage_nap
#define vfork stage_no_fork
#define execvp stage_no_exec

#endif
