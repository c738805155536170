/* The core with one guard dropped for each: see pool.h. tests/pool_test.c finds each out. */
#include "model/pool_machine.h"
#include "model/pool_parts.h"

#define DROPPED(symbol, name_, what, guard)                                                        \
    static const struct step_machine symbol =                                                      \
        MODEL_POOL("mutant-pool-" name_, "The core without this guard: " what, guard)

DROPPED(take_i_still, "take-i-still", "I still i, before a place is recorded",
        CORE_GUARD_TAKE_I_STILL);
DROPPED(take_tag, "take-tag", "the author's row has I's tag", CORE_GUARD_TAKE_TAG);
DROPPED(v_still, "v-still", "V still v, before a place is decided", CORE_GUARD_V_STILL);
DROPPED(author_tag, "author-tag", "the author's row has V's tag", CORE_GUARD_AUTHOR_TAG);
DROPPED(line_tag, "line-tag", "the waiter's row has the line's tag", CORE_GUARD_LINE_TAG);
DROPPED(served, "served", "SERVED is marked", CORE_GUARD_SERVED);
DROPPED(skipped, "skipped", "a hole is passed over", CORE_GUARD_SKIPPED);
DROPPED(lap, "lap", "a place of another lap is not this one", CORE_GUARD_LAP);
DROPPED(reap_finish, "reap-finish-take", "the reaper finishes I first",
        CORE_GUARD_REAP_FINISH_TAKE);
DROPPED(finish_i, "finish-i", "I is finished before it is published over", CORE_GUARD_FINISH_I);
DROPPED(finish_v, "finish-v", "V is finished before it is published over", CORE_GUARD_FINISH_V);
DROPPED(adopt_hole, "adopt-hole", "only a hole is adopted", CORE_GUARD_ADOPT_HOLE);
DROPPED(adopt_valid, "adopt-valid", "only a place beyond VALID is adopted", CORE_GUARD_ADOPT_VALID);
DROPPED(slide_live, "slide-live", "only a hole or a copy is slid over", CORE_GUARD_SLIDE_LIVE);
DROPPED(leaving_still, "leaving-still", "publish only while the row is leaving",
        CORE_GUARD_LEAVING_STILL);
DROPPED(named, "named", "a V that names us is our publication", CORE_GUARD_NAMED);
DROPPED(reap_cycle, "reap-cycle", "a row that has gone on is not reaped", CORE_GUARD_REAP_CYCLE);
DROPPED(hole_granted, "hole-granted", "a place granted but not marked is no hole",
        CORE_GUARD_HOLE_GRANTED);
DROPPED(decided_still, "decided-still", "the row still waits, before it gets the next place",
        CORE_GUARD_DECIDED_STILL);
DROPPED(same_author, "same-author", "an I that moved on for the same guest is followed",
        CORE_GUARD_SAME_AUTHOR);
DROPPED(skip_decided, "skip-decided", "an adopted place passed over is replaced",
        CORE_GUARD_SKIP_DECIDED);
DROPPED(enter_valid, "enter-valid", "only a valid ticket is entered with", CORE_GUARD_ENTER_VALID);
DROPPED(own_ticket, "own-ticket", "only one's own ticket needs no delivering",
        CORE_GUARD_OWN_TICKET);
DROPPED(stale_still, "stale-still", "I still i, before a place is found to be old",
        CORE_GUARD_STALE_STILL);
DROPPED(stale_place, "stale-place", "a place of a round ago is cleared", CORE_GUARD_STALE_PLACE);
DROPPED(absorb, "absorb", "a free ticket that is owed is taken for nobody", CORE_GUARD_ABSORB);
DROPPED(owed, "owed", "nobody enters with a ticket that is owed", CORE_GUARD_OWED);
DROPPED(leave_deliver, "leave-deliver", "the leaver delivers", CORE_GUARD_LEAVE_DELIVER);
DROPPED(room, "room", "no place is taken that is still needed", CORE_GUARD_ROOM);
DROPPED(counted, "counted", "a resize is counted once", CORE_GUARD_COUNTED);
DROPPED(count_v_still, "count-v-still", "V still v, before a resize is counted",
        CORE_GUARD_COUNT_V_STILL);
DROPPED(resize_limit, "resize-limit", "nobody shrinks an empty pool", CORE_GUARD_RESIZE_LIMIT);
DROPPED(seat_held, "seat-held", "a seat is not taken from one who is in", CORE_GUARD_SEAT_HELD);
DROPPED(seat_asked, "seat-asked", "a seat is asked for before it is taken", CORE_GUARD_SEAT_ASKED);
DROPPED(seat_first, "seat-first", "a guest says first which seat it means", CORE_GUARD_SEAT_FIRST);
DROPPED(seat_entering, "seat-entering", "one who enters is in as soon as I says so",
        CORE_GUARD_SEAT_ENTERING);
DROPPED(seat_not_in, "seat-not-in", "and not before", CORE_GUARD_SEAT_NOT_IN);
DROPPED(seat_said, "seat-said", "a seat is held by one who means that very seat",
        CORE_GUARD_SEAT_SAID);
