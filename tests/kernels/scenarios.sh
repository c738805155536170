#!/bin/sh
# Scenarios of usher(1) for any kernel: processes that are killed, stopped, replaced; through usher(1) only. It
# needs a POSIX shell, the usual tools (busybox has them), root, and usher in PATH.
#
# usage: scenarios.sh [NAME..]     run these scenarios, or all
#        scenarios.sh --list       print their names
#
# Prints one line a scenario: "scenario NAME ok SECONDS" or "scenario NAME FAILED SECONDS: REASON". Exits 1 if
# one failed. A scenario waits for conditions; a limit only ends one that hangs.
set -u
limit=40 # seconds a scenario may take: the slowest that passed took 3.4 in an emulated machine

names="exit_status_passes_through one_seat_runs_one_command two_seats_run_two_commands
order_of_arrival_is_kept wrapper_killed_command_keeps_seat command_killed_next_enters
both_killed_next_enters both_killed_grandchild_lives waiter_killed_line_moves_on
stopped_waiter_keeps_its_place stopped_holder_keeps_its_seat signal_is_forwarded
shell_acquires_and_releases shell_killed_next_enters acquire_for_another_process
busy_acquire_prints_nothing refused_acquire_prints_nothing status_names_holders_and_waiters
resize_grows_shrinks_and_drains doctor_cleans_up remove_refuses_then_removes
time_out_leaves_the_line nested_run_shares_the_seat exec_keeps_the_seat
pid_reused_after_run pid_reused_after_acquire another_user_is_kept_out users_share_a_pool
all_killed_pool_survives kills_in_a_row_lose_nothing"

seconds() {
    cut -d ' ' -f 1 /proc/uptime
}
# since START: the seconds since then, with two decimals
since() {
    seconds | awk -v start="$1" '{ printf "%.2f", $1 - start }'
}

fail() {
    echo "$*" | tr '\n' ' ' >"$work/reason"
    exit 1
}
# eventually COMMAND..: wait until it succeeds. The limit of the scenario ends a wait that never does.
eventually() {
    echo "waits until: $*" >"$work/reason"
    until "$@" 2>/dev/null; do
        sleep 0.02
    done
    rm -f "$work/reason"
}
# status N COMMAND..: it exits with N; $work/out has its output, $work/err its messages.
status() {
    want=$1
    shift
    got=0
    "$@" >"$work/out" 2>"$work/err" </dev/null || got=$?
    [ "$got" -eq "$want" ] || fail "'$*' ended with $got, not $want: $(cat "$work/err")"
}
prints() {
    [ "$(cat "$work/out")" = "$1" ] || fail "printed '$(cat "$work/out")', not '$1'"
}
is_not_empty() {
    [ -s "$1" ]
}
# process_is PID STATES: its state is one of these letters; X: it does not exist.
process_is() {
    state=X
    [ ! -e "/proc/$1/stat" ] || state=$(sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null)
    case $2 in *"${state:-X}"*) ;; *) return 1 ;; esac
}
# ends PID STATUS: this child ends with that status.
ends() {
    echo "waits until process $1 ends" >"$work/reason"
    got=0
    wait "$1" || got=$?
    rm -f "$work/reason"
    [ "$got" -eq "$2" ] || fail "process $1 ended with $got, not $2"
}

# hold NAME POOL [OPTION..]: run a command in a seat until `let_go NAME`. The wrapper is $pid. When the command
# holds the seat, `is_in NAME` sets command and seat.
hold() {
    held=$1
    in_pool=$2
    shift 2
    rm -f "$work/$held.gate" "$work/$held.in"
    mkfifo "$work/$held.gate"
    # shellcheck disable=SC2016
    usher run "$@" "$in_pool" -- sh -c \
        'echo $$ $USHER_SEAT >"$1.in"; read -r go <"$1.gate"; exit "${go:-0}"' hold "$work/$held" \
        >"$work/$held.out" 2>&1 </dev/null &
    pid=$!
}
is_in() {
    eventually is_not_empty "$work/$1.in"
    read -r command seat <"$work/$1.in"
}
# The subshell has no children, so no SIGCHLD interrupts its open of the pipe: busybox would not try again.
let_go() {
    (echo "${2:-0}" >"$work/$1.gate") || fail "'$1' cannot be let go"
}
# has POOL TEXT: the JSON of status contains it
has() {
    usher status "$1" --json | grep -qF -e "$2"
}
must_have() {
    has "$@" || fail "pool $1 has no $2: $(usher status "$1" --json)"
}
# stands POOL POSITION PID: that process has this place in line
stands() {
    has "$1" "\"position\":$2,\"pid\":$3,"
}
is_idle() {
    must_have "$1" "\"free\":$2,\"holders\":[],\"waiters\":[]"
}

