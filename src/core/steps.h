/*
 * How the core's source is stopped before each shared access.
 *
 * Every operation of the core is a function over a frame, a struct of its locals (frames.h). In the
 * shipping build the macros below are plain calls and accesses, and the frames are ordinary locals.
 * With CORE_STEPS the same source is resumable. Before each shared access the function stores its
 * position in the frame and returns CORE_MORE. The next call makes that one access and runs to the
 * next. So the caller chooses which process makes the next access, and the checker explores every
 * order.
 *
 * Rules for code between the macros: a value that must survive an access is in the frame; one macro
 * per line (a position is a line number).
 */
#ifndef USHER_CORE_STEPS_H
#define USHER_CORE_STEPS_H

#include <stdatomic.h>
#include <stdint.h>

enum core_progress { CORE_DONE, CORE_MORE };

#ifdef CORE_STEPS

#include "step/step.h"

#include <string.h>

#define CORE_AT uint16_t at;
#define CORE_ACTS bool acts;
#define CORE_LOOKS bool looks;
#define CORE_BEGIN(f)                                                                              \
    switch ((f)->at) {                                                                             \
    case 0:
#define CORE_END(f)                                                                                \
    }                                                                                              \
    (f)->at = 0;                                                                                   \
    return CORE_DONE
#define CORE_RETURN(f)                                                                             \
    do {                                                                                           \
        (f)->at = 0;                                                                               \
        return CORE_DONE;                                                                          \
    } while (0)
#define CORE__STOP(f)                                                                              \
    (f)->at = __LINE__;                                                                            \
    return CORE_MORE;                                                                              \
    case __LINE__:
#define CORE_CALL(f, call)                                                                         \
    do {                                                                                           \
        (f)->at = __LINE__;                                                                        \
        __attribute__((fallthrough));                                                              \
    case __LINE__:                                                                                 \
        if ((call) == CORE_MORE) {                                                                 \
            return CORE_MORE;                                                                      \
        }                                                                                          \
    } while (0)
#define CORE_READ(c, f, into, word)                                                                \
    do {                                                                                           \
        CORE__STOP(f)(into) = core_steps_read((c), (word));                                        \
    } while (0)
#define CORE_WRITE(c, f, word, value)                                                              \
    do {                                                                                           \
        CORE__STOP(f) core_steps_write((c), (word), (value));                                      \
    } while (0)
#define CORE_ANNOUNCE(c, f, row, slot, value)                                                      \
    do {                                                                                           \
        CORE__STOP(f)                                                                              \
        core_steps_announce((c), core__announced_at((c), (row), (slot)), (value),                  \
                            !CORE_DROPS((c), CORE_GUARD_ANNOUNCE_ORDER));                          \
    } while (0)
/* No step if nothing is announced: no other process could see the difference. */
#define CORE_WITHDRAW(c, f, row, slot)                                                             \
    do {                                                                                           \
        if (core__announces((c), (row), (slot))) {                                                 \
            CORE_WRITE(c, f, core__announced_at((c), (row), (slot)), 0);                           \
        }                                                                                          \
    } while (0)
#define CORE_READ_ANNOUNCED(c, f, into, row, slot)                                                 \
    CORE_READ(c, f, into, core__announced_at((c), (row), (slot)))
/* The process relies on the value that it just read: it will compare and swap this word. */
#define CORE_RELY(c, word) core_steps_rely((c), (word))
/* If the word is `from`, it becomes `to`, and `into` true; otherwise `into` becomes false. */
#define CORE_CAS(c, f, into, word, from, to)                                                       \
    do {                                                                                           \
        CORE__STOP(f)(into) = core_steps_swap((c), (word), (from), (to));                          \
    } while (0)
#define CORE_DROPS(c, guard) ((c)->broken == (guard))
/* acts: the operation has checked that what it read still holds, and now acts on it. looks: it only
   reads, before it tries to publish. Both matter to CORE_DOOMED alone. */
#define CORE_ACT(f, yes) ((f)->acts = (yes))
#define CORE_LOOK(f, yes) ((f)->looks = (yes))
/* For the explorer. CORE_DOOMED: if the condition holds, this function, which has begun, changes
   nothing any more, whatever it reads. CORE_DELIVERS: f is the frame that delivers. */
#define CORE_DOOMED(c, if_so) ((c)->doomed = (c)->doomed || (if_so))
#define CORE_DELIVERS(c, f) ((c)->delivers = (f))
/* This local is not used any more: states that differ in nothing else become equal. */
#define CORE_FORGET(x) memset(&(x), 0, sizeof(x))
/* As CORE_FORGET, for all of x but `part`. */
#define CORE_KEEP(x, part) (x) = (part)
/* Prepare a frame for a call. The caller then sets the fields before its blank line. */
#define CORE_FRESH(x) memset(&(x), 0, sizeof(x))

#else

#define CORE_AT char at;
#define CORE_ACTS
#define CORE_LOOKS
#define CORE_BEGIN(f) (void)(f)
#define CORE_END(f) return CORE_DONE
#define CORE_RETURN(f) return CORE_DONE
#define CORE_CALL(f, call) (void)(call)
/* -DCORE_COUNTED, for tests: core_counted is called before each access, and may kill the process.
   */
#ifdef CORE_COUNTED
void core_counted(void);
#define CORE__COUNT core_counted(),
#else
#define CORE__COUNT
#endif
#define CORE_READ(c, f, into, word) CORE__COUNT(into) = atomic_load(&(c)->words[word])
/* Only a row's owner uses this, for its own row. docs/memory-orders.md: why release is enough. */
#define CORE_WRITE(c, f, word, value)                                                              \
    CORE__COUNT atomic_store_explicit(&(c)->words[word], (value), memory_order_release)
/* seq_cst: the word is read a second time after this store, and no weaker order keeps a load behind
   a store. */
#define CORE_ANNOUNCE(c, f, row, slot, value)                                                      \
    CORE__COUNT atomic_store(core__announced((c), (row), (slot)), (value))
#define CORE_WITHDRAW(c, f, row, slot)                                                             \
    CORE__COUNT atomic_store_explicit(core__announced((c), (row), (slot)), 0, memory_order_release)
#define CORE_READ_ANNOUNCED(c, f, into, row, slot)                                                 \
    CORE__COUNT(into) = atomic_load(core__announced((c), (row), (slot)))
#define CORE_CAS(c, f, into, word, from, to)                                                       \
    do {                                                                                           \
        uint64_t from_ = (from);                                                                   \
        CORE__COUNT(into) = atomic_compare_exchange_strong(&(c)->words[word], &from_, (to));       \
    } while (0)
/* -DCORE_BROKEN=CORE_GUARD_..: a build without that guard, in which a test must fail. */
#ifdef CORE_BROKEN
#define CORE_DROPS(c, guard) ((guard) == CORE_BROKEN)
#else
#define CORE_DROPS(c, guard) 0
#endif
#define CORE_RELY(c, word) ((void)0)
#define CORE_ACT(f, yes) ((void)0)
#define CORE_LOOK(f, yes) ((void)0)
#define CORE_DOOMED(c, if_so) ((void)0)
#define CORE_DELIVERS(c, f) ((void)0)
#define CORE_FORGET(x) ((void)0)
#define CORE_KEEP(x, part) ((void)0)
/* An operation uses nothing in its frame that its caller has not set. The counting build fills the
   frame with a pattern, so that tests notice such a use. */
#ifdef CORE_COUNTED
#include <string.h>
#define CORE_FRESH(x) memset(&(x), 0xa5, sizeof(x))
#else
#define CORE_FRESH(x) ((void)0)
#endif

#endif

#endif
