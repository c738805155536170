#!/bin/sh
# Run every algorithm for real at random sizes, over and over, until one fails. usage: loop.sh BUILD [SEED]
set -eu
lab=$1/usher-lab
seed=${2:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
echo "seed $seed"
state=$seed
random() { # random N: a number below N in $drawn
    state=$(((state * 1103515245 + 12345) % 2147483648))
    drawn=$((state / 65536 % $1))
}
round=0
while :; do
    for machine in semaphore bank queue numbered colored-unbounded colored colored-tight colored-1979 bucket gate; do
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
    [ $((round % 10)) -ne 0 ] || echo "$round rounds"
done
