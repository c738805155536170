/* An atomic snapshot from registers: see snapshot.h. */
#include "papers/snapshot.h"

#include <assert.h>
#include <stdio.h>

enum stage {
    IDLE,
    READ_Q,          /* update: read q(j,i) */
    HANDSHAKE,       /* line 1: read r(j).p[i] */
    HANDSHAKE_WRITE, /* and write it to q(i,j) */
    COLLECT_A,       /* collect a */
    COLLECT_B,       /* collect b */
    WRITE            /* update: write r(i) */
};

/* A register r(i), unpacked. */
struct content {
    uint32_t value, view[SNAPSHOT_MOST];
    unsigned p; /* a bit for each other process, lowest first; the writer has no bit */
    bool toggle;
};

static bool has(const struct snapshot *s, enum snapshot_broken bit)
{
    return (s->broken & (unsigned)bit) != 0;
}

unsigned snapshot_bits(unsigned n, uint32_t values)
{
    /* A power of a number that is not a power of two is never close enough to one for rounding to
       matter; powers of two are exact. */
    double all = 1;
    unsigned bits = n;
    for (unsigned i = 0; i < n + 1; i++) {
        all *= values;
    }
    while (all > 1) {
        all /= 2;
        bits++;
    }
    return bits;
}

/* Remove the bit of `process`, and close the gap. */
static unsigned squeeze(unsigned mask, unsigned process)
{
    unsigned low = mask & ((1U << process) - 1);
    return low | (mask >> (process + 1)) << process;
}

static uint64_t pack(const struct snapshot *s, const struct content *c)
{
    uint64_t number = 0;
    assert(s->n > 0);
    for (unsigned j = s->n; j-- > 0;) {
        number = number * s->values + c->view[j];
    }
    number = number * s->values + c->value;
    return number << s->n | (uint64_t)c->toggle << (s->n - 1) | c->p;
}

static struct content unpack(const struct snapshot *s, uint64_t word)
{
    struct content c = {.p = (unsigned)word & ((1U << (s->n - 1)) - 1),
                        .toggle = word >> (s->n - 1) & 1};
    uint64_t number = word >> s->n;
    c.value = (uint32_t)(number % s->values);
    for (unsigned j = 0; j < s->n; j++) {
        number /= s->values;
        c.view[j] = (uint32_t)(number % s->values);
    }
    return c;
}

/* r(j).p[i] */
static unsigned p_for(const struct content *c, unsigned writer, unsigned reader)
{
    return c->p >> (reader < writer ? reader : reader - 1) & 1;
}

static unsigned word_r(const struct snapshot *s, unsigned i)
{
    return s->first + i;
}

static unsigned word_q(const struct snapshot *s, unsigned i, unsigned j)
{
    return s->first + s->n + i * (s->n - 1) + (j < i ? j : j - 1);
}

void snapshot_init(const struct snapshot *s, uint64_t *words)
{
    for (unsigned w = 0; w < SNAPSHOT_WORDS(s->n); w++) {
        words[s->first + w] = 0;
    }
}

uint32_t snapshot_value(const struct snapshot *s, uint64_t word)
{
    return unpack(s, word).value;
}

/* The first process from `at` on other than `process`. */
static uint8_t other_from(unsigned at, unsigned process)
{
    return (uint8_t)(at == process ? at + 1 : at);
}

static void clear_view(struct snapshot_state *x)
{
    for (unsigned j = 0; j < SNAPSHOT_MOST; j++) {
        x->view[j] = 0;
    }
}

/* Go to a stage that visits all others. */
static void go_to(struct snapshot_state *x, enum stage stage, unsigned process)
{
    x->stage = (uint8_t)stage;
    x->at = other_from(0, process);
}

/* Line 2; the mutant SNAPSHOT_COLLECT does collect b only. */
static void begin_collects(const struct snapshot *s, struct snapshot_state *x, unsigned process)
{
    go_to(x, has(s, SNAPSHOT_COLLECT) ? COLLECT_B : COLLECT_A, process);
    x->failed = 0;
    x->toggles = 0;
    clear_view(x);
}

/* Line 1. */
static void begin_round(const struct snapshot *s, struct snapshot_state *x, unsigned process)
{
    if (has(s, SNAPSHOT_COLLECT | SNAPSHOT_NO_HANDSHAKE) ||
        (has(s, SNAPSHOT_GREET_ONCE) && x->moved != 0)) {
        begin_collects(s, x, process);
        return;
    }
    x->q = 0;
    x->failed = 0;
    x->toggles = 0;
    clear_view(x);
    go_to(x, HANDSHAKE, process);
}

void snapshot_begin(const struct snapshot *s, struct snapshot_state *x, unsigned process,
                    bool updates)
{
    *x = (struct snapshot_state){.value = x->value, .toggle = x->toggle, .updates = updates};
    if (updates && !has(s, SNAPSHOT_NO_HANDSHAKE | SNAPSHOT_COLLECT)) {
        go_to(x, READ_Q, process);
    } else {
        begin_round(s, x, process);
    }
}

void snapshot_end(struct snapshot_state *x)
{
    *x = (struct snapshot_state){.value = x->value, .toggle = x->toggle};
}

bool snapshot_writes(const struct snapshot_state *x)
{
    return x->stage == WRITE;
}

/* The scan is finished. A scan becomes idle, an update will write. */
static bool finish(struct snapshot_state *x)
{
    *x = (struct snapshot_state){
        .value = x->value,
        .view = {x->view[0], x->view[1], x->view[2], x->view[3], x->view[4]},
        .toggle = x->toggle,
        .stage = x->updates ? WRITE : IDLE,
        .updates = x->updates,
        .f = x->f};
    return true;
}

