/* Numbered parts, and steps on them: see sweep_parts.h. */
#include "check/sweep/sweep_parts.h"

#include <errno.h>
#include <string.h>

#define NONE CHECK_NO_NUMBER

enum { LEAST_SHARED = 1 << 16, MOST_SHARED = 1 << 27, MOST_PRIVATE = 1 << 20 };

int check_sweep_parts_init(struct check_sweep_parts *p, const struct step_system *system,
                           bool mirrored, bool settled, size_t memory)
{
    const struct step_machine *machine = system->machine;
    memset(p, 0, sizeof *p);
    p->system = system;
    p->settled = settled && machine->settle != NULL;
    for (unsigned i = 0; i < system->n; i++) {
        p->mirror[i] = (uint8_t)(mirrored && machine->mirror ? machine->mirror(system, i) : i);
        p->mirrored = p->mirrored || p->mirror[i] != i;
    }
    (void)pthread_mutex_init(&p->lock, NULL);
    size_t bytes = system->shared_words * sizeof(uint64_t);
    uint32_t most = LEAST_SHARED; /* at least as many as memory can hold */
    while (most < MOST_SHARED && most * (bytes + sizeof *p->stage) < memory) {
        most *= 2;
    }
    bool ok = check_numbers_init(&p->shared, bytes, most) == 0 &&
              check_numbers_init(&p->private, system->private_bytes, MOST_PRIVATE) == 0;
    p->stage = check_reserve(most, sizeof *p->stage);
    p->shared_image = check_reserve(most, sizeof *p->shared_image);
    p->phase = check_reserve(MOST_PRIVATE, 1);
    p->region = check_reserve(MOST_PRIVATE, 1);
    p->busy = check_reserve(MOST_PRIVATE, 1);
    p->judged = check_reserve(MOST_PRIVATE, 1);
    ok = ok && p->stage != NULL && p->shared_image != NULL && p->phase != NULL &&
         p->region != NULL && p->busy != NULL && p->judged != NULL;
    for (unsigned i = 0; i < system->n; i++) {
        p->private_image[i] = check_reserve(MOST_PRIVATE, sizeof(uint32_t));
        ok = ok && p->private_image[i] != NULL;
    }
    return ok ? 0 : -ENOMEM;
}

void check_sweep_parts_free(struct check_sweep_parts *p)
{
    check_numbers_free(&p->shared);
    check_numbers_free(&p->private);
    check_give_back(p->stage, p->shared.most, sizeof *p->stage);
    check_give_back(p->shared_image, p->shared.most, sizeof *p->shared_image);
    check_give_back(p->phase, MOST_PRIVATE, 1);
    check_give_back(p->region, MOST_PRIVATE, 1);
    check_give_back(p->busy, MOST_PRIVATE, 1);
    check_give_back(p->judged, MOST_PRIVATE, 1);
    for (unsigned i = 0; i < p->system->n; i++) {
        check_give_back(p->private_image[i], MOST_PRIVATE, sizeof(uint32_t));
    }
    (void)pthread_mutex_destroy(&p->lock);
}

size_t check_sweep_parts_used(const struct check_sweep_parts *p)
{
    return check_numbers_used(&p->shared, sizeof *p->stage + sizeof *p->shared_image) +
           check_numbers_used(&p->private, 4 + p->system->n * sizeof *p->private_image[0]);
}

/* The index of a value of step_machine.judged. CHECK_SWEEP_JUDGED stands for all values without a
   number: states with it are judged each time. */
static uint8_t judged_as(struct check_sweep_parts *p, uint64_t value)
{
    unsigned j = 0;
    while (j < p->judged_count && p->judged_values[j] != value) {
        j++;
    }
    if (j == p->judged_count && j < CHECK_SWEEP_JUDGED) {
        p->judged_values[p->judged_count++] = value;
    }
    return (uint8_t)j;
}

