#!/bin/sh
# Run the programs in examples/ and check what they print. usage: examples.sh BUILD
set -eu
build=$1
# shellcheck source=tests/checks.sh disable=SC1091
. "$(dirname "$0")/checks.sh"

# hello: alone; then eight at once, which share two seats, each with a ticket of its own
so timeout 60 "$build/example_hello" alone >"$dir/out"
so grep -qE '^process [0-9]+ has seat 0 with ticket 1$' "$dir/out"
pids=""
for i in 1 2 3 4 5 6 7 8; do
    timeout 60 "$build/example_hello" greetings 2 >"$dir/out.$i" &
    pids="$pids $!"
done
for pid in $pids; do
    so wait "$pid"
done
cat "$dir"/out.? >"$dir/out"
so test "$(grep -cE '^process [0-9]+ has seat [01] with ticket [0-9]+$' "$dir/out")" -eq 8
so test "$(wc -l <"$dir/out")" -eq 8
so test "$(sed 's/.*ticket //' "$dir/out" | sort -n | tr '\n' ' ')" = "1 2 3 4 5 6 7 8 "

# its errors: one line with the program, the pool and a sentence
status=0
timeout 60 "$build/example_hello" greetings 3 >"$dir/out" 2>"$dir/err" || status=$?
so test "$status" -eq 1
so grep -q 'example_hello: greetings: the pool has another number of seats' "$dir/err"
so test ! -s "$dir/out"
status=0
timeout 60 "$build/example_hello" 2>"$dir/err" || status=$?
so test "$status" -eq 64
so grep -q '^usage: ' "$dir/err"

# workers: three of eight kill themselves while they hold a connection, the others finish
so timeout 60 "$build/example_workers" >"$dir/out"
so grep -qx '5 workers finished, 3 were killed' "$dir/out"
resets=$(grep -cE '^worker [124578] resets connection [01]$|^worker [036] resets' "$dir/out" || true)
so test "$resets" -le 3
so test "$(wc -l <"$dir/out")" -eq $((resets + 1))
so test ! -e "$USHER_DIR/workers-example" # it removed its pool

# threads: three licences, with a pool and with a gate
so timeout 120 "$build/example_threads" >"$dir/out"
so grep -qx '6 threads, 3 licences, 1000 rounds: never two with one licence' "$dir/out"

# command: its exit status is the command's, its seat is given back, and the message if it cannot be run
status=0
timeout 60 "$build/example_command" encoders 1 sh -c 'exit 7' || status=$?
so test "$status" -eq 7
so timeout 60 "$build/example_command" encoders 1 true
status=0
timeout 60 "$build/example_command" encoders 1 /no/such/program 2>"$dir/err" || status=$?
so test "$status" -eq 1
so grep -q '^.*example_command: encoders: ' "$dir/err"
so timeout 60 "$build/example_command" encoders 1 true
echo "$checks checks passed"