/* Line 4 for j, which has moved and which collect b has just read. True if its view is returned. */
static bool borrow(const struct snapshot *s, struct snapshot_state *x, unsigned j,
                   const struct content *c)
{
    x->failed = (uint8_t)(x->failed | 1U << j);
    if (!(x->moved >> j & 1) && !has(s, SNAPSHOT_FIRST_MOVE)) {
        return false;
    }
    for (unsigned m = 0; m < s->n; m++) {
        x->view[m] = c->view[m];
    }
    return finish(x);
}

/* Does this read of r(j) show that j has moved? Collect a records toggles, collect b compares
   them. */
static bool has_moved(const struct snapshot *s, const struct snapshot_state *x, unsigned j,
                      unsigned process, const struct content *c)
{
    bool greets = !has(s, SNAPSHOT_NO_HANDSHAKE | SNAPSHOT_COLLECT) &&
                  !has(s, x->stage == COLLECT_A ? SNAPSHOT_NO_P_IN_A : SNAPSHOT_NO_P_IN_B);
    bool toggles = x->stage == COLLECT_B && !has(s, SNAPSHOT_NO_TOGGLE | SNAPSHOT_COLLECT);
    return x->failed >> j & 1 || (greets && p_for(c, j, process) != (x->q >> j & 1U)) ||
           (toggles && c->toggle != (x->toggles >> j & 1));
}

/* Take one read of a collect. True if the scan is finished. */
static bool collect(const struct snapshot *s, struct step_memory *memory, struct snapshot_state *x,
                    unsigned process)
{
    unsigned j = x->at;
    struct content c = unpack(s, step_read(memory, word_r(s, j)));
    bool moved = has_moved(s, x, j, process, &c);
    x->at = other_from(j + 1U, process);
    if (x->stage == COLLECT_A) {
        x->failed = (uint8_t)(x->failed | (unsigned)moved << j);
        x->toggles = (uint8_t)(x->toggles | (unsigned)(c.toggle && !moved) << j);
        if (x->at >= s->n) {
            go_to(x, COLLECT_B, process);
        }
        return false;
    }
    if (moved && borrow(s, x, j, &c)) {
        return true;
    }
    x->view[j] = c.value;
    if (x->failed != 0) {
        clear_view(x);
    }
    if (x->at < s->n) {
        return false;
    }
    if (x->failed == 0) {
        x->view[process] = x->value;
        return finish(x);
    }
    x->moved |= x->failed;
    begin_round(s, x, process);
    return false;
}

/* f[j] := not q(j,i). True if it was the last j. */
static bool read_q(const struct snapshot *s, struct step_memory *memory, struct snapshot_state *x,
                   unsigned process)
{
    unsigned bit = step_read(memory, word_q(s, x->at, process)) == has(s, SNAPSHOT_SAME_F);
    x->f = (uint8_t)(x->f | bit << x->at);
    x->at = other_from(x->at + 1U, process);
    return x->at >= s->n;
}

bool snapshot_step(const struct snapshot *s, struct step_memory *memory, struct snapshot_state *x,
                   unsigned process)
{
    switch ((enum stage)x->stage) {
    case READ_Q:
        if (read_q(s, memory, x, process)) {
            begin_round(s, x, process);
        }
        break;
    case HANDSHAKE: {
        struct content c = unpack(s, step_read(memory, word_r(s, x->at)));
        x->q = (uint8_t)(x->q | p_for(&c, x->at, process) << x->at);
        x->stage = HANDSHAKE_WRITE;
        break;
    }
    case HANDSHAKE_WRITE:
        step_write(memory, word_q(s, process, x->at), (unsigned)x->q >> x->at & 1U);
        x->at = other_from(x->at + 1U, process);
        x->stage = HANDSHAKE;
        if (x->at >= s->n) {
            begin_collects(s, x, process);
        }
        break;
    case COLLECT_A:
    case COLLECT_B:
        return collect(s, memory, x, process);
    case IDLE:
    case WRITE:
        break;
    }
    return false;
}

void snapshot_write(const struct snapshot *s, struct step_memory *memory, struct snapshot_state *x,
                    unsigned process, uint32_t value)
{
    struct content c = {.value = value, .p = squeeze(x->f, process), .toggle = !x->toggle};
    for (unsigned j = 0; j < s->n; j++) {
        c.view[j] = x->view[j];
    }
    step_write(memory, word_r(s, process), pack(s, &c));
    *x = (struct snapshot_state){.value = value, .toggle = !x->toggle};
}

int snapshot_print(const struct snapshot *s, unsigned word, uint64_t content,
                   int (*print)(const void *context, uint32_t value, char *out, size_t size),
                   const void *context, char *out, size_t size)
{
    unsigned at = word - s->first;
    if (at >= s->n) {
        unsigned i = (at - s->n) / (s->n - 1);
        unsigned j = (at - s->n) % (s->n - 1);
        return snprintf(out, size, "q(%u,%u)=%u", i + 1, (j < i ? j : j + 1) + 1,
                        (unsigned)content);
    }
    struct content c = unpack(s, content);
    char text[2 + SNAPSHOT_MOST][16];
    for (unsigned j = 0; j <= s->n; j++) {
        (void)print(context, j == s->n ? c.value : c.view[j], text[j], sizeof text[j]);
    }
    int length = snprintf(out, size, "r(%u)=%s view", at + 1, text[s->n]);
    for (unsigned j = 0; j < s->n && length >= 0 && (size_t)length < size; j++) {
        length +=
            snprintf(out + length, size - (size_t)length, "%c%s", j == 0 ? ' ' : ',', text[j]);
    }
    if (length >= 0 && (size_t)length < size) {
        length += snprintf(out + length, size - (size_t)length, " p %x toggle %u", c.p,
                           (unsigned)c.toggle);
    }
    return length;
}