/* Find or add a part, under the lock. NONE: no room. */
static uint32_t number_shared(struct check_sweep_parts *p, const uint64_t *words)
{
    uint32_t v = check_numbers_find(&p->shared, words);
    if (v != NONE) {
        return v;
    }
    v = check_numbers_add(&p->shared, words);
    if (v != NONE) {
        p->stage[v] = p->system->machine->stage(p->system, words);
        check_numbers_publish(&p->shared);
    }
    return v;
}

static uint32_t number_private(struct check_sweep_parts *p, const void *state)
{
    const struct step_machine *machine = p->system->machine;
    uint32_t x = check_numbers_find(&p->private, state);
    if (x != NONE) {
        return x;
    }
    x = check_numbers_add(&p->private, state);
    if (x != NONE) {
        p->phase[x] = machine->phase(p->system, state);
        p->region[x] = (uint8_t)machine->region(p->system, state);
        p->busy[x] = machine->busy(state);
        p->judged[x] = judged_as(p, machine->judged(p->system, state));
        check_numbers_publish(&p->private);
    }
    return x;
}

/* Are `a` and `b` recorded as each other's image? */
static bool are_paired(_Atomic uint32_t *image_of_a, uint32_t a, _Atomic uint32_t *image_of_b,
                       uint32_t b)
{
    return check_sweep_other(image_of_a, a) == b && check_sweep_other(image_of_b, b) == a;
}

/* Record `a` and `b` as each other's image, under the lock. False: one of them has another. */
static bool pair(_Atomic uint32_t *image_of_a, uint32_t a, _Atomic uint32_t *image_of_b, uint32_t b)
{
    if (image_of_a[a] == 0) {
        image_of_a[a] = b + 1;
    }
    if (image_of_b[b] == 0) {
        image_of_b[b] = a + 1;
    }
    return are_paired(image_of_a, a, image_of_b, b);
}

struct outcome {
    uint64_t words[STEP_MAX_SHARED_WORDS];
    _Alignas(8) unsigned char state[STEP_MAX_PRIVATE_BYTES];
};

static enum check_sweep_result execute(const struct check_sweep_parts *p, unsigned process,
                                       unsigned event, uint32_t shared, uint32_t private,
                                       struct outcome *out)
{
    const struct step_system *system = p->system;
    _Atomic uint64_t words[STEP_MAX_SHARED_WORDS];
    struct step_access access = {0};
    struct step_memory memory = {.words = words, .access = &access};
    memcpy(out->words, check_numbers_value(&p->shared, shared), p->shared.bytes);
    memcpy(out->state, check_numbers_value(&p->private, private), p->private.bytes);
    for (unsigned w = 0; w < system->shared_words; w++) {
        atomic_init(&words[w], out->words[w]);
    }
    if (event == 0) {
        system->machine->step(system, &memory, out->state, process);
        if (access.count != 1) {
            return CHECK_SWEEP_ACCESSES;
        }
    } else if (event < system->machine->events &&
               !system->machine->event(system, &memory, out->state, process, event)) {
        return CHECK_SWEEP_CANNOT;
    }
    for (unsigned w = 0; w < system->shared_words; w++) {
        out->words[w] = atomic_load_explicit(&words[w], memory_order_relaxed);
    }
    if (p->settled) {
        system->machine->settle(system, out->words, out->state, process);
    }
    return CHECK_SWEEP_OK;
}

/* Find the numbers of an outcome and, if there is one, of its image, without the lock. False: a
   part is new, or the images are not recorded. */
static bool is_known(const struct check_sweep_parts *p, unsigned process, const struct outcome *out,
                     const struct outcome *image, uint32_t *to_shared, uint32_t *to_private)
{
    *to_shared = check_numbers_find(&p->shared, out->words);
    *to_private = check_numbers_find(&p->private, out->state);
    if (*to_shared == NONE || *to_private == NONE || image == NULL) {
        return *to_shared != NONE && *to_private != NONE;
    }
    uint32_t iv = check_numbers_find(&p->shared, image->words);
    uint32_t ix = check_numbers_find(&p->private, image->state);
    return iv != NONE && ix != NONE &&
           are_paired(p->shared_image, *to_shared, p->shared_image, iv) &&
           are_paired(p->private_image[process], *to_private, p->private_image[p->mirror[process]],
                      ix);
}