DROPPED(seat_helped, "seat-helped", "what another has asked is decided for it",
        CORE_GUARD_SEAT_HELPED);
DROPPED(died_asked, "died-asked", "what the dead one asked is decided, before its seat is marked",
        CORE_GUARD_DIED_ASKED);
DROPPED(died_still, "died-still", "the row is still the dead one's, before its seat is marked",
        CORE_GUARD_DIED_STILL);
DROPPED(grant_valid, "grant-valid", "only a valid ticket is granted", CORE_GUARD_GRANT_VALID);
DROPPED(issued, "issued", "only an issued ticket is delivered", CORE_GUARD_ISSUED);
DROPPED(slide_place, "slide-place", "only an undecided place of this lap is slid over",
        CORE_GUARD_SLIDE_PLACE);
DROPPED(repeat_until, "repeat-until", "no field runs over", CORE_GUARD_REPEAT_UNTIL);
DROPPED(repeat_v, "repeat-v", "V is what the guest published last", CORE_GUARD_REPEAT_V);
DROPPED(announce_i, "announce-i", "the author of I is announced", CORE_GUARD_ANNOUNCE_I);
DROPPED(announce_v, "announce-v", "the author of V is announced", CORE_GUARD_ANNOUNCE_V);
DROPPED(announce_k, "announce-k", "the author of K is announced", CORE_GUARD_ANNOUNCE_K);
DROPPED(announce_line, "announce-line", "the author of a place is announced",
        CORE_GUARD_ANNOUNCE_LINE);
DROPPED(announce_seat, "announce-seat", "the author of a seat is announced",
        CORE_GUARD_ANNOUNCE_SEAT);
DROPPED(announce_row, "announce-row", "the author of a row is announced", CORE_GUARD_ANNOUNCE_ROW);
DROPPED(second_i, "second-i", "I is read again", CORE_GUARD_SECOND_I);
DROPPED(second_v, "second-v", "V is read again", CORE_GUARD_SECOND_V);
DROPPED(second_k, "second-k", "K is read again", CORE_GUARD_SECOND_K);
DROPPED(second_line, "second-line", "a place is read again", CORE_GUARD_SECOND_LINE);
DROPPED(second_seat, "second-seat", "a seat is read again", CORE_GUARD_SECOND_SEAT);
DROPPED(second_row, "second-row", "a row is read again", CORE_GUARD_SECOND_ROW);
DROPPED(announce_order, "announce-order", "the second read follows the announcement",
        CORE_GUARD_ANNOUNCE_ORDER);
DROPPED(scan_i, "scan-i", "no cycle has a tag that I names", CORE_GUARD_SCAN_I);
DROPPED(scan_v, "scan-v", "no cycle has a tag that V names", CORE_GUARD_SCAN_V);
DROPPED(scan_k, "scan-k", "no cycle has a tag that K names", CORE_GUARD_SCAN_K);
DROPPED(scan_announced, "scan-announced", "no cycle has a tag that is announced",
        CORE_GUARD_SCAN_ANNOUNCED);
DROPPED(scan_line, "scan-line", "nobody waits in a cycle that the line names",
        CORE_GUARD_SCAN_LINE);
DROPPED(scan_first, "scan-first", "announcements are read before the line, too",
        CORE_GUARD_SCAN_FIRST);
DROPPED(scan_seats, "scan-seats", "no question has a number that a seat has",
        CORE_GUARD_SCAN_SEATS);
DROPPED(scan_order, "scan-order", "announcements are read after the words", CORE_GUARD_SCAN_ORDER);
DROPPED(slide_waits, "slide-waits", "only a guest that waits is copied forward",
        CORE_GUARD_SLIDE_WAITS);
DROPPED(next_cleared, "next-cleared", "a place is cleared, too, if the one before was passed over",
        CORE_GUARD_NEXT_CLEARED);

const struct step_machine *const model_pool_mutants[] = {
    &resize_limit,  &seat_held,     &seat_asked,     &seat_first,
    &seat_entering, &seat_not_in,   &seat_said,      &seat_helped,
    &died_asked,    &died_still,    &grant_valid,    &issued,
    &slide_place,   &repeat_v,      &repeat_until,   &enter_valid,
    &own_ticket,    &leave_deliver, &absorb,         &stale_place,
    &stale_still,   &take_i_still,  &take_tag,       &v_still,
    &author_tag,    &line_tag,      &served,         &skipped,
    &lap,           &reap_finish,   &finish_i,       &finish_v,
    &adopt_hole,    &adopt_valid,   &slide_live,     &owed,
    &leaving_still, &named,         &skip_decided,   &reap_cycle,
    &hole_granted,  &decided_still, &same_author,    &room,
    &counted,       &count_v_still, &announce_i,     &announce_v,
    &announce_k,    &announce_line, &announce_seat,  &announce_row,
    &second_i,      &second_v,      &second_k,       &second_line,
    &second_seat,   &second_row,    &announce_order, &scan_i,
    &scan_v,        &scan_k,        &scan_announced, &scan_line,
    &scan_first,    &scan_seats,    &scan_order,     &slide_waits,
    &next_cleared,  NULL,
};
