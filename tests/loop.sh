#!/bin/sh
# A crowd on a pool, killed, stopped and resized (tests/crowd_test.c), and every algorithm for real at
# random sizes; over and over, until one fails or the time is up.
# usage: loop.sh BUILD [SEED [SECONDS]]
set -eu
lab=$1/usher-lab
seed=${2:-}
seed=${seed:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
seconds=${3:-}
echo "seed $seed"
state=$seed
random() { # random N: a number below N in $drawn
    state=$(((state * 1103515245 + 12345) % 2147483648))
    drawn=$((state / 65536 % $1))
}
round=0
began=$(date +%s)
left() { # how many seconds are left, at most the given number, in $time
    time=$1
    [ -z "$seconds" ] || time=$((began + seconds - $(date +%s)))
    [ "$time" -le "$1" ] || time=$1
}
while :; do
    left 60
    [ "$time" -gt 0 ] || exit 0
    random 30000
    "$1/crowd_test" "$time" "$drawn" || {
        echo "failed: crowd_test $time $drawn (seed $seed, round $round)"
        exit 1
    }
    for machine in semaphore bank queue numbered colored-unbounded colored colored-tight colored-1979 bucket gate; do
        left 1
        [ "$time" -gt 0 ] || break
        random 14
        n=$((drawn + 2))
        random $((n - 1))
        k=$((drawn % 8 + 1))
        [ "$k" -lt "$n" ] || k=$((n - 1))
        random 2
        how=""
        [ "$drawn" -eq 0 ] || how=--processes
        # shellcheck disable=SC2086
        "$lab" run $machine -n $n -k $k --seconds 0.5 $how >/dev/null || {
            echo "failed: run $machine -n $n -k $k $how (seed $seed, round $round)"
            exit 1
        }
    done
    round=$((round + 1))
    echo "$round rounds"
done