# shell NAME LINES: start a script as $pid. Its function `step WORD` waits for `let_go NAME`; `reaches NAME WORD`
# waits until it is there.
shell() {
    rm -f "$work/$1.gate" "$work/$1.step"
    mkfifo "$work/$1.gate"
    # shellcheck disable=SC2016
    printf 'step() { echo "$*" >"%s.step"; until read -r go <"%s.gate"; do :; done; }\n%s\n' \
        "$work/$1" "$work/$1" "$2" >"$work/$1.sh"
    sh "$work/$1.sh" >"$work/$1.out" 2>"$work/$1.err" </dev/null &
    pid=$!
}
step_is() {
    [ "$(cat "$work/$1.step")" = "$2" ]
}
reaches() {
    if ! eventually_in_script "$@"; then
        fail "the script ended before '$2': $(cat "$work/$1.err")"
    fi
}
eventually_in_script() {
    echo "waits until script $1 reaches '$2'" >"$work/reason"
    until step_is "$@" 2>/dev/null; do
        process_is "$pid" ZX && return 1
        sleep 0.02
    done
    rm -f "$work/reason"
}

exit_status_passes_through() {
    status 0 usher run -k 1 p -- true
    status 7 usher run -k 1 p -- sh -c 'exit 7'
    # shellcheck disable=SC2016
    status 143 usher run -k 1 p -- sh -c 'kill -TERM $$'
    is_idle p 1
}

one_seat_runs_one_command() {
    children=
    for guest in 1 2 3 4 5 6; do
        # shellcheck disable=SC2016
        usher run -k 1 p -- sh -c 'mkdir "$1/inside" && sleep 0.05 && rmdir "$1/inside"' - "$work" &
        children="$children $!"
    done
    for guest in $children; do
        ends "$guest" 0
    done
    is_idle p 1
}

two_seats_run_two_commands() {
    hold a p -k 2
    a=$pid
    hold b p -k 2
    b=$pid
    is_in a
    first=$seat
    is_in b
    [ "$first$seat" = 01 ] || [ "$first$seat" = 10 ] || fail "seats $first and $seat"
    status 75 usher run -n p -- true
    let_go a
    ends "$a" 0
    status 0 usher run -n p -- true
    let_go b
    ends "$b" 0
    is_idle p 2
}

order_of_arrival_is_kept() {
    hold first p -k 1
    first=$pid
    is_in first
    children=
    for place in 1 2 3 4 5; do
        usher run p -- sh -c "echo $place >>'$work/order'" &
        children="$children $!"
        eventually stands p "$place" $!
    done
    let_go first
    for child in $first $children; do
        ends "$child" 0
    done
    [ "$(tr -d '\n' <"$work/order")" = 12345 ] || fail "order: $(cat "$work/order")"
}

wrapper_killed_command_keeps_seat() {
    hold a p -k 1
    is_in a
    kill -KILL "$pid"
    ends "$pid" 137
    status 75 usher run -n p -- true
    hold b p
    eventually stands p 1 "$pid"
    let_go a
    is_in b
    process_is "$command" SR || fail "the next command is not there"
    let_go b
    ends "$pid" 0
    is_idle p 1
}

command_killed_next_enters() {
    hold a p -k 1
    a=$pid
    is_in a
    killed=$command
    hold b p
    b=$pid
    eventually stands p 1 "$b"
    kill -KILL "$killed"
    ends "$a" 137
    is_in b
    let_go b
    ends "$b" 0
    is_idle p 1
}

both_killed_next_enters() {
    hold a p -k 1
    a=$pid
    is_in a
    killed=$command
    hold b p
    b=$pid
    eventually stands p 1 "$b"
    kill -KILL "$a" "$killed"
    is_in b
    let_go b
    ends "$b" 0
    is_idle p 1
}

both_killed_grandchild_lives() {
    # shellcheck disable=SC2016
    usher run -k 1 p -- sh -c 'sleep 1000 & echo $$ $! >"$1/pids"; wait' - "$work" &
    a=$!
    eventually is_not_empty "$work/pids"
    read -r command grandchild <"$work/pids"
    kill -KILL "$a" "$command"
    ends "$a" 137
    eventually process_is "$command" ZX
    process_is "$grandchild" SR || fail "the grandchild is not there: nothing is shown"
    status 0 usher run -w 10 p -- true
    kill -KILL "$grandchild"
}

