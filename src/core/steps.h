/*
 * How the core's source can be stopped before each shared access.
 *
 * Every operation of the core is a function over a frame, a struct of its locals. In the shipping
 * build the macros below are plain calls and accesses, the frames are ordinary locals, and the
 * compiler sees straight code. With CORE_STEPS the same source becomes resumable: before each
 * shared access the function notes in its frame where it is and returns CORE_MORE; called again, it
 * goes on from there, makes that one access, and runs to the next. So whoever calls it decides who
 * makes the next access: the checker explores every order.
 *
 * Rules for the code between the macros: what must survive an access lives in the frame; one macro
 * a line (a place is its line number).
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
/* No step if nothing is announced: only its own guest would know. */
#define CORE_WITHDRAW(c, f, row, slot)                                                             \
    do {                                                                                           \
        if (core__announces((c), (row), (slot))) {                                                 \
            CORE_WRITE(c, f, core__announced_at((c), (row), (slot)), 0);                           \
        }                                                                                          \
    } while (0)
#define CORE_READ_ANNOUNCED(c, f, into, row, slot)                                                 \
    CORE_READ(c, f, into, core__announced_at((c), (row), (slot)))
/* What was just read of this word is relied on: it will be compared and swapped. */
#define CORE_RELY(c, word) core_steps_rely((c), (word))
/* `into` becomes whether the word was `from` and is now `to`. */
#define CORE_CAS(c, f, into, word, from, to)                                                       \
    do {                                                                                           \
        CORE__STOP(f)(into) = core_steps_swap((c), (word), (from), (to));                          \
    } while (0)
#define CORE_DROPS(c, guard) ((c)->broken == (guard))
/* From here on: was it seen that what was read before still holds, so that it is acted upon? Does
   it only look, before it tries to publish? */
#define CORE_ACT(f, yes) ((f)->acts = (yes))
#define CORE_LOOK(f, yes) ((f)->looks = (yes))
/* For who explores: is it so that this function, which has begun, changes nothing any more,
   whatever it reads? And that a delivery is going on, whose frame is f. */
#define CORE_DOOMED(c, if_so) ((c)->doomed = (c)->doomed || (if_so))
#define CORE_DELIVERS(c, f) ((c)->delivers = (f))
/* From here on this local does not matter: states that differ in nothing else are the same. */
#define CORE_FORGET(x) memset(&(x), 0, sizeof(x))
/* The same for all of it but `part`. */
#define CORE_KEEP(x, part) (x) = (part)
/* A frame that is to be used, or used again: the caller sets its fields before the blank line. */
#define CORE_FRESH(x) memset(&(x), 0, sizeof(x))

#else

#define CORE_AT char at;
#define CORE_ACTS
#define CORE_LOOKS
#define CORE_BEGIN(f) (void)(f)
#define CORE_END(f) return CORE_DONE
#define CORE_RETURN(f) return CORE_DONE
#define CORE_CALL(f, call) (void)(call)
/* A build for tests, -DCORE_COUNTED, counts accesses before they are made, and may die of it. */
#ifdef CORE_COUNTED
void core_counted(void);
#define CORE__COUNT core_counted(),
#else
#define CORE__COUNT
#endif
#define CORE_READ(c, f, into, word) CORE__COUNT(into) = atomic_load(&(c)->words[word])
/* Only an owner writes, and only its own row: docs/memory-orders.md says why release is enough. */
#define CORE_WRITE(c, f, word, value)                                                              \
    CORE__COUNT atomic_store_explicit(&(c)->words[word], (value), memory_order_release)
/* The word is read again after this store: seq_cst, because nothing weaker orders a load after a
   store. */
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
/* -DCORE_BROKEN=CORE_GUARD_..: a build for tests, without that guard, that must be found out. */
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
/* An operation relies on nothing in its frame but what its caller has set: the build that counts
   accesses fills it with what would be noticed. */
#ifdef CORE_COUNTED
#include <string.h>
#define CORE_FRESH(x) memset(&(x), 0xa5, sizeof(x))
#else
#define CORE_FRESH(x) ((void)0)
#endif

#endif

#endif
