#!/bin/sh
# Signals, and how commands end. usage: cli_signals.sh BUILD
# shellcheck source=tests/cli_support.sh disable=SC1091
. "$(dirname "$0")/cli_support.sh"
status 0 usher create p -k 1

number_of() {
    case $1 in HUP) echo 1 ;; INT) echo 2 ;; QUIT) echo 3 ;; KILL) echo 9 ;; USR1) echo 10 ;;
    USR2) echo 12 ;; ALRM) echo 14 ;; TERM) echo 15 ;; esac
}
runs() {
    pool_is "$1" '.holders[0].command | startswith("sleep")'
}

# Signals to the wrapper reach the command, which dies or handles them.
for signal in TERM INT HUP QUIT USR1 USR2; do
    n=$(number_of $signal)
    begin ended usher run p sleep 1000
    eventually runs p
    kill -s $signal "$pid"
    ends "$pid" $((128 + n))
    # shellcheck disable=SC2016
    begin caught usher run p -- sh -c 'trap "echo $1 >>\"$2/caught\"; exit 3" "$1"
        echo $$ >"$2/ready"; while :; do sleep 0.01; done' sh $signal "$dir"
    eventually is_not_empty "$dir/ready"
    kill -s $signal "$pid"
    ends "$pid" 3
    [ "$(cat "$dir/caught")" = $signal ] || fail "the command has not got $signal once: $(cat "$dir/caught")"
    rm "$dir/caught" "$dir/ready"
    now_is p '.free == 1 and .holders == []'
done

# A command that survives a signal keeps running and keeps its seat.
# shellcheck disable=SC2016
begin survivor usher run p -- sh -c 'trap "echo TERM >>\"$1/caught\"" TERM; echo $$ >"$1/ready"
    until [ -e "$1/enough" ]; do sleep 0.01; done; exit 4' sh "$dir"
eventually is_not_empty "$dir/ready"
for n in 1 2 3; do
    kill -TERM "$pid"
    heard() {
        [ "$(wc -l <"$dir/caught")" -eq "$1" ]
    }
    eventually heard $n
done
status 75 usher run -n p true
touch "$dir/enough"
ends "$pid" 4

# The status of the command is passed through.
for code in 0 1 2 63 64 75 126 127 128 137 255; do
    status $code usher run p -- sh -c "exit $code"
done
# shellcheck disable=SC2016
for signal in KILL TERM HUP USR1 ALRM; do
    status $((128 + $(number_of $signal))) usher run p -- sh -c 'kill -s "$1" $$' sh $signal
done
now_is p '.free == 1'

# A signal ends a wait, and the waiters behind it are served in order.
hold holder p
holder=$pid
is_in holder
for signal in TERM INT HUP QUIT; do
    begin waiter usher run p touch "$dir/ran"
    eventually stands p 1 "$pid"
    kill -s $signal "$pid"
    ends "$pid" $((128 + $(number_of $signal)))
    now_is p '.waiters == [] and .free == 0'
done
[ ! -e "$dir/ran" ] || fail "a waiter that a signal ended ran its command"
now_is p '.gave_up == 4'
: >"$dir/order"
for n in 1 2 3 4 5; do
    # shellcheck disable=SC2016
    begin waiter.$n usher run p -- sh -c 'echo "$2" >>"$1/order"' sh "$dir" $n
    eventually stands p $n "$pid"
    eval "waiter$n=$pid"
done
# shellcheck disable=SC2154
{
    kill -TERM "$waiter1"
    ends "$waiter1" 143
    kill -INT "$waiter3"
    ends "$waiter3" 130
    kill -HUP "$waiter5"
    ends "$waiter5" 129
    now_is p ".waiters | map(.pid) == [$waiter2, $waiter4]"
    let_go holder
    ends "$holder" 0
    ends "$waiter2" 0
    ends "$waiter4" 0
}
[ "$(tr '\n' ' ' <"$dir/order")" = "2 4 " ] || fail "served: $(cat "$dir/order")"
now_is p '.waiters == [] and .free == 1'

# A signal at any moment of a short run: the seat is free afterwards.
for n in 1 2 3 4 5 6 7 8 9 10; do
    begin short usher run p true
    kill -TERM "$pid" 2>/dev/null || :
    eventually process_is "$pid" ZX
    got=0
    wait "$pid" 2>/dev/null || got=$?
    [ $got -eq 0 ] || [ $got -eq 143 ] || fail "ended with $got"
    status 0 usher run -n p true
done

# acquire waits in the same way.
hold holder p
holder=$pid
is_in holder
begin acquirer usher acquire p
eventually stands p 1 "$pid"
kill -TERM "$pid"
ends "$pid" 143
now_is p '.waiters == []'
[ ! -s "$dir/acquirer.out" ] || fail "acquire printed a seat that it did not get"
let_go holder
ends "$holder" 0

# The command gets the signal mask and dispositions that it has without usher. Signals 32 and 33 belong to the
# C library: programs cannot see or set them, but starting a thread changes them.
own_signals() {
    while read -r name mask; do
        echo "$name $((0x$mask & ~0x180000000))"
    done
}
compare() {
    env "$@" grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status >"$dir/without"
    status 0 env "$@" usher run p grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status
    own_signals <"$dir/without" >"$dir/without.own"
    own_signals <"$dir/out" >"$dir/out.own"
    cmp -s "$dir/without.own" "$dir/out.own" || { cat "$dir/without" "$dir/out" && fail "other signals under usher: $*"; }
    # and after a wait, during which usher caught signals
    hold holder p
    holder=$pid
    is_in holder
    env "$@" usher run p grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status >"$dir/after" 2>"$dir/after.err" </dev/null &
    pid=$!
    eventually stands p 1 "$pid"
    let_go holder
    ends "$holder" 0
    ends "$pid" 0
    own_signals <"$dir/after" >"$dir/after.own"
    cmp -s "$dir/without.own" "$dir/after.own" || { cat "$dir/without" "$dir/after" && fail "other signals after a wait: $*"; }
}
compare --default-signal
compare --default-signal --ignore-signal=INT,QUIT
compare --default-signal --ignore-signal=HUP,CHLD,USR1,TERM,TSTP,PIPE
compare --default-signal --block-signal=INT,TERM,USR2,CHLD
# nohup works, while waiting and while running
hold holder p
holder=$pid
is_in holder
env --ignore-signal=HUP,INT usher run p sh -c 'exit 9' >"$dir/nohup.out" 2>"$dir/nohup.err" </dev/null &
nohup=$!
eventually stands p 1 $nohup
kill -HUP $nohup
kill -INT $nohup
let_go holder
ends "$holder" 0
ends $nohup 9

echo "$checks checks passed"
