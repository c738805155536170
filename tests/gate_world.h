/*
 * What the tests of the gate share: guests (threads or forked processes) that enter and leave, and
 * check at every entry that at most k are inside and that they enter in the order of their tickets.
 */
#ifndef USHER_GATE_WORLD_H
#define USHER_GATE_WORLD_H

#include "usher.h"

#include "gate/gate_word.h"
#include "process_state.h"
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_GUESTS = 100 };

/* The shared memory: the gate, and the test's own counts. */
struct world {
    _Alignas(64) struct usher_gate gate;
    _Alignas(64) atomic_uint inside;
    atomic_uint entered; /* entries */
    atomic_uint leaving; /* exits, counted before the call */
    atomic_uint highest; /* highest ticket that has entered */
    unsigned plain;      /* entries, counted without atomics: with k = 1 the gate protects it */
    unsigned seats, cycles;
    bool in_order; /* tickets can be compared: no block ends within the test */
};

static struct world *world;

static inline void make_world(void)
{
    world = mmap(NULL, sizeof *world, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT(world != MAP_FAILED);
}

static inline void prepare(uint32_t guests, uint32_t seats, unsigned cycles, bool small_blocks)
{
    memset(world, 0, sizeof *world);
    world->seats = seats;
    world->cycles = cycles;
    world->in_order = !small_blocks && seats <= 8;
    EXPECT_EQ(usher_gate_init(&world->gate, guests, seats), 0);
    if (small_blocks) {
        unsigned bits = gate_least_bits(guests, seats);
        EXPECT_EQ(gate_start(&world->gate.word, guests, seats, bits), 0);
    }
}

static inline uint64_t gate_word(void)
{
    return __atomic_load_n(&world->gate.word, __ATOMIC_SEQ_CST);
}

static inline void note_order(uint32_t ticket, unsigned highest_before)
{
    unsigned highest = atomic_load(&world->highest);
    EXPECT(ticket > highest_before); /* guests that entered before have earlier ones */
    EXPECT(ticket <= world->seats + atomic_load(&world->leaving));
    while (highest < ticket && !atomic_compare_exchange_weak(&world->highest, &highest, ticket)) {
    }
    if (world->seats == 1) {
        EXPECT_EQ(++world->plain, ticket); /* no guest was passed over */
    }
}

/* Enter and leave world->cycles times. */
static inline void visit(void)
{
    struct usher_pass pass;
    for (unsigned i = 0; i < world->cycles; i++) {
        unsigned highest = atomic_load(&world->highest);
        EXPECT_EQ(usher_gate_enter(&world->gate, &pass), 0);
        EXPECT(atomic_fetch_add(&world->inside, 1) < world->seats);
        atomic_fetch_add(&world->entered, 1);
        if (world->in_order) {
            note_order(pass.ticket & gate_view(gate_word()).mask, highest);
        }
        if (i % 4 == 0) {
            (void)sched_yield(); /* so that others arrive meanwhile */
        }
        atomic_fetch_sub(&world->inside, 1);
        atomic_fetch_add(&world->leaving, 1);
        EXPECT_EQ(usher_gate_leave(&world->gate, &pass), 0);
    }
}

static inline void *visit_as_thread(void *nothing)
{
    visit();
    return nothing;
}

static inline void visit_with_threads(unsigned guests)
{
    pthread_t threads[MOST_GUESTS];
    for (unsigned i = 0; i < guests; i++) {
        EXPECT_EQ(pthread_create(&threads[i], NULL, visit_as_thread, NULL), 0);
    }
    for (unsigned i = 0; i < guests; i++) {
        EXPECT_EQ(pthread_join(threads[i], NULL), 0);
    }
    EXPECT_EQ(atomic_load(&world->entered), guests * world->cycles);
}

static inline pid_t start(void (*guest)(void))
{
    pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) {
        guest();
        _exit(0);
    }
    return child;
}

static inline void expect_end(pid_t child)
{
    int status;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

static inline void visit_with_processes(unsigned guests)
{
    pid_t children[MOST_GUESTS];
    unsigned before = atomic_load(&world->entered);
    for (unsigned i = 0; i < guests; i++) {
        children[i] = start(visit);
    }
    for (unsigned i = 0; i < guests; i++) {
        expect_end(children[i]);
    }
    EXPECT_EQ(atomic_load(&world->entered), before + guests * world->cycles);
}

/* Wait until `tickets` tickets have been issued; no block may end before. */
static inline void until_issued(uint32_t tickets)
{
    while (gate_view(gate_word()).issue < tickets) {
        (void)sched_yield();
    }
}

/* Wait until a process sleeps. */
static inline void until_asleep(pid_t process)
{
    while (process_state(process) != 'S') {
        (void)sched_yield();
    }
}

#endif
