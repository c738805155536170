#!/bin/sh
# The command holds the seat, not the wrapper and not a daemon that the command leaves behind. Nested use of
# a pool. usage: cli_holder.sh BUILD
# shellcheck source=tests/cli_support.sh disable=SC1091
. "$(dirname "$0")/cli_support.sh"
status 0 usher create p -k 1
status 0 usher create left -k 1
status 0 usher create right -k 1

# The wrapper is killed: the seat stays taken until the command ends.
mkfifo "$dir/keeper.gate"
# shellcheck disable=SC2016
begin keeper usher run p -- sh -c 'echo $$ >"$1/command"; read -r go <"$1/keeper.gate"; date +%s%N >"$1/left"' sh "$dir"
eventually is_not_empty "$dir/command"
read -r command <"$dir/command"
now_is p ".holders == [.holders[0]] and .holders[0].pid == $command and .holders[0].alive"
kill -KILL "$pid"
ends "$pid" 137
status 75 usher run -n p true
now_is p ".free == 0 and .holders[0].pid == $command and .holders[0].alive"
# shellcheck disable=SC2016
begin next usher run p -- sh -c 'date +%s%N >"$1/entered"' sh "$dir"
next=$pid
eventually stands p 1 "$next"
let_go keeper
ends "$next" 0
took=$((($(cat "$dir/entered") - $(cat "$dir/left")) / 1000000))
echo "the wrapper killed: its command's seat had $took ms after the command's end"
[ $took -lt 2000 ] || fail "that is more than two seconds"
[ $took -le 100 ] || echo "note: that is more than 100 ms"

# Wrapper and command are killed: a waiter, or the next process, gets the seat.
hold both p
wrapper=$pid
is_in both
hold next p
next=$pid
eventually stands p 1 "$next"
kill -KILL "$wrapper" "$command"
ends "$wrapper" 137
is_in next
kill -KILL "$next" "$command"
ends "$next" 137
eventually process_is "$command" ZX
status 0 usher run -n p true
now_is p '.free == 1 and .holders == [] and .waiters == []'

# The command ends and leaves a daemon behind, in a session of its own, with all its descriptors.
for wrapper in lives killed; do
    rm -f "$dir/daemon" "$dir/keeper.gate" "$dir/command"
    mkfifo "$dir/keeper.gate"
    # shellcheck disable=SC2016
    begin keeper usher run p -- sh -c 'echo $$ >"$1/command"; read -r go <"$1/keeper.gate"
        setsid -f sh -c "echo \$\$ >\"$1/daemon\"; exec sleep 1000"; until [ -s "$1/daemon" ]; do :; done' sh "$dir"
    eventually is_not_empty "$dir/command"
    read -r command <"$dir/command"
    if [ $wrapper = killed ]; then
        kill -KILL "$pid"
        ends "$pid" 137
    fi
    let_go keeper
    [ $wrapper = killed ] || ends "$pid" 0
    eventually process_is "$command" ZX
    status 0 usher run -n p true
    read -r daemon <"$dir/daemon"
    process_is "$daemon" SR || fail "the daemon is not there: nothing was shown"
    kill -KILL "$daemon"
done

# The same if wrapper and command are killed together.
rm -f "$dir/daemon" "$dir/keeper.gate" "$dir/command"
mkfifo "$dir/keeper.gate"
# shellcheck disable=SC2016
begin keeper usher run p -- sh -c 'sleep 1000 & echo $! >"$1/daemon"; echo $$ >"$1/command"; read -r go <"$1/keeper.gate"' sh "$dir"
wrapper=$pid
eventually is_not_empty "$dir/command"
read -r command <"$dir/command"
hold next p
next=$pid
eventually stands p 1 "$next"
kill -KILL "$wrapper" "$command"
ends "$wrapper" 137
is_in next
read -r daemon <"$dir/daemon"
process_is "$daemon" SR || fail "the grandchild is not there: nothing was shown"
let_go next
ends "$next" 0
kill -KILL "$daemon"

# The command is stopped: it keeps its seat, the wrapper is not stopped, and the command can continue.
hold stopped p
wrapper=$pid
is_in stopped
stopped=$command
hold next p
next=$pid
eventually stands p 1 "$next"
kill -STOP "$stopped"
eventually process_is "$stopped" T
status 75 usher run -n p true
eventually process_is "$wrapper" S
now_is p ".free == 0 and .holders[0].pid == $stopped and .holders[0].alive and .waiters[0].pid == $next"
kill -CONT "$stopped"
eventually process_is "$stopped" S
let_go stopped 7
ends "$wrapper" 7
is_in next

