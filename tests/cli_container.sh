#!/bin/sh
# usher acquire in a container, which can end as a whole: a keeper inside shows to the processes outside that it
# lives. usage: cli_container.sh BUILD
# shellcheck source=tests/cli_support.sh disable=SC1091
# shellcheck disable=SC2016
. "$(dirname "$0")/cli_support.sh"

if ! unshare --pid --fork --mount-proc true 2>/dev/null; then
    echo "SKIPPED: may not make a pid namespace here"
    exit 77
fi

# container NAME LINES: a script in a container of its own, as $pid; its function `step` as in cli_acquire.sh.
# Killing $pid kills every process in the container.
container() {
    rm -f "$dir/$1.gate" "$dir/$1.step"
    mkfifo "$dir/$1.gate"
    printf 'step() { echo "$*" >"%s.step"; until read -r go <"%s.gate"; do :; done; }\n%s\n' "$dir/$1" "$dir/$1" "$2" >"$dir/$1.sh"
    begin "$1" unshare --pid --fork --kill-child --mount-proc sh "$dir/$1.sh"
}
step_is() {
    [ "$(cat "$dir/$1.step")" = "$2" ]
}
reaches() {
    eventually step_is "$@"
}
go() {
    rm "$dir/$1.step"
    let_go "$1"
}
one_waits() {
    pool_is "$1" '(.waiters | length) == 1'
}
# no_keepers: no keeper of this test is left.
no_keepers() {
    for environ in $(grep -lsaF "USHER_TEST=$dir" /proc/[0-9]*/environ || :); do
        [ "$(cat "${environ%environ}comm")" != usher-keep ] || return 1
    done
}

# The container is killed: a waiter outside gets the seat.
container killed 'seat=$(usher acquire p -k 1) || exit 1; step got $seat'
killed=$pid
reaches killed 'got 0'
now_is p '.free == 0 and .holders[0].alive == true and .holders[0].pid == 0'
status 75 usher run -n p true
status 0 usher doctor p
grep -q 'cannot be proved' "$dir/out" && fail "doctor doubts a holder that has a keeper"
hold next p
next=$pid
eventually one_waits p
kill -KILL "$killed"
is_in next
let_go next
ends "$next" 0
now_is p '.free == 1 and .reaped == 1'

# The same if nobody waits: the next one gets it.
container killed 'seat=$(usher acquire p) || exit 1; step got $seat'
reaches killed 'got 0'
kill -KILL "$pid"
eventually usher run -n p true

# In a container that goes on: release gives the seat back, and leaves no keeper and no row behind. (With one row
# a second acquire fails as long as the row is not free.)
container row 'cd "$USHER_DIR"; for n in 1 2 3; do seat=$(usher acquire row -k 1 --guests 1) || exit 1; usher release row || exit 2; done
    usher acquire row >"$USHER_TEST/number"; usher release row || exit 3
    seat=$(usher acquire ./row -k 1 --guests 1) || exit 4; step got $seat
    usher release "$PWD/row" || exit 5; step released; :'
reaches row 'got 0'
go row
reaches row released
now_is row '.free == 1 and .holders == []'
go row
ends "$pid" 0

# The shell inside ends without a release, while process 1 goes on.
container ends 'sh -c "usher acquire p; :" >"$USHER_TEST/number"; step on'
reaches ends on
eventually usher run -n p true
go ends
ends "$pid" 0

# The shell inside is killed and its seat goes to a waiter outside; a stopped shell keeps its seat.
container inner 'sh -c "usher acquire p; echo \$\$ >\"\$USHER_TEST/shell\"; kill -STOP \$\$; exec sleep 1000" >"$USHER_TEST/number" & step on
    kill -KILL "$(cat "$USHER_TEST/shell")"; step killed; :'
inner=$pid
reaches inner on
eventually is_not_empty "$dir/shell"
hold next p
next=$pid
eventually one_waits p
now_is p '.free == 0 and .holders[0].alive == true'
go inner
reaches inner killed
is_in next
let_go next
ends "$next" 0
go inner
ends "$inner" 0

# SIGTERM does not make a keeper give up a seat that is held.
container stays 'seat=$(usher acquire p) || exit 1; for p in /proc/[0-9]*; do
        [ "$(cat "$p/comm")" != usher-keep ] || kill -TERM "${p#/proc/}"; done; step sent'
stays=$pid
reaches stays sent
status 75 usher run -w 0.5 p true
now_is p '.free == 0 and .holders[0].alive == true'
kill -KILL "$stays"
eventually usher run -n p true

# A shell of another namespace that holds its seat without a keeper: doctor names it and says what to do. Only
# the machine's own pid namespace has such shells, and only those in others doubt them.
if [ "$(stat -L -c %i /proc/self/ns/pid)" -eq 4026531836 ]; then
    sleep 1000 &
    shell=$!
    status 0 usher acquire p --for $shell
    status 0 unshare --pid --fork --mount-proc usher doctor p
    grep -q "Seat 0: its holder is process $shell of pid namespace 4026531836" "$dir/out" || fail "doctor: $(cat "$dir/out")"
    grep -q "usher remove --force p" "$dir/out" || fail "doctor does not say what to do: $(cat "$dir/out")"
    status 0 usher doctor p
    grep -q 'cannot be proved' "$dir/out" && fail "doctor doubts a process of its own namespace"
    kill -KILL $shell
    wait $shell 2>/dev/null || :
    status 0 usher run -n p true
fi

# A container whose /proc is not its own: what cannot be proved is refused, and a refused acquire prints nothing.
# (With pidfs, processes are known without /proc.)
got=0
unshare --pid --fork sh -c 'usher acquire q -k 1; exit $?' >"$dir/out" 2>"$dir/said.err" || got=$?
case $got in
0) [ "$(cat "$dir/out")" = 0 ] || fail "acquire printed $(cat "$dir/out")" ;;
71) [ ! -s "$dir/out" ] || fail "a refused acquire printed $(cat "$dir/out")" && says q "cannot hold a seat" /proc ;;
*) fail "acquire ended with $got" ;;
esac
eventually usher run -n q true

eventually no_keepers
echo "$checks checks passed"
