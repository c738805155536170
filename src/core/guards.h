/*
 * The guards of the core: the checks and the steps that its correctness needs, one by one. A mutant
 * drops one guard, and a test shows which property is lost. Guards can be dropped only in exploring
 * builds (core.broken) and in tests that are built without one (-DCORE_BROKEN).
 */
#ifndef USHER_CORE_GUARDS_H
#define USHER_CORE_GUARDS_H

enum core_guard {
    CORE_GUARD_NONE,
    /* For each kind of word, in the order of enum core_kind: the author of the value read is
       announced (ANNOUNCE); the word is read a second time after that (SECOND). */
    CORE_GUARD_ANNOUNCE_I,
    CORE_GUARD_ANNOUNCE_V,
    CORE_GUARD_ANNOUNCE_K,
    CORE_GUARD_ANNOUNCE_LINE,
    CORE_GUARD_ANNOUNCE_SEAT,
    CORE_GUARD_ANNOUNCE_ROW,
    CORE_GUARD_SECOND_I,
    CORE_GUARD_SECOND_V,
    CORE_GUARD_SECOND_K,
    CORE_GUARD_SECOND_LINE,
    CORE_GUARD_SECOND_SEAT,
    CORE_GUARD_SECOND_ROW,
    CORE_GUARD_ANNOUNCE_ORDER, /* the second read follows the announcement (x86-TSO) */
    CORE_GUARD_SCAN_I,         /* no cycle starts with a tag that I names */
    CORE_GUARD_SCAN_V,         /* no cycle starts with a tag that V names */
    CORE_GUARD_SCAN_K,         /* no cycle starts with a tag that K names */
    CORE_GUARD_SCAN_ANNOUNCED, /* no cycle starts with a tag that is announced */
    CORE_GUARD_SCAN_LINE,      /* no guest waits in a cycle that the line names */
    CORE_GUARD_SCAN_FIRST,     /* announcements are scanned before the line as well */
    CORE_GUARD_SCAN_SEATS,     /* no question has a number that a seat has */
    CORE_GUARD_SCAN_ORDER,     /* the announcements are scanned after the words */
    CORE_GUARD_SLIDE_WAITS,    /* only a guest that waits is copied forward */
    CORE_GUARD_NEXT_CLEARED, /* next_place clears the next place before it issues the next ticket */
    CORE_GUARD_TAKE_I_STILL, /* I is still i before a place is recorded */
    CORE_GUARD_TAKE_TAG,     /* the author's row has I's tag */
    CORE_GUARD_V_STILL,      /* V is still v before a place is decided */
    CORE_GUARD_AUTHOR_TAG,   /* the author's row has V's tag */
    CORE_GUARD_LINE_TAG,     /* the waiter's row is in the cycle that the place names */
    CORE_GUARD_SERVED,       /* a served place is marked SERVED */
    CORE_GUARD_SKIPPED,      /* a hole is marked SKIPPED */
    CORE_GUARD_LAP,          /* a place of another lap is not this place */
    CORE_GUARD_REAP_FINISH_TAKE, /* the reaper finishes I before it frees a waiting row */
    CORE_GUARD_FINISH_I,         /* no guest publishes over I before I is finished */
    CORE_GUARD_FINISH_V,         /* no guest publishes over V before V is finished */
    CORE_GUARD_ADOPT_HOLE,       /* only a hole is adopted */
    CORE_GUARD_ADOPT_VALID,      /* only a place beyond VALID is adopted */
    CORE_GUARD_SLIDE_LIVE,       /* only a hole or a copy is overwritten by core_slide */
    CORE_GUARD_LEAVING_STILL,    /* core_publish stops when the row no longer leaves */
    CORE_GUARD_NAMED,            /* a V that names the row in this cycle is its publication */
    CORE_GUARD_REAP_CYCLE,       /* a row in another cycle is not reaped */
    CORE_GUARD_HOLE_GRANTED,     /* a place that is granted but not marked SERVED yet is no hole */
    CORE_GUARD_DECIDED_STILL,    /* the row still waits before I gives it the next place */
    CORE_GUARD_SAME_AUTHOR,   /* an I that moved to the next place for the same guest is followed */
    CORE_GUARD_SKIP_DECIDED,  /* a guest whose adopted place was skipped gets the next place */
    CORE_GUARD_ROOM,          /* no place is taken that another ticket still needs */
    CORE_GUARD_ENTER_VALID,   /* a guest enters only with a valid ticket */
    CORE_GUARD_OWN_TICKET,    /* core_leave checks V's delivery, unless V's ticket is its own */
    CORE_GUARD_LEAVE_DELIVER, /* core_leave delivers the new V's ticket, if it was issued */
    CORE_GUARD_ABSORB,        /* core_help_enter takes a valid ticket that is owed */
    CORE_GUARD_OWED,          /* core_enter takes no ticket that is owed */
    CORE_GUARD_STALE_PLACE,   /* a place that is 2^20 tickets old is cleared first */
    CORE_GUARD_STALE_STILL,   /* I is still i before a place is taken to be that old */
    CORE_GUARD_COUNTED,       /* a resize that K names is not counted twice */
    CORE_GUARD_COUNT_V_STILL, /* V is still v before a resize is counted in K */
    CORE_GUARD_RESIZE_LIMIT,  /* a pool does not shrink below 0 seats or grow beyond its room */
    CORE_GUARD_SEAT_HELD,     /* a seat is not taken from a row that is in */
    CORE_GUARD_SEAT_ASKED,    /* a seat is asked for before it is taken */
    CORE_GUARD_SEAT_FIRST,    /* a guest writes its hint before it asks for the seat */
    CORE_GUARD_SEAT_ENTERING, /* an ENTERING row that I names is in */
    CORE_GUARD_SEAT_NOT_IN,   /* an ENTERING row that I does not name is not in */
    CORE_GUARD_SEAT_SAID,     /* a row holds only the seat of its hint */
    CORE_GUARD_SEAT_HELPED,   /* a guest closes another guest's open question */
    CORE_GUARD_DIED_ASKED,    /* a dead row's open question is closed before its seat is marked */
    CORE_GUARD_DIED_STILL,    /* the row is unchanged before its seat is marked */
    CORE_GUARD_GRANT_VALID,   /* core_finish_take grants only a valid ticket */
    CORE_GUARD_ISSUED,        /* only an issued ticket is delivered */
    CORE_GUARD_SLIDE_PLACE,   /* only an undecided place of this lap is overwritten by core_slide */
    CORE_GUARD_REPEAT_UNTIL,  /* no field of I, V or the row overflows on the repeat path */
    CORE_GUARD_REPEAT_V, /* V is what the guest published last, before it takes the repeat path */
};

#endif
