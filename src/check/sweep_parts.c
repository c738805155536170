/* Parts and steps: see sweep_parts.h. */
#include "check/sweep_parts.h"

#include "check/mix.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST_SHARED = 1 << 26, MOST_PRIVATE = 1 << 20, SLOTS_EACH = 2 };

/* Memory that is there when it is touched. NULL if there is no room for it. */
static void *reserve(size_t count, size_t size)
{
    void *memory = mmap(NULL, count * size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void give_back(void *memory, size_t count, size_t size)
{
    if (memory != NULL) {
        (void)munmap(memory, count * size);
    }
}

static int dictionary_init(struct check_dictionary *d, size_t bytes, uint32_t most)
{
    *d = (struct check_dictionary){.bytes = bytes, .most = most};
    d->values = reserve(most, bytes);
    d->slots = reserve((size_t)most * SLOTS_EACH, sizeof *d->slots);
    return d->values == NULL || d->slots == NULL ? -ENOMEM : 0;
}

static void dictionary_free(struct check_dictionary *d)
{
    give_back(d->values, d->most, d->bytes);
    give_back(d->slots, (size_t)d->most * SLOTS_EACH, sizeof *d->slots);
}

/* The slot of a value, all of whose bytes come in eights. */
static uint32_t *slot_of(const struct check_dictionary *d, const void *value)
{
    size_t mask = (size_t)d->most * SLOTS_EACH - 1;
    uint64_t h = d->bytes;
    for (size_t i = 0; i < d->bytes; i += 8) {
        uint64_t chunk = 0;
        memcpy(&chunk, (const unsigned char *)value + i, d->bytes - i < 8 ? d->bytes - i : 8);
        h = check_mix(h ^ chunk);
    }
    size_t at = h & mask;
    while (d->slots[at] != 0 &&
           memcmp(d->values + (size_t)(d->slots[at] - 1) * d->bytes, value, d->bytes) != 0) {
        at = (at + 1) & mask;
    }
    return &d->slots[at];
}

/* The number of a value, found or new; *fresh if it is new. UINT32_MAX: no room. */
static uint32_t number(struct check_dictionary *d, const void *value, bool *fresh)
{
    uint32_t *slot = slot_of(d, value);
    *fresh = *slot == 0;
    if (*fresh) {
        if (d->count == d->most) {
            return UINT32_MAX;
        }
        memcpy(d->values + (size_t)d->count * d->bytes, value, d->bytes);
        *slot = ++d->count;
    }
    return *slot - 1;
}

int check_sweep_parts_init(struct check_sweep_parts *p, const struct step_system *system,
                           bool mirrored, bool settled)
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
    bool ok =
        dictionary_init(&p->shared, system->shared_words * sizeof(uint64_t), MOST_SHARED) == 0 &&
        dictionary_init(&p->private, system->private_bytes, MOST_PRIVATE) == 0;
    p->stage = reserve(MOST_SHARED, sizeof *p->stage);
    p->shared_image = reserve(MOST_SHARED, sizeof *p->shared_image);
    p->phase = reserve(MOST_PRIVATE, 1);
    p->region = reserve(MOST_PRIVATE, 1);
    p->busy = reserve(MOST_PRIVATE, 1);
    p->judged = reserve(MOST_PRIVATE, 1);
    ok = ok && p->stage != NULL && p->shared_image != NULL && p->phase != NULL &&
         p->region != NULL && p->busy != NULL && p->judged != NULL;
    for (unsigned i = 0; i < system->n; i++) {
        p->private_image[i] = reserve(MOST_PRIVATE, sizeof(uint32_t));
        ok = ok && p->private_image[i] != NULL;
    }
    return ok ? 0 : -ENOMEM;
}

void check_sweep_parts_free(struct check_sweep_parts *p)
{
    dictionary_free(&p->shared);
    dictionary_free(&p->private);
    give_back(p->stage, MOST_SHARED, sizeof *p->stage);
    give_back(p->shared_image, MOST_SHARED, sizeof *p->shared_image);
    give_back(p->phase, MOST_PRIVATE, 1);
    give_back(p->region, MOST_PRIVATE, 1);
    give_back(p->busy, MOST_PRIVATE, 1);
    give_back(p->judged, MOST_PRIVATE, 1);
    for (unsigned i = 0; i < p->system->n; i++) {
        give_back(p->private_image[i], MOST_PRIVATE, sizeof(uint32_t));
    }
    (void)pthread_mutex_destroy(&p->lock);
}

size_t check_sweep_parts_used(struct check_sweep_parts *p)
{
    enum { PAGE = 4096 }; /* slots are touched here and there: a page for each, until all are */
    (void)pthread_mutex_lock(&p->lock);
    size_t shared = p->shared.count;
    size_t private = p->private.count;
    (void)pthread_mutex_unlock(&p->lock);
    size_t slots = (size_t)p->shared.most * SLOTS_EACH * sizeof *p->shared.slots;
    return (shared * PAGE < slots ? shared * PAGE : slots) +
           shared * (p->shared.bytes + sizeof *p->stage + sizeof *p->shared_image) +
           private * (p->private.bytes + PAGE);
}

/* Which of the values that `wrong` tells apart; the last stands for all beyond what there is room
   for, and is looked at each time. */
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

static uint32_t number_shared(struct check_sweep_parts *p, const uint64_t *words)
{
    bool fresh;
    uint32_t v = number(&p->shared, words, &fresh);
    if (fresh && v != UINT32_MAX) {
        p->stage[v] = p->system->machine->stage(p->system, words);
    }
    return v;
}

static uint32_t number_private(struct check_sweep_parts *p, const void *state)
{
    const struct step_machine *machine = p->system->machine;
    bool fresh;
    uint32_t x = number(&p->private, state, &fresh);
    if (fresh && x != UINT32_MAX) {
        p->phase[x] = machine->phase(p->system, state);
        p->region[x] = (uint8_t)machine->region(p->system, state);
        p->busy[x] = machine->busy(state);
        p->judged[x] = judged_as(p, machine->judged(p->system, state));
    }
    return x;
}

/* `a` and `b` are each other's image, now and as long as anyone has asked. */
static bool pair(uint32_t *image_of_a, uint32_t a, uint32_t *image_of_b, uint32_t b)
{
    if (image_of_a[a] == 0) {
        image_of_a[a] = b + 1;
    }
    if (image_of_b[b] == 0) {
        image_of_b[b] = a + 1;
    }
    return image_of_a[a] == b + 1 && image_of_b[b] == a + 1;
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
    memcpy(out->words, p->shared.values + shared * p->shared.bytes, p->shared.bytes);
    memcpy(out->state, p->private.values + private * p->private.bytes, p->private.bytes);
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

/* Number an outcome, and its image's if there is one. */
static enum check_sweep_result note(struct check_sweep_parts *p, unsigned process,
                                    const struct outcome *out, const struct outcome *image,
                                    uint32_t *to_shared, uint32_t *to_private)
{
    uint32_t v = number_shared(p, out->words);
    uint32_t x = number_private(p, out->state);
    *to_shared = v;
    *to_private = x;
    if (v == UINT32_MAX || x == UINT32_MAX) {
        return CHECK_SWEEP_FULL;
    }
    if (image == NULL) {
        return CHECK_SWEEP_OK;
    }
    uint32_t iv = number_shared(p, image->words);
    uint32_t ix = number_private(p, image->state);
    if (iv == UINT32_MAX || ix == UINT32_MAX) {
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
            execute(p, p->mirror[process], event, p->shared_image[shared] - 1,
                    p->private_image[process][private] - 1, &image);
        if (other != result) {
            return CHECK_SWEEP_NO_IMAGE;
        }
    }
    if (result != CHECK_SWEEP_OK) {
        return result;
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
        memcpy(step_state_of(system, states, i), p->private.values + key[1 + i] * p->private.bytes,
               p->private.bytes);
    }
    return system->machine->wrong(
        system, (const void *)(p->shared.values + key[0] * p->shared.bytes), states);
}
