/* A shared queue is a queue: used by one process after the other, and by many threads at once. */
#include "papers/shared_queue.h"
#include "test.h"

#include <pthread.h>

/* Elements for this test: a bit, and behind it two bits of data, or fourteen if the bit is set. */
static unsigned width(const struct step_system *system, uint64_t bits)
{
    (void)system;
    return bits & 1 ? 15 : 3;
}

static uint64_t small(unsigned data)
{
    return (uint64_t)data << 1;
}

static uint64_t large(unsigned data)
{
    return (uint64_t)data << 1 | 1;
}

static void enqueue(struct step_memory *memory, uint64_t element)
{
    shared_queue_enqueue(memory, 0, element, width(NULL, element));
}

static bool dequeue(struct step_memory *memory, uint64_t *element)
{
    return shared_queue_dequeue(NULL, memory, 0, width, element);
}

static void what_goes_in_first_comes_out_first(void)
{
    static const struct {
        bool wide;
        unsigned data;
    } in[] = {{false, 3}, {true, 9999}, {true, 0}, {false, 0}, {true, 16383}, {false, 1}};
    enum { COUNT = sizeof in / sizeof in[0] };
    _Atomic uint64_t word = SHARED_QUEUE_EMPTY;
    struct step_memory memory = {.words = &word};
    uint64_t element;
    for (unsigned round = 0; round < 3; round++) {
        EXPECT(!dequeue(&memory, &element));
        for (unsigned i = 0; i < COUNT; i++) {
            enqueue(&memory, in[i].wide ? large(in[i].data) : small(in[i].data));
        }
        for (unsigned i = 0; i < COUNT; i++) {
            uint64_t expected = in[i].wide ? large(in[i].data) : small(in[i].data);
            EXPECT(shared_queue_peek(NULL, &memory, 0, width, &element));
            EXPECT_EQ(element, expected);
            EXPECT(dequeue(&memory, &element));
            EXPECT_EQ(element, expected);
        }
        EXPECT(!dequeue(&memory, &element));
        EXPECT(!shared_queue_peek(NULL, &memory, 0, width, &element));
        EXPECT_EQ(atomic_load(&word), SHARED_QUEUE_EMPTY);
    }
}

static void an_operation_is_one_access(void)
{
    _Atomic uint64_t word = SHARED_QUEUE_EMPTY;
    struct step_access access = {0};
    struct step_memory memory = {.words = &word, .access = &access};
    uint64_t element;
    (void)dequeue(&memory, &element);
    EXPECT(access.count == 1 && access.kind == STEP_UPDATE && access.before == access.after);
    enqueue(&memory, small(2));
    EXPECT(access.count == 2 && access.kind == STEP_UPDATE && access.before == SHARED_QUEUE_EMPTY);
    EXPECT_EQ(access.after, atomic_load(&word));
    (void)shared_queue_peek(NULL, &memory, 0, width, &element);
    EXPECT(access.count == 3 && access.kind == STEP_READ);
    (void)dequeue(&memory, &element);
    EXPECT(access.count == 4 && access.after == SHARED_QUEUE_EMPTY);
}

static void all_bits_can_be_used_and_one_more_spoils_the_queue(void)
{
    _Atomic uint64_t word = SHARED_QUEUE_EMPTY;
    struct step_memory memory = {.words = &word};
    uint64_t element;
    for (unsigned i = 0; i < 4; i++) {
        enqueue(&memory, large(i));
    }
    EXPECT_EQ(shared_queue_used(atomic_load(&word)), 60);
    enqueue(&memory, small(3));
    EXPECT_EQ(shared_queue_used(atomic_load(&word)), SHARED_QUEUE_BITS);
    EXPECT(dequeue(&memory, &element) && element == large(0));
    enqueue(&memory, large(4));
    for (unsigned i = 1; i < 4; i++) {
        EXPECT(dequeue(&memory, &element) && element == large(i));
    }
    EXPECT(dequeue(&memory, &element) && element == small(3));
    EXPECT(dequeue(&memory, &element) && element == large(4));
    for (unsigned i = 0; i < 5; i++) {
        enqueue(&memory, large(i));
    }
    EXPECT_EQ(atomic_load(&word), SHARED_QUEUE_SPOILT);
    EXPECT(!dequeue(&memory, &element));
    enqueue(&memory, small(1));
    EXPECT_EQ(atomic_load(&word), SHARED_QUEUE_SPOILT);
}

static void numbers_of_processes_have_as_few_bits_as_they_need(void)
{
    static const unsigned bits[] = {0, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4};
    for (unsigned n = 1; n <= 16; n++) {
        EXPECT_EQ(shared_queue_id_bits(n), bits[n]);
    }
}

/* Each thread enqueues its name and a count, and dequeues something. */
enum { THREADS = 4, ROUNDS = 4096, LAPS = 20 };

static _Atomic uint64_t crowded = SHARED_QUEUE_EMPTY;
static atomic_uint seen[THREADS][ROUNDS];
static pthread_barrier_t gate;

static void *come_and_go(void *argument)
{
    unsigned own = *(const unsigned *)argument;
    struct step_memory memory = {.words = &crowded};
    int last[THREADS] = {-1, -1, -1, -1};
    (void)pthread_barrier_wait(&gate);
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t element;
        enqueue(&memory, large(own << 12 | round));
        /* no thread has dequeued more than it has enqueued, so the queue is never empty here */
        EXPECT(dequeue(&memory, &element));
        unsigned whose = (unsigned)(element >> 13);
        int count = (int)(element >> 1 & (ROUNDS - 1));
        EXPECT(count > last[whose]);
        last[whose] = count;
        atomic_fetch_add(&seen[whose][count], 1);
    }
    return NULL;
}

static void lap(unsigned number)
{
    pthread_t threads[THREADS];
    unsigned names[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        names[i] = i;
        EXPECT_EQ(pthread_create(&threads[i], NULL, come_and_go, &names[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        EXPECT_EQ(pthread_join(threads[i], NULL), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        for (unsigned round = 0; round < ROUNDS; round++) {
            EXPECT_EQ(atomic_load(&seen[i][round]), number);
        }
    }
    EXPECT_EQ(atomic_load(&crowded), SHARED_QUEUE_EMPTY);
}

static void threads_lose_nothing_and_see_the_order(void)
{
    EXPECT_EQ(pthread_barrier_init(&gate, NULL, THREADS), 0);
    for (unsigned number = 1; number <= LAPS; number++) {
        lap(number);
    }
    (void)pthread_barrier_destroy(&gate);
}

int main(void)
{
    RUN(what_goes_in_first_comes_out_first);
    RUN(an_operation_is_one_access);
    RUN(all_bits_can_be_used_and_one_more_spoils_the_queue);
    RUN(numbers_of_processes_have_as_few_bits_as_they_need);
    RUN(threads_lose_nothing_and_see_the_order);
    return 0;
}