/* Number an outcome and, if there is one, its image, under the lock. */
static enum check_sweep_result note(struct check_sweep_parts *p, unsigned process,
                                    const struct outcome *out, const struct outcome *image,
                                    uint32_t *to_shared, uint32_t *to_private)
{
    uint32_t v = number_shared(p, out->words);
    uint32_t x = number_private(p, out->state);
    *to_shared = v;
    *to_private = x;
    if (v == NONE || x == NONE) {
        return CHECK_SWEEP_FULL;
    }
    if (image == NULL) {
        return CHECK_SWEEP_OK;
    }
    uint32_t iv = number_shared(p, image->words);
    uint32_t ix = number_private(p, image->state);
    if (iv == NONE || ix == NONE) {
        return CHECK_SWEEP_FULL;
    }
    bool same = p->phase[x] == p->phase[ix] && p->region[x] == p->region[ix] &&
                p->busy[x] == p->busy[ix] && p->stage[v] == p->stage[iv];
    return same && pair(p->shared_image, v, p->shared_image, iv) &&
                   pair(p->private_image[process], x, p->private_image[p->mirror[process]], ix)
               ? CHECK_SWEEP_OK
               : CHECK_SWEEP_NO_IMAGE;
}

enum check_sweep_result check_sweep_execute(struct check_sweep_parts *p, unsigned label,
                                            uint32_t shared, uint32_t private, uint32_t *to_shared,
                                            uint32_t *to_private)
{
    unsigned process = label % p->system->n;
    unsigned event = label / p->system->n;
    struct outcome out;
    struct outcome image;
    enum check_sweep_result result = execute(p, process, event, shared, private, &out);
    if (p->mirrored && (result == CHECK_SWEEP_OK || result == CHECK_SWEEP_CANNOT)) {
        enum check_sweep_result other =
            execute(p, p->mirror[process], event, check_sweep_other(p->shared_image, shared),
                    check_sweep_other(p->private_image[process], private), &image);
        if (other != result) {
            return CHECK_SWEEP_NO_IMAGE;
        }
    }
    if (result != CHECK_SWEEP_OK) {
        return result;
    }
    if (is_known(p, process, &out, p->mirrored ? &image : NULL, to_shared, to_private)) {
        return CHECK_SWEEP_OK;
    }
    (void)pthread_mutex_lock(&p->lock);
    result = note(p, process, &out, p->mirrored ? &image : NULL, to_shared, to_private);
    (void)pthread_mutex_unlock(&p->lock);
    return result;
}

enum check_sweep_result check_sweep_first(struct check_sweep_parts *p, uint32_t *key)
{
    struct outcome start = {0};
    p->system->machine->init(p->system, start.words);
    enum check_sweep_result result = CHECK_SWEEP_OK;
    for (unsigned i = 0; i < p->system->n && result == CHECK_SWEEP_OK; i++) {
        result = note(p, i, &start, p->mirrored ? &start : NULL, &key[0], &key[1 + i]);
    }
    return result;
}

const char *check_sweep_wrong(const struct check_sweep_parts *p, const uint32_t *key)
{
    const struct step_system *system = p->system;
    _Alignas(8) unsigned char states[CHECK_SWEEP_PROCESSES * STEP_MAX_PRIVATE_BYTES];
    for (unsigned i = 0; i < system->n; i++) {
        memcpy(step_state_of(system, states, i), check_numbers_value(&p->private, key[1 + i]),
               p->private.bytes);
    }
    return system->machine->wrong(system, check_numbers_value(&p->shared, key[0]), states);
}
