/*
 * Remove from a process what makes no difference any more: see step.h, `settle`.
 *
 * I, V, rows and places never return to an earlier value: all have tags, which do not repeat within
 * an exploration. (Where words are short or stores are buffered, nothing is settled.) So once they
 * have changed:
 *
 *   - A resting guest forgets the I that it published, if V has changed as well. (If only I has
 *     changed, the guest still tries the repeat path, and its compare-and-swap fails.) Of V it
 *     keeps only that it is old.
 *   - A compare-and-swap from an earlier value fails, now or later: it is made now. Seats are
 *     excluded: the numbers of their questions do repeat.
 *   - A process that finishes an I or a V that is over, or that tries to take a ticket that is
 *     taken, reads, finds that, and changes nothing (CORE_DOOMED): its reads are made now. If they
 *     would end its operation too early, the process is marked `through` instead: its next step is
 *     a read that ends the operation.
 *
 * Steps that are made early change nothing, and their result does not depend on when they are made.
 * So they commute with all steps of other processes. Every run becomes a run with these steps moved
 * forward, with the same shared memories and the same regions. A crash among them becomes a crash
 * behind them.
 */
#include "core/parts.h"
#include "model/pool_machine.h"
#include "model/pool_parts.h"

#include <assert.h>
#include <string.h>

enum { MOST_STEPS = 1000, OLD_V = 1 }; /* V never is 1: VALID is at least the number of seats */

static bool is_row(const struct core *c, unsigned word)
{
    return word >= AT_ROW && word < c->at_hint;
}

static bool is_place(const struct core *c, unsigned word)
{
    return word >= c->at_line && word < c->at_seat;
}

/* Forget the row that was read, if its place got a verdict meanwhile and the row has changed: every
   compare-and-swap that uses it fails. */
static void forget_row(const struct core *c, struct core_finish_release *f, const uint64_t *words)
{
    if (f->deliver.at != 0 && !f->acts && f->e != 0 && !core_line_decided(f->e) &&
        words[core__line_at(c, core_v_valid(f->v))] != f->e &&
        words[core__row_at(c, core_line_row(f->e))] != f->r) {
        f->r = 0;
    }
}

/* Make one step on copies. Does it change nothing, whenever it is made? */
static bool is_idle_step(struct core *c, struct process *p, unsigned process, bool *ends)
{
    const uint64_t i = atomic_load(&c->words[AT_I]);
    const uint64_t v = atomic_load(&c->words[AT_V]);
    struct step_access *access = c->memory->access;
    *access = (struct step_access){0};
    c->doomed = false;
    *ends = model__go_on(c, p, process) == CORE_DONE;
    bool fails = access->kind == STEP_UPDATE && access->before == access->after &&
                 (access->word == AT_I || access->word == AT_V || is_row(c, access->word) ||
                  is_place(c, access->word));
    assert(!c->doomed || access->kind == STEP_READ || fails);
    assert(i == atomic_load(&c->words[AT_I]) || !c->doomed);
    assert(v == atomic_load(&c->words[AT_V]) || !c->doomed);
    return access->count == 1 && (c->doomed || fails);
}

static bool is_inside(const struct process *p)
{
    return model_pool_busy(p) && !p->through;
}

void model__settle(const struct step_system *system, const uint64_t *words, void *state,
                   unsigned process)
{
    struct process *p = state;
    struct core c;
    _Atomic uint64_t shared[STEP_MAX_SHARED_WORDS];
    struct step_access access;
    struct step_memory memory = {.words = shared, .access = &access};
    model__widths(system);
    if (model__repeats(system) || system->limits.buffer != 0) {
        return;
    }
    p->i = p->i == words[AT_I] || p->v == words[AT_V] || p->mode != RESTING ? p->i : 0;
    p->v = p->v == words[AT_V] || p->v == 0 ? p->v : OLD_V;
    if (p->mode == REPEAT_LEAVING && !p->u.repeat.published && p->u.repeat.v != words[AT_V]) {
        p->u.repeat.v = OLD_V;
    }
    if (p->i == 0 && (p->mode == RESTING || p->mode == RELEASING)) {
        p->v = 0; /* it will not take the repeat path */
        if (p->mode == RELEASING && p->u.release.slow.leave.done) {
            p->u.release.slow.leave.v = 0;
        }
    }
    for (unsigned steps = 0; is_inside(p); steps++) {
        struct process next = *p;
        bool ends;
        for (unsigned w = 0; w < system->shared_words; w++) {
            atomic_init(&shared[w], words[w]);
        }
        model__core(system, &memory, &c);
        bool idle = is_idle_step(&c, &next, process, &ends);
        if (c.delivers != NULL) {
            size_t at = (size_t)((const char *)c.delivers - (const char *)&next);
            forget_row(&c, (void *)((char *)p + at), words);
        }
        if (!idle) {
            return;
        }
        if (ends) {
            if (c.doomed && (p->mode == HELPING || p->mode == COUNTING)) {
                memset(&p->u, 0, sizeof p->u);
                p->through = true;
            }
            return;
        }
        *p = next;
        assert(steps < MOST_STEPS);
    }
}