# The wrapper is stopped and the command ends: the seat is free.
wrapper=$next
kill -STOP "$wrapper"
eventually process_is "$wrapper" T
let_go next 3
eventually process_is "$command" Z
status 0 usher run -w "$limit" p true
kill -CONT "$wrapper"
ends "$wrapper" 3
now_is p '.free == 1'

# A waiter is killed: the line moves on.
hold first p
first=$pid
is_in first
hold killed p
killed=$pid
eventually stands p 1 "$killed"
hold last p
last=$pid
eventually stands p 2 "$last"
kill -KILL "$killed"
ends "$killed" 137
let_go first
ends "$first" 0
is_in last
let_go last
ends "$last" 0
now_is p '.free == 1 and .waiters == [] and .holders == []'

# Nested use with one seat: the inner command runs at once, in the same seat.
# shellcheck disable=SC2016
{
    status 5 usher run p -- usher run p -- sh -c 'echo $USHER_POOL $USHER_SEAT; exit 5'
    prints "p 0"
    status 0 usher run p -- sh -c 'usher run p -- usher run p -- sh -c "usher run p -- echo four"'
    prints four
    status 6 usher run p -- usher run q -k 2 -- usher run p -- usher run q -- \
        sh -c 'echo $USHER_POOL $USHER_SEATS; exit 6'
    prints "q 2"
    status 0 usher run p -- usher run -n p -- usher run -w 0 p true
    status 0 usher run p -- sh -c 'usher run p -- sh -c "echo \$USHER_TICKET"; echo $USHER_TICKET'
    [ "$(uniq "$dir/out" | wc -l)" -eq 1 ] || fail "not under the same ticket"
    # by any name of the pool
    status 0 usher run p -- sh -c 'usher run "$USHER_DIR/p" -- sh -c "cd \"\$USHER_DIR\" && usher run ./p -- echo in"'
    prints in
    ln -s pools "$dir/link"
    status 0 usher run p -- env USHER_DIR="$dir/link" usher run p -- echo in
    prints in
    # even without USHER_HELD
    status 0 usher run p -- env -u USHER_HELD usher run -n p true
    status 0 usher run p -- sh -c 'usher run p -- nosuch-command; [ $? = 127 ]'
}

# The end of the inner command does not release the seat.
mkfifo "$dir/inside.gate"
# shellcheck disable=SC2016
begin inside usher run p -- sh -c 'usher run p true; echo $$ >"$1/inside.in"; read -r go <"$1/inside.gate"' sh "$dir"
inside=$pid
eventually is_not_empty "$dir/inside.in"
status 75 usher run -n p true
let_go inside
ends "$inside" 0

# A daemon that outlived its seat has to wait, although it has USHER_HELD.
mkfifo "$dir/daemon.gate"
# shellcheck disable=SC2016
status 0 usher run p -- setsid -f sh -c 'read -r go <"$1/daemon.gate"
    usher run -n p true; echo $? >"$1/stale"' sh "$dir"
hold owner p
owner=$pid
is_in owner
let_go daemon
eventually is_not_empty "$dir/stale"
[ "$(cat "$dir/stale")" -eq 75 ] || fail "a daemon with a stale environment got in: $(cat "$dir/stale")"
let_go owner
ends "$owner" 0
# wrong values of USHER_HELD are ignored
hold owner p
owner=$pid
is_in owner
for spoilt in x "1" "$command $ticket" "$command $((ticket + 1)) 0 $USHER_DIR/p" "$$ $ticket 0 $USHER_DIR/p" \
    "$command $ticket 1 $USHER_DIR/p" "$command $ticket 0 $USHER_DIR/q" \
    "99999999999999999999 99999999999999999999 99999999999999999999 $USHER_DIR/p"; do
    status 75 env USHER_HELD="$spoilt" usher run -n p true
done
status 0 env USHER_HELD="$command $ticket 0 $USHER_DIR/p" usher run -n p true # a right one
let_go owner
ends "$owner" 0

# Two pools do not affect each other.
hold left left
left=$pid
is_in left
hold right right
right=$pid
is_in right
hold behind left
behind=$pid
eventually stands left 1 "$behind"
now_is right '.free == 0 and .waiters == [] and .holders[0].ticket == 1'
let_go right
ends "$right" 0
now_is right '.free == 1'
now_is left '.free == 0 and (.waiters | length) == 1'
let_go left
ends "$left" 0
let_go behind
ends "$behind" 0

# A command cannot release its own seat with usher release.
# shellcheck disable=SC2016
status 0 usher run middle -k 1 -- sh -c 'usher release middle; [ $? -eq 75 ] && exec usher status middle --json'
jq -e '.free == 0 and .served == 0' "$dir/out" >/dev/null || fail "a command has given back its seat: $(cat "$dir/out")"
status 0 usher run -n middle true

echo "$checks checks passed"
