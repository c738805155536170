/* One machine for each guard: the core without it. tests/pool_test.c shows that each is caught. */
#include "model/pool_machine.h"
#include "model/pool_parts.h"

#define DROPPED(symbol, name_, what, guard)                                                        \
    static const struct step_machine symbol =                                                      \
        MODEL_POOL("mutant-pool-" name_, "The core without this guard: " what, guard)

DROPPED(take_i_still, "take-i-still", "I is still i before a place is recorded",
        CORE_GUARD_TAKE_I_STILL);
DROPPED(take_tag, "take-tag", "the author's row has I's tag", CORE_GUARD_TAKE_TAG);
DROPPED(v_still, "v-still", "V is still v before a place is decided", CORE_GUARD_V_STILL);
DROPPED(author_tag, "author-tag", "the author's row has V's tag", CORE_GUARD_AUTHOR_TAG);
DROPPED(line_tag, "line-tag", "the waiter's row is in the cycle that the place names",
        CORE_GUARD_LINE_TAG);
DROPPED(served, "served", "a served place is marked SERVED", CORE_GUARD_SERVED);
DROPPED(skipped, "skipped", "a hole is marked SKIPPED", CORE_GUARD_SKIPPED);
DROPPED(lap, "lap", "a place of another lap is not this place", CORE_GUARD_LAP);
DROPPED(reap_finish, "reap-finish-take", "the reaper finishes I before it frees a waiting row",
        CORE_GUARD_REAP_FINISH_TAKE);
DROPPED(finish_i, "finish-i", "no guest publishes over I before I is finished",
        CORE_GUARD_FINISH_I);
DROPPED(finish_v, "finish-v", "no guest publishes over V before V is finished",
        CORE_GUARD_FINISH_V);
DROPPED(adopt_hole, "adopt-hole", "only a hole is adopted", CORE_GUARD_ADOPT_HOLE);
DROPPED(adopt_valid, "adopt-valid", "only a place beyond VALID is adopted", CORE_GUARD_ADOPT_VALID);
DROPPED(slide_live, "slide-live", "only a hole or a copy is overwritten by core_slide",
        CORE_GUARD_SLIDE_LIVE);
DROPPED(leaving_still, "leaving-still", "core_publish stops when the row no longer leaves",
        CORE_GUARD_LEAVING_STILL);
DROPPED(named, "named", "a V that names the row in this cycle is its publication",
        CORE_GUARD_NAMED);
DROPPED(reap_cycle, "reap-cycle", "a row in another cycle is not reaped", CORE_GUARD_REAP_CYCLE);
DROPPED(hole_granted, "hole-granted",
        "a place that is granted but not marked SERVED yet is no hole", CORE_GUARD_HOLE_GRANTED);
DROPPED(decided_still, "decided-still", "the row still waits before I gives it the next place",
        CORE_GUARD_DECIDED_STILL);
DROPPED(same_author, "same-author",
        "an I that moved to the next place for the same guest is followed", CORE_GUARD_SAME_AUTHOR);
DROPPED(skip_decided, "skip-decided", "a guest whose adopted place was skipped gets the next place",
        CORE_GUARD_SKIP_DECIDED);
DROPPED(enter_valid, "enter-valid", "a guest enters only with a valid ticket",
        CORE_GUARD_ENTER_VALID);
DROPPED(own_ticket, "own-ticket", "core_leave checks V's delivery, unless V's ticket is its own",
        CORE_GUARD_OWN_TICKET);
DROPPED(stale_still, "stale-still", "I is still i before a place is taken to be that old",
        CORE_GUARD_STALE_STILL);
DROPPED(stale_place, "stale-place", "a place that is 2^20 tickets old is cleared first",
        CORE_GUARD_STALE_PLACE);
DROPPED(absorb, "absorb", "core_help_enter takes a valid ticket that is owed", CORE_GUARD_ABSORB);
DROPPED(owed, "owed", "core_enter takes no ticket that is owed", CORE_GUARD_OWED);
DROPPED(leave_deliver, "leave-deliver", "core_leave delivers the new V's ticket, if it was issued",
        CORE_GUARD_LEAVE_DELIVER);
DROPPED(room, "room", "no place is taken that another ticket still needs", CORE_GUARD_ROOM);
DROPPED(counted, "counted", "a resize that K names is not counted twice", CORE_GUARD_COUNTED);
DROPPED(count_v_still, "count-v-still", "V is still v before a resize is counted in K",
        CORE_GUARD_COUNT_V_STILL);
DROPPED(resize_limit, "resize-limit",
        "a pool does not shrink below 0 seats or grow beyond its room", CORE_GUARD_RESIZE_LIMIT);