waiter_killed_line_moves_on() {
    hold a p -k 1
    a=$pid
    is_in a
    hold dead p
    dead=$pid
    eventually stands p 1 "$dead"
    hold b p
    b=$pid
    eventually stands p 2 "$b"
    kill -KILL "$dead"
    ends "$dead" 137
    let_go a
    ends "$a" 0
    is_in b
    let_go b
    ends "$b" 0
    is_idle p 1
}

stopped_waiter_keeps_its_place() {
    hold a p -k 2
    a=$pid
    hold b p -k 2
    b=$pid
    is_in a
    is_in b
    hold stopped p
    stopped=$pid
    eventually stands p 1 "$stopped"
    hold c p
    c=$pid
    eventually stands p 2 "$c"
    kill -STOP "$stopped"
    eventually process_is "$stopped" T
    let_go a
    ends "$a" 0
    let_go b # the stopped waiter has one seat, the next waiter gets the other
    ends "$b" 0
    is_in c
    [ ! -s "$work/stopped.in" ] || fail "a stopped wrapper has started its command"
    kill -CONT "$stopped"
    is_in stopped
    let_go stopped
    let_go c
    ends "$stopped" 0
    ends "$c" 0
    is_idle p 2
}

stopped_holder_keeps_its_seat() {
    hold a p -k 1
    a=$pid
    is_in a
    kill -STOP "$command" "$a"
    eventually process_is "$command" T
    status 75 usher run -w 1 p -- true
    must_have p "\"pid\":$command,"
    kill -CONT "$command" "$a"
    let_go a 5
    ends "$a" 5
    is_idle p 1
}

signal_is_forwarded() {
    # shellcheck disable=SC2016
    usher run -k 1 p -- sh -c 'trap "exit 9" TERM; echo $$ >"$1/up"; while :; do sleep 0.05; done' - "$work" &
    a=$!
    eventually is_not_empty "$work/up"
    kill -TERM "$a"
    ends "$a" 9
    is_idle p 1
}

shell_acquires_and_releases() {
    # shellcheck disable=SC2016
    shell a 'seat=$(usher acquire p -k 1) || exit; step got $seat; usher release p || exit; step released'
    a=$pid
    reaches a 'got 0'
    must_have p "\"pid\":$a,"
    must_have p '"alive":true'
    status 75 usher run -n p -- true
    let_go a
    reaches a released
    status 0 usher run -n p -- true
    let_go a
    ends "$a" 0
    is_idle p 1
}

shell_killed_next_enters() {
    # shellcheck disable=SC2016
    shell a 'seat=$(usher acquire p -k 1) || exit; step got $seat'
    a=$pid
    reaches a 'got 0'
    hold b p
    b=$pid
    eventually stands p 1 "$b"
    kill -KILL "$a"
    is_in b
    let_go b
    ends "$b" 0
    is_idle p 1
}

acquire_for_another_process() {
    sleep 1000 &
    other=$!
    status 0 usher acquire p -k 1 --for "$other"
    prints 0
    status 75 usher run -n p -- true
    status 0 usher release p --for "$other"
    status 0 usher run -n p -- true
    status 0 usher acquire p --for "$other"
    kill -KILL "$other"
    ends "$other" 137
    status 0 usher run -n p -- true
}

busy_acquire_prints_nothing() {
    hold a p -k 1
    a=$pid
    is_in a
    status 75 usher acquire -n p
    prints ""
    status 75 usher acquire -w 0.1 p
    prints ""
    status 78 usher acquire -k 2 p
    prints ""
    let_go a
    ends "$a" 0
    is_idle p 1
}

refused_acquire_prints_nothing() {
    sleep 1000 &
    gone=$!
    kill -KILL "$gone"
    ends "$gone" 137
    got=0
    usher acquire p -k 1 --for "$gone" >"$work/out" 2>"$work/err" || got=$?
    [ "$got" -ne 0 ] || fail "a dead process was given a seat"
    prints ""
    is_idle p 1
}

status_names_holders_and_waiters() {
    hold a p -k 1
    a=$pid
    is_in a
    holder=$command
    hold b p
    b=$pid
    eventually stands p 1 "$b"
    must_have p '"seats":1,"free":0,'
    must_have p "\"seat\":0,\"label\":null,\"pid\":$holder,"
    must_have p '"alive":true'
    status 0 usher status p
    grep -q "$holder" "$work/out" || fail "status does not name the holder"
    grep -q "$b" "$work/out" || fail "status does not name the waiter"
    let_go a
    ends "$a" 0
    is_in b
    let_go b
    ends "$b" 0
}

