#!/bin/sh
# What the tests of usher(1) share. Each starts with: . cli_support.sh, and has the build directory as its
# first argument. Tests wait for conditions, not for time to pass; the limit only ends a test that hangs.
# shellcheck disable=SC2034 # the tests use what is set here
set -eu
build=$(cd "$1" && pwd)
# Under the thread sanitizer vfork is a fork, and usher run cannot assign its seat.
if grep -q __tsan_init "$build/usher"; then
    echo "SKIPPED: usher run does not work under the thread sanitizer"
    exit 77
fi
PATH=$build:$PATH
dir=$(mktemp -d)
checks=0
limit=30 # seconds

# Pools of its own; the tests themselves may run under usher.
unset USHER_POOL USHER_SEAT USHER_SEATS USHER_TICKET USHER_FENCE USHER_LABEL USHER_HELD XDG_RUNTIME_DIR
USHER_DIR=$dir/pools
USHER_TEST=$dir # marks the processes of this test
export PATH USHER_DIR USHER_TEST
mkdir "$USHER_DIR"
# shellcheck disable=SC3045
ulimit -c 0 # no core dumps of killed processes

# Kill all processes that the test left behind, stopped or not, in any session.
kill_leftovers() {
    for environ in $(grep -lsaF "USHER_TEST=$dir" /proc/[0-9]*/environ 2>/dev/null || :); do
        leftover=${environ#/proc/}
        kill -KILL "${leftover%/environ}" 2>/dev/null || :
    done
}
clean_up() {
    kill_leftovers
    umount "$dir/disk" 2>/dev/null || :
    rm -rf "$dir"
}
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

fail() {
    echo "FAILED: $*" >&2
    for said in "$dir"/*.err; do
        [ ! -s "$said" ] || { echo "  $(basename "$said"):" && sed 's/^/    /' "$said"; } >&2
    done
    usher status --json >&2 || :
    exit 1
}

passed() {
    checks=$((checks + 1))
}

# status N COMMAND..: the command exits with N; its output is in $dir/out and $dir/said.err.
status() {
    want=$1
    shift
    got=0
    timeout "$limit" "$@" >"$dir/out" 2>"$dir/said.err" </dev/null || got=$?
    [ "$got" -eq "$want" ] || { cat "$dir/out" && fail "$* ended with $got, not $want"; }
    passed
}

# says TEXT..: the message is one line, starts with the program's name and has each TEXT in it.
says() {
    [ "$(wc -l <"$dir/said.err")" -eq 1 ] || fail "not one line of message"
    grep -q '^usher: ' "$dir/said.err" || fail "the message does not name the program"
    for text in "$@"; do
        grep -qF -e "$text" "$dir/said.err" || fail "the message does not say '$text'"
    done
    passed
}

# prints TEXT: exactly TEXT was printed, and no message.
prints() {
    [ "$(cat "$dir/out")" = "$1" ] || { cat "$dir/out" && fail "printed that, not '$1'"; }
    [ ! -s "$dir/said.err" ] || fail "said something"
    passed
}

# eventually COMMAND..: wait until it succeeds.
eventually() {
    end=$(($(date +%s) + limit))
    until "$@" 2>/dev/null; do
        [ "$(date +%s)" -lt "$end" ] || fail "not so after $limit s: $*"
        sleep 0.01
    done
    passed
}

# pool_is POOL EXPRESSION: true of the JSON of status.
pool_is() {
    document=$(usher status "$1" --json) && printf '%s\n' "$document" | jq -e "$2" >/dev/null
}
now_is() {
    pool_is "$@" || { usher status "$1" --json && fail "pool $1: not so: $2"; }
    passed
}

# stands POOL POSITION PID: the process has this place in line.
stands() {
    usher status "$1" --json | grep -q "\"position\":$2,\"pid\":$3,"
}
line_has() {
    pool_is "$1" ".waiters | length == $2"
}

is_not_empty() {
    [ -s "$1" ]
}
# process_is PID STATES: the state of the process is one of these letters; X: it does not exist.
process_is() {
    state=X
    [ ! -e "/proc/$1/stat" ] || state=$(sed 's/.*) //; s/ .*//' "/proc/$1/stat" || echo X)
    case $2 in *"$state"*) ;; *) return 1 ;; esac
}

# begin NAME COMMAND..: start it in the background, but with the signals of the foreground, as $pid. Its output
# is in $dir/NAME.out and NAME.err.
begin() {
    begun=$1
    shift
    env --default-signal=INT,QUIT "$@" >"$dir/$begun.out" 2>"$dir/$begun.err" </dev/null &
    pid=$!
}
# ends PID STATUS: the child ends with this status.
ends() {
    eventually process_is "$1" ZX
    got=0
    wait "$1" 2>/dev/null || got=$?
    [ "$got" -eq "$2" ] || fail "process $1 ended with $got, not $2"
    passed
}

# hold NAME POOL [OPTION..]: run a command in a seat until `let_go NAME`. The wrapper is $pid. When the command
# has the seat, $dir/NAME.in has its pid, seat and ticket.
hold() {
    held=$1
    in_pool=$2
    shift 2
    rm -f "$dir/$held.gate" "$dir/$held.in"
    mkfifo "$dir/$held.gate"
    # shellcheck disable=SC2016
    begin "$held" usher run "$@" -- "$in_pool" sh -c \
        'echo $$ $USHER_SEAT $USHER_TICKET >"$1.in"; read -r go <"$1.gate"; exit "${go:-0}"' \
        hold "$dir/$held"
}
is_in() {
    eventually is_not_empty "$dir/$1.in"
    read -r command seat ticket <"$dir/$1.in"
}
let_go() {
    # shellcheck disable=SC2016
    timeout "$limit" sh -c 'echo "$2" >"$1"' sh "$dir/$1.gate" "${2:-0}" || fail "$1 is not there"
}

# script NAME SHELL LINES: start a script as $pid. Its function `step STEP` waits for `go NAME`; `reaches NAME
# STEP` waits until the script is there. (The script may find the gate still open from before.)
script() {
    rm -f "$dir/$1.gate" "$dir/$1.step"
    mkfifo "$dir/$1.gate"
    # shellcheck disable=SC2016
    printf 'step() { echo "$*" >"%s.step"; until read -r go <"%s.gate"; do :; done; }\n%s\n' \
        "$dir/$1" "$dir/$1" "$3" >"$dir/$1.sh"
    begin "$1" "$2" "$dir/$1.sh"
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
