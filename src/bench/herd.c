/* Thousands of threads. herd.h is the contract. */
#include "bench/herd.h"

#include "bench/bench.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { STACK = 64 * 1024 };

/* A member's state: the driver sets HAS_JOB; the member sets IDLE when its job is done. */
enum { IDLE, HAS_JOB };

struct member {
    _Alignas(64) _Atomic uint32_t state;
    unsigned number;
    herd_job *job; /* NULL: end */
    pthread_t thread;
};

struct herd {
    unsigned count;
    size_t stack_size; /* of all members, in one mapping: the number of mappings is limited */
    char *stacks;
    struct member members[];
};

static void await_change(_Atomic uint32_t *state, uint32_t from)
{
    while (atomic_load(state) == from) {
        bench_futex_wait(state, from);
    }
}

static void *live(void *context)
{
    struct member *me = context;
    herd_job *job;
    do {
        await_change(&me->state, IDLE);
        job = me->job;
        if (job != NULL) {
            job(me->number);
        }
        atomic_store(&me->state, IDLE);
        bench_futex_wake(&me->state, 1);
    } while (job != NULL);
    return NULL;
}

struct herd *herd_new(unsigned members)
{
    size_t size = sizeof(struct herd) + members * sizeof(struct member);
    struct herd *herd = aligned_alloc(64, (size + 63) / 64 * 64);
    pthread_attr_t attributes;
    if (herd == NULL) {
        return NULL;
    }
    herd->count = 0;
    herd->stack_size = (size_t)members * STACK;
    herd->stacks = mmap(NULL, herd->stack_size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (herd->stacks == MAP_FAILED) {
        free(herd);
        return NULL;
    }
    (void)pthread_attr_init(&attributes);
    for (unsigned m = 0; m < members; m++) {
        struct member *member = &herd->members[m];
        atomic_init(&member->state, IDLE);
        member->number = m;
        (void)pthread_attr_setstack(&attributes, herd->stacks + (size_t)m * STACK, STACK);
        if (pthread_create(&member->thread, &attributes, live, member) != 0) {
            herd_end(herd);
            herd = NULL;
            break;
        }
        herd->count++;
    }
    (void)pthread_attr_destroy(&attributes);
    return herd;
}

void herd_tell(struct herd *herd, unsigned member, herd_job *job)
{
    struct member *chosen = &herd->members[member];
    chosen->job = job;
    atomic_store(&chosen->state, HAS_JOB);
    bench_futex_wake(&chosen->state, 1);
}

void herd_await(struct herd *herd, unsigned member)
{
    await_change(&herd->members[member].state, HAS_JOB);
}

void herd_end(struct herd *herd)
{
    for (unsigned m = 0; m < herd->count; m++) {
        herd_tell(herd, m, NULL);
    }
    for (unsigned m = 0; m < herd->count; m++) {
        (void)pthread_join(herd->members[m].thread, NULL);
    }
    (void)munmap(herd->stacks, herd->stack_size);
    free(herd);
}
