#!/bin/sh
# Seats are granted in order of arrival, and a stopped waiter delays no other. usage: cli_order.sh BUILD
# shellcheck source=tests/cli_support.sh disable=SC1091
. "$(dirname "$0")/cli_support.sh"
status 0 usher create one -k 1

# Twenty commands arrive one after the other; then the holders end one by one. After each of them exactly one
# waiter enters, so the order of the file is the order of grants.
arrivals=20
entered() {
    [ "$(wc -l <"$dir/order")" -eq "$1" ]
}
for k in 1 2 4; do
    : >"$dir/order"
    n=0
    while [ $n -lt $arrivals ]; do
        n=$((n + 1))
        mkfifo "$dir/$k.$n.gate"
        # shellcheck disable=SC2016
        begin "$k.$n" usher run -k $k order$k -- sh -c \
            'echo "$2 $USHER_TICKET $USHER_SEAT" >>"$1/order"; read -r go <"$1/$3.$2.gate"' sh "$dir" $n $k
        if [ $n -le $k ]; then
            eventually entered $n
        else
            eventually stands order$k $((n - k)) "$pid"
        fi
    done
    now_is order$k "(.holders | length) == $k and (.waiters | length) == $arrivals - $k"
    now_is order$k '.waiters | map(.ticket) | . == sort and (unique | length) == length'
    n=0
    while [ $n -lt $arrivals ]; do
        n=$((n + 1))
        let_go $k.$n
        last=$((n + k < arrivals ? n + k : arrivals))
        eventually entered $last
    done
    eventually pool_is order$k ".free == $k and .waiters == [] and .served + .reaped >= $arrivals"
    cut -d' ' -f1 "$dir/order" | sort -nc || { cat "$dir/order" && fail "k = $k: not the order of arrival"; }
    cut -d' ' -f2 "$dir/order" | sort -nuc || { cat "$dir/order" && fail "k = $k: not the order of tickets"; }
    cut -d' ' -f3 "$dir/order" | grep -qvxE "[0-$((k - 1))]" && fail "k = $k: a seat that there is not"
    passed
done
wait

# One seat, and commands that end at once.
hold first one
is_in first
: >"$dir/order"
for n in 1 2 3 4 5 6 7 8 9 10; do
    # shellcheck disable=SC2016
    begin free.$n usher run one -- sh -c 'echo "$2 $USHER_TICKET" >>"$1/order"' sh "$dir" $n
    eventually stands one $n "$pid"
done
let_go first
wait
entered 10 || fail "not all of them ran"
cut -d' ' -f1 "$dir/order" | sort -nc || fail "running freely: not the order of arrival"
cut -d' ' -f2 "$dir/order" | sort -nuc || fail "running freely: not the order of tickets"
passed

# Two seats, and the first waiter is stopped. Both seats become free: the second waiter enters at once.
hold a two -k 2
a=$pid
is_in a
hold b two
b=$pid
is_in b
hold stopped two
first=$pid
eventually stands two 1 "$pid"
hold second two
second=$pid
eventually stands two 2 "$pid"
kill -STOP "$first"
eventually process_is "$first" T
let_go a
let_go b
is_in second
process_is "$first" T || fail "the first in line is not stopped any more"
[ ! -e "$dir/stopped.in" ] || fail "a stopped one has entered"
now_is two ".waiters == [] and (.holders | length) == 2 and (.holders | map(.pid) | contains([$first]))"
kill -CONT "$first"
is_in stopped
let_go second
let_go stopped
for process in "$a" "$b" "$first" "$second"; do
    ends "$process" 0
done
now_is two '.free == 2'

# The second waiter is stopped: it keeps its place.
hold a three -k 1
is_in a
hold b three
eventually stands three 1 "$pid"
hold stopped three
first=$pid
eventually stands three 2 "$pid"
kill -STOP "$first"
eventually process_is "$first" T
let_go a
is_in b
now_is three ".waiters | length == 1 and .[0].pid == $first and .[0].position == 1"
kill -CONT "$first"
let_go b
is_in stopped
let_go stopped
ends "$first" 0

echo "$checks checks passed"