resize_grows_shrinks_and_drains() {
    hold a p -k 1
    a=$pid
    is_in a
    hold b p
    b=$pid
    eventually stands p 1 "$b"
    status 0 usher resize p 2
    is_in b
    status 0 usher resize p 1
    let_go a
    ends "$a" 0
    status 75 usher run -n p -- true
    let_go b
    ends "$b" 0
    status 0 usher resize p 0
    status 75 usher run -w 0.1 p -- true
    status 0 usher resize p 3
    status 0 usher run -n p -- true
    is_idle p 3
}

doctor_cleans_up() {
    hold a p -k 2
    a=$pid
    is_in a
    hold b p
    kill -KILL "$a" "$command"
    is_in b
    kill -KILL "$pid" "$command"
    eventually process_is "$command" ZX
    status 0 usher doctor p
    is_idle p 2
}

remove_refuses_then_removes() {
    hold a p -k 1
    a=$pid
    is_in a
    status 69 usher remove p
    let_go a
    ends "$a" 0
    status 0 usher remove p
    [ ! -e "$USHER_DIR/p" ] || fail "the file is still there"
    status 66 usher status p
}

time_out_leaves_the_line() {
    hold a p -k 1
    a=$pid
    is_in a
    start=$(seconds)
    status 75 usher run -w 0.3 p -- true
    since "$start" | awk '{ exit !($1 >= 0.29) }' || fail "it waited less than 0.3 s"
    status 9 usher run -n -E 9 p -- true
    must_have p '"waiters":[]'
    let_go a
    ends "$a" 0
    is_idle p 1
}

nested_run_shares_the_seat() {
    # shellcheck disable=SC2016
    status 5 usher run -k 1 p -- usher run p -- sh -c 'echo $USHER_SEAT; exit 5'
    prints 0
    # shellcheck disable=SC2016
    shell a 'seat=$(usher acquire p) || exit; usher run p -- true || exit; step ran'
    a=$pid
    reaches a ran
    status 75 usher run -n p -- true
    let_go a
    ends "$a" 0
    status 0 usher run -n p -- true
}

exec_keeps_the_seat() {
    # shellcheck disable=SC2016
    usher run -k 1 p -- sh -c 'echo $$ >"$1/before"; exec sleep 1000' - "$work" &
    a=$!
    eventually is_not_empty "$work/before"
    read -r command <"$work/before"
    eventually grep -q sleep "/proc/$command/cmdline"
    status 75 usher run -n p -- true
    kill -KILL "$a"
    ends "$a" 137
    status 75 usher run -w 1 p -- true
    must_have p "\"pid\":$command,"
    kill -KILL "$command"
    status 0 usher run -w 10 p -- true
}

# reuse PID: start a process with the number of a dead one, as $reused.
reuse() {
    eventually process_is "$1" X
    # a forced reuse within one clock tick of the start cannot be told apart, and need not
    sleep 0.2
    tries=0
    while :; do
        echo $(($1 - 1)) >/proc/sys/kernel/ns_last_pid || fail "ns_last_pid cannot be written"
        sleep 1000 &
        reused=$!
        [ "$reused" -ne "$1" ] || break
        kill -KILL "$reused"
        tries=$((tries + 1))
        [ "$tries" -lt 200 ] || fail "no process with number $1 after $tries tries"
    done
}

pid_reused_after_run() {
    hold a p -k 1
    a=$pid
    is_in a
    kill -KILL "$a" "$command"
    ends "$a" 137
    reuse "$command"
    status 0 usher run -w 10 p -- true
    process_is "$command" SR || fail "the process with the old number is not there"
    is_idle p 1
}

pid_reused_after_acquire() {
    # shellcheck disable=SC2016
    shell a 'seat=$(usher acquire p -k 1) || exit; step got $seat'
    a=$pid
    reaches a 'got 0'
    kill -KILL "$a"
    ends "$a" 137
    reuse "$a"
    status 0 usher run -w 10 p -- true
    process_is "$a" SR || fail "the process with the old number is not there"
    is_idle p 1
}

# as USER COMMAND..: run usher as that user.
as() {
    user=$1
    shift
    su -s /bin/sh "$user" -c "PATH='$PATH' USHER_DIR='$USHER_DIR' USHER_TEST='$USHER_TEST' $*"
}

another_user_is_kept_out() {
    chmod 755 "$work" "$USHER_DIR"
    status 0 usher run -k 1 p -- true
    status 77 as nobody usher run -n p -- true
    status 77 as nobody usher status p
    is_idle p 1
}