DROPPED(seat_held, "seat-held", "a seat is not taken from a row that is in", CORE_GUARD_SEAT_HELD);
DROPPED(seat_asked, "seat-asked", "a seat is asked for before it is taken", CORE_GUARD_SEAT_ASKED);
DROPPED(seat_first, "seat-first", "a guest writes its hint before it asks for the seat",
        CORE_GUARD_SEAT_FIRST);
DROPPED(seat_entering, "seat-entering", "an ENTERING row that I names is in",
        CORE_GUARD_SEAT_ENTERING);
DROPPED(seat_not_in, "seat-not-in", "an ENTERING row that I does not name is not in",
        CORE_GUARD_SEAT_NOT_IN);
DROPPED(seat_said, "seat-said", "a row holds only the seat of its hint", CORE_GUARD_SEAT_SAID);
DROPPED(seat_helped, "seat-helped", "a guest closes another guest's open question",
        CORE_GUARD_SEAT_HELPED);
DROPPED(died_asked, "died-asked", "a dead row's open question is closed before its seat is marked",
        CORE_GUARD_DIED_ASKED);
DROPPED(died_still, "died-still", "the row is unchanged before its seat is marked",
        CORE_GUARD_DIED_STILL);
DROPPED(grant_valid, "grant-valid", "core_finish_take grants only a valid ticket",
        CORE_GUARD_GRANT_VALID);
DROPPED(issued, "issued", "only an issued ticket is delivered", CORE_GUARD_ISSUED);
DROPPED(slide_place, "slide-place",
        "only an undecided place of this lap is overwritten by core_slide", CORE_GUARD_SLIDE_PLACE);
DROPPED(repeat_until, "repeat-until", "no field of I, V or the row overflows on the repeat path",
        CORE_GUARD_REPEAT_UNTIL);
DROPPED(repeat_v, "repeat-v", "V is what the guest published last, before it takes the repeat path",
        CORE_GUARD_REPEAT_V);
DROPPED(announce_i, "announce-i", "the author of I is announced", CORE_GUARD_ANNOUNCE_I);
DROPPED(announce_v, "announce-v", "the author of V is announced", CORE_GUARD_ANNOUNCE_V);
DROPPED(announce_k, "announce-k", "the author of K is announced", CORE_GUARD_ANNOUNCE_K);
DROPPED(announce_line, "announce-line", "the author of a place is announced",
        CORE_GUARD_ANNOUNCE_LINE);
DROPPED(announce_seat, "announce-seat", "the author of a seat is announced",
        CORE_GUARD_ANNOUNCE_SEAT);
DROPPED(announce_row, "announce-row", "the author of a row is announced", CORE_GUARD_ANNOUNCE_ROW);
DROPPED(second_i, "second-i", "I is read a second time", CORE_GUARD_SECOND_I);
DROPPED(second_v, "second-v", "V is read a second time", CORE_GUARD_SECOND_V);
DROPPED(second_k, "second-k", "K is read a second time", CORE_GUARD_SECOND_K);
DROPPED(second_line, "second-line", "a place is read a second time", CORE_GUARD_SECOND_LINE);
DROPPED(second_seat, "second-seat", "a seat is read a second time", CORE_GUARD_SECOND_SEAT);
DROPPED(second_row, "second-row", "a row is read a second time", CORE_GUARD_SECOND_ROW);
DROPPED(announce_order, "announce-order", "the second read follows the announcement (x86-TSO)",
        CORE_GUARD_ANNOUNCE_ORDER);
DROPPED(scan_i, "scan-i", "no cycle starts with a tag that I names", CORE_GUARD_SCAN_I);
DROPPED(scan_v, "scan-v", "no cycle starts with a tag that V names", CORE_GUARD_SCAN_V);
DROPPED(scan_k, "scan-k", "no cycle starts with a tag that K names", CORE_GUARD_SCAN_K);
DROPPED(scan_announced, "scan-announced", "no cycle starts with a tag that is announced",
        CORE_GUARD_SCAN_ANNOUNCED);
DROPPED(scan_line, "scan-line", "no guest waits in a cycle that the line names",
        CORE_GUARD_SCAN_LINE);
DROPPED(scan_first, "scan-first", "announcements are scanned before the line as well",
        CORE_GUARD_SCAN_FIRST);
DROPPED(scan_seats, "scan-seats", "no question has a number that a seat has",
        CORE_GUARD_SCAN_SEATS);
DROPPED(scan_order, "scan-order", "the announcements are scanned after the words",
        CORE_GUARD_SCAN_ORDER);
DROPPED(slide_waits, "slide-waits", "only a guest that waits is copied forward",
        CORE_GUARD_SLIDE_WAITS);
DROPPED(next_cleared, "next-cleared",
        "next_place clears the next place before it issues the next ticket",
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
