/* Threads change one variable of many words: no change is lost, and no reader sees two values
   mixed. */
#include "step/wide.h"

#include "test.h"

#include <pthread.h>

enum { THREADS = 8, WORDS = 40, TIMES = 20000 };

static struct step_wide wide;
static struct step_machine machine = {.name = "count", .wide = true};
static struct step_system count = {
    .machine = &machine, .n = THREADS, .shared_words = WORDS, .private_bytes = sizeof(uint64_t)};

/* Add w+1 to word w, for every word. The private state is the value that the first word had. */
static void add(const struct step_system *system, uint64_t *words, void *state, unsigned process)
{
    uint64_t *before = state;
    (void)process;
    *before = words[0];
    for (unsigned w = 0; w < system->shared_words; w++) {
        EXPECT_EQ(words[w], words[0] * (w + 1)); /* one thread's value, not a mix of two */
    }
    for (unsigned w = 0; w < system->shared_words; w++) {
        words[w] += w + 1;
    }
}

static void *work(void *argument)
{
    struct step_memory memory = {.wide = &wide};
    unsigned process = (unsigned)(uintptr_t)argument;
    uint64_t last = 0;
    for (unsigned i = 0; i < TIMES; i++) {
        uint64_t before;
        step_update_all(&count, &memory, add, &before, process);
        EXPECT(i == 0 || before > last);
        last = before;
    }
    return NULL;
}

static void all_changes_are_there(void)
{
    pthread_t threads[THREADS];
    uint64_t words[WORDS] = {0};
    step_wide_init(&wide, &count, words);
    for (uintptr_t i = 0; i < THREADS; i++) {
        EXPECT_EQ(pthread_create(&threads[i], NULL, work, (void *)i), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        EXPECT_EQ(pthread_join(threads[i], NULL), 0);
    }
    uint64_t current = atomic_load(&wide.current) & 0xff;
    for (unsigned w = 0; w < WORDS; w++) {
        EXPECT_EQ(atomic_load(&wide.copies[current][w]), (uint64_t)THREADS * TIMES * (w + 1));
    }
}

static void alone_it_is_the_words_themselves(void)
{
    _Atomic uint64_t words[WORDS] = {0};
    struct step_access access = {0};
    struct step_memory memory = {.words = words, .access = &access};
    uint64_t before = 7;
    step_update_all(&count, &memory, add, &before, 0);
    step_update_all(&count, &memory, add, &before, 1);
    EXPECT_EQ(before, 1);
    EXPECT_EQ(atomic_load(&words[WORDS - 1]), 2 * WORDS);
    EXPECT_EQ(access.count, 2);
    EXPECT(access.kind == STEP_UPDATE && access.word == 0);
    EXPECT(access.before == 1 && access.after == 2);
}

int main(void)
{
    RUN(all_changes_are_there);
    RUN(alone_it_is_the_words_themselves);
    return 0;
}