users_share_a_pool() {
    chmod 755 "$work" "$USHER_DIR"
    status 0 usher create p -k 1 --mode 666
    mkdir "$work/nobody"
    chown nobody "$work/nobody"
    # shellcheck disable=SC2016
    as nobody 'usher run p -- sh -c "echo \$\$ >\"$USHER_TEST/nobody/up\"; exec sleep 1000"' &
    eventually is_not_empty "$work/nobody/up"
    read -r command <"$work/nobody/up"
    status 75 as daemon usher run -n p -- true
    hold b p
    b=$pid
    eventually stands p 1 "$b"
    kill -KILL "$(sed 's/.*) //' "/proc/$command/stat" | cut -d ' ' -f 2)" "$command"
    is_in b
    let_go b
    ends "$b" 0
    status 0 as daemon usher run -n p -- true
    is_idle p 1
}

all_killed_pool_survives() {
    all=
    for guest in 1 2 3 4 5 6; do
        hold "g$guest" p -k 2
        all="$all $pid"
        [ "$guest" -gt 2 ] || is_in "g$guest"
    done
    eventually has p '"position":4,'
    # shellcheck disable=SC2013
    for command in $(cat "$work"/g*.in | cut -d ' ' -f 1); do
        all="$all $command"
    done
    # shellcheck disable=SC2086
    kill -KILL $all
    for guest in $all; do
        eventually process_is "$guest" ZX
    done
    status 0 usher run -n p -- true
    status 0 usher doctor p
    is_idle p 2
}

kills_in_a_row_lose_nothing() {
    hold last p -k 2
    round=0
    while [ $round -lt 12 ]; do
        hold "r$round" p
        victim=$pid
        # killed at different moments: before it opens the pool, in line, or with the seat
        [ $((round % 3)) -eq 0 ] || sleep 0.0$((round % 7))
        kill -KILL "$victim" 2>/dev/null
        wait "$victim"
        round=$((round + 1))
    done
    let_go last
    # shellcheck disable=SC2013
    for command in $(cat "$work"/r*.in 2>/dev/null | cut -d ' ' -f 1); do
        kill -KILL "$command" 2>/dev/null
    done
    hold a p -w 20
    a=$pid
    hold b p -w 20
    b=$pid
    is_in a
    is_in b
    let_go a
    let_go b
    ends "$a" 0
    ends "$b" 0
    status 0 usher doctor p
    is_idle p 2
}

if [ "${1:-}" = --list ]; then
    for name in $names; do
        echo "$name"
    done
    exit
fi

if [ "${1:-}" = --one ]; then # in a process of its own, which `timeout` ends
    work=$3
    export USHER_DIR="$work/pools" USHER_TEST="$work"
    mkdir "$USHER_DIR"
    "$2"
    exit
fi

# processes_of DIRECTORY: those of the scenario that are left
processes_of() {
    grep -lsF "USHER_TEST=$1" /proc/[0-9]*/environ 2>/dev/null | cut -d / -f 3
}
# describe PID: what a process does that a failed scenario has left: state, signals, where in the kernel it is
describe() {
    echo "    process $1 $(tr '\0' ' ' <"/proc/$1/cmdline" | cut -c 1-70)"
    grep -E '^(State|PPid|SigPnd|ShdPnd|SigBlk|SigIgn):' "/proc/$1/status" | tr '\n\t' '; ' | sed 's/^/      /'
    echo
    for task in "/proc/$1/task"/*; do
        echo "      ${task##*/}: $(cat "$task/wchan") $(cat "$task/syscall" 2>/dev/null)"
        sed 's/^/        /' "$task/stack" 2>/dev/null | head -n 6
    done
} 2>/dev/null

unset USHER_POOL USHER_SEAT USHER_SEATS USHER_TICKET USHER_FENCE USHER_LABEL USHER_HELD XDG_RUNTIME_DIR
failed=0
# shellcheck disable=SC2086 # a list of words
[ $# -gt 0 ] || set -- $names
for name in "$@"; do
    work=$(mktemp -d /dev/shm/scenario.XXXXXX)
    start=$(seconds)
    code=0
    timeout $limit sh "$0" --one "$name" "$work" >"$work/log" 2>&1 </dev/null || code=$?
    took=$(since "$start")
    if [ $code -eq 0 ]; then
        echo "scenario $name ok $took"
    else
        reason=$(cat "$work/reason" 2>/dev/null || tail -n 1 "$work/log")
        [ $code -ne 124 ] && [ $code -ne 143 ] || reason="not within $limit s; $reason"
        echo "scenario $name FAILED $took: $reason"
        failed=$((failed + 1))
    fi
    for leftover in $(processes_of "$work"); do
        [ $code -eq 0 ] || describe "$leftover"
        kill -KILL "$leftover" 2>/dev/null
    done
    rm -rf "$work"
done
[ $failed -eq 0 ]
