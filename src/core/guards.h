/*
 * What the core takes care of, one by one. A mutant drops one guard, to show what it is for: only
 * in exploring builds, and in tests that are built without a guard (-DCORE_BROKEN).
 */
#ifndef USHER_CORE_GUARDS_H
#define USHER_CORE_GUARDS_H

enum core_guard {
    CORE_GUARD_NONE,
    /* For each kind of word, in the order of enum core_kind: the author of what was read is
       announced; and the word is read again after that. */
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
    CORE_GUARD_ANNOUNCE_ORDER,   /* that the second read follows the announcement: x86-TSO */
    CORE_GUARD_SCAN_I,           /* no cycle starts with a tag that I names */
    CORE_GUARD_SCAN_V,           /* nor with one that V names */
    CORE_GUARD_SCAN_K,           /* nor with one that K names */
    CORE_GUARD_SCAN_ANNOUNCED,   /* nor with one that is announced */
    CORE_GUARD_SCAN_LINE,        /* nobody waits in a cycle that the line names */
    CORE_GUARD_SCAN_FIRST,       /* the announcements are scanned before the line, too */
    CORE_GUARD_SCAN_SEATS,       /* no question has a number that a seat has */
    CORE_GUARD_SCAN_ORDER,       /* the announcements are scanned after the words */
    CORE_GUARD_SLIDE_WAITS,      /* only a guest that waits is copied forward */
    CORE_GUARD_NEXT_CLEARED,     /* the place of a ticket is cleared, by any issuer */
    CORE_GUARD_TAKE_I_STILL,     /* I still i, before the line is recorded */
    CORE_GUARD_TAKE_TAG,         /* the author's row has I's tag */
    CORE_GUARD_V_STILL,          /* V still v, before finish_release acts on a row */
    CORE_GUARD_AUTHOR_TAG,       /* the author's row has V's tag */
    CORE_GUARD_LINE_TAG,         /* the waiter's row has the line's tag */
    CORE_GUARD_SERVED,           /* SERVED is marked */
    CORE_GUARD_SKIPPED,          /* a hole is passed over */
    CORE_GUARD_LAP,              /* a place of another lap is not this place */
    CORE_GUARD_REAP_FINISH_TAKE, /* the reaper finishes I before it frees a waiting row */
    CORE_GUARD_FINISH_I,         /* nobody publishes over I before it is finished */
    CORE_GUARD_FINISH_V,         /* nobody publishes over V before it is finished */
    CORE_GUARD_ADOPT_HOLE,       /* only a hole is adopted */
    CORE_GUARD_ADOPT_VALID,      /* only a place beyond VALID is adopted */
    CORE_GUARD_SLIDE_LIVE,       /* only a hole or a copy is slid over */
    CORE_GUARD_LEAVING_STILL,    /* publish only for a row that is still leaving */
    CORE_GUARD_NAMED,            /* V that names us already is our publication */
    CORE_GUARD_REAP_CYCLE,       /* a row that has gone on is not reaped */
    CORE_GUARD_HOLE_GRANTED,     /* a place granted but not yet marked is no hole */
    CORE_GUARD_DECIDED_STILL,    /* the row still waits, before it gets the next place */
    CORE_GUARD_SAME_AUTHOR,      /* an I that moved on for the same guest is followed */
    CORE_GUARD_SKIP_DECIDED,     /* an adopted place passed over meanwhile is replaced */
    CORE_GUARD_ROOM,             /* no place is taken that another ticket still needs */
    CORE_GUARD_ENTER_VALID,      /* only a ticket that is valid already is entered with */
    CORE_GUARD_OWN_TICKET,       /* only V's delivery to the leaver itself needs no look */
    CORE_GUARD_LEAVE_DELIVER,    /* the leaver delivers, if its ticket has been issued */
    CORE_GUARD_ABSORB,           /* a free ticket that is owed is taken for nobody */
    CORE_GUARD_OWED,             /* and by nobody else */
    CORE_GUARD_STALE_PLACE,      /* a place of 2^20 tickets ago is cleared first */
    CORE_GUARD_STALE_STILL,      /* I still i, before a place is found to be so old */
    CORE_GUARD_COUNTED,          /* a resize that K names is not counted again */
    CORE_GUARD_COUNT_V_STILL,    /* V still v, before a resize is counted */
    CORE_GUARD_RESIZE_LIMIT,     /* nobody shrinks an empty pool, or grows one that is full */
    CORE_GUARD_SEAT_HELD,        /* a seat is not taken from one who is in */
    CORE_GUARD_SEAT_ASKED,       /* a seat is asked for before it is taken */
    CORE_GUARD_SEAT_FIRST,       /* a guest says which seat it means before it asks for it */
    CORE_GUARD_SEAT_ENTERING,    /* one who enters is in as soon as I says so */
    CORE_GUARD_SEAT_NOT_IN,      /* and not before */
    CORE_GUARD_SEAT_SAID,        /* a seat is held only by one who means that very seat */
    CORE_GUARD_SEAT_HELPED,      /* what another has asked is decided for it */
    CORE_GUARD_DIED_ASKED,       /* what the dead one asked is decided, before its seat is marked */
    CORE_GUARD_DIED_STILL,       /* the row is still the dead one's, before its seat is marked */
    CORE_GUARD_GRANT_VALID,      /* I's author is granted only a ticket that is valid */
    CORE_GUARD_ISSUED,           /* only a ticket that has been issued is delivered */
    CORE_GUARD_SLIDE_PLACE,      /* only an undecided place of this lap is slid over */
    CORE_GUARD_REPEAT_UNTIL,     /* no field of I, V or the row runs over when it enters again */
    CORE_GUARD_REPEAT_V,         /* V is what the guest last published, before it enters again */
};

#endif
