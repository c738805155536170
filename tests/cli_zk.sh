#!/bin/sh
# usher(1) with pools on ZooKeeper: a real server, commands whose seat is lost, wrappers that are
# killed, and the message if the module is missing. usage: cli_zk.sh BUILD
# shellcheck source=tests/cli_support.sh disable=SC1091
# shellcheck disable=SC2016,SC2154
. "$(dirname "$0")/cli_support.sh"

status 69 env USHER_MODULES="$dir" usher run -k 1 zk://127.0.0.1/pool true
says "pool zk://127.0.0.1/pool" "libzookeeper-st2"
# pools on this machine need neither the module nor its libraries
status 0 env USHER_MODULES="$dir" usher run local -k 1 -- true
ldd "$build/usher" "$build/libusher.so" >"$dir/out"
grep -q libc.so "$dir/out" || fail "ldd does not say what is needed"
! grep -q zookeeper "$dir/out" || fail "usher itself needs the ZooKeeper client library"
passed

. "$(dirname "$0")/cli_zk_server.sh"

# A command in a seat: its environment and its exit status.
status 7 usher run "$here/gpu" -k 2 -- sh -c 'echo $USHER_SEAT $USHER_SEATS $USHER_TICKET; exit 7'
prints "0 2 0"
status 0 usher run "$here/gpu" -- sh -c 'echo $USHER_FENCE'
first=$(cat "$dir/out")
status 0 usher run "$here/gpu" -- sh -c 'echo $USHER_FENCE'
[ "$(cat "$dir/out")" -gt "$first" ] || fail "the fence does not grow"
passed
status 0 usher run "$here/gpu" -- sh -c 'readlink /proc/self/fd/* | grep -c socket: || :'
prints 0
status 0 usher run "$here/gpu" -- usher run "$here/gpu" -- usher run "$here/gpu" -- echo nested
prints nested

# Errors and the pool commands.
status 78 usher run "$here/gpu" -k 3 -- true
says "has 2 seats, not 3"
status 73 usher create "$here/gpu" -k 2
status 0 usher create "$here/one" -k 1
status 64 usher create "$here/two" -k 1 --mode 660
status 66 usher status "$here/none"
status 64 usher resize "$here/gpu" 5000
says "at most 4096"
status 75 usher release "$here/gpu"
says "holds no seat"
status 0 usher doctor "$here/gpu"
grep -q "The servers answered in" "$dir/out" || fail "the doctor does not say how fast"
grep -q "The consistency check passed" "$dir/out" || fail "the doctor does not verify"
grep -q "2 seats, 2 free, 0 waiting" "$dir/out" || fail "the doctor does not count"
status 66 usher doctor "$here/none"
status 64 usher run -k 1 "zk://127.0.0.1:$port/" -- true
status 66 usher run "$here/none" -- true
says "no such pool"
status 64 usher create "$here/two" -k 1 --group 1
status 69 env USHER_ZK_TIMEOUT=200ms usher run zk://127.0.0.1:1/pool -- true
says "do not answer"

# A line: its order, a caller that does not wait, and a waiter that gives up.
hold first "$here/one"
is_in first
hold second "$here/one"
eventually line_has "$here/one" 1
hold third "$here/one"
eventually line_has "$here/one" 2
now_is "$here/one" '.holders[0].where | test("^[0-9]+@.")'
now_is "$here/one" '.holders[0].seat == 0 and .waiters[1].position == 2 and .free == 0'
status 75 usher run "$here/one" -n -- true
status 75 usher run "$here/one" -w 0.2 -- true
begin fourth usher run "$here/one" -- true
eventually line_has "$here/one" 3
kill -INT "$pid"
ends "$pid" 130
now_is "$here/one" '(.waiters | length) == 2'
status 69 usher remove "$here/one"
says "in use"
let_go first
is_in second
[ "$(cat "$dir/third.in" 2>/dev/null)" = "" ] || fail "two in one seat"
status 0 usher resize "$here/one" 2
is_in third
[ "$seat" -eq 1 ] || fail "the third has seat $seat, not 1"
let_go second
let_go third
eventually pool_is "$here/one" '.free == 2 and (.waiters | length) == 0'
status 0 usher status "$here/one"
grep -q "one: 2 seats, 2 free, 0 waiting;" "$dir/out" || fail "no counts"
status 0 usher remove "$here/one"

# Labels and commands are shown on every machine; another host name means another machine.
status 0 usher run "$here/cards" --labels left,right --env CARD -- sh -c 'echo $USHER_LABEL $CARD'
prints "left left"
hold labelled "$here/cards" --labels left,right
is_in labelled
now_is "$here/cards" '.holders[0] | .label == "left" and (.command | startswith("sh -c echo")) and .seconds > 0'
now_is "$here/cards" ".holders[0] | .pid == $pid and .where == \"$pid@$(uname -n)\" and .fence > 0"
if unshare --uts true 2>/dev/null; then
    unshare --uts sh -c "hostname elsewhere; exec usher status $here/cards --json" >"$dir/out"
    jq -e ".holders[0] | .pid == 0 and .where == \"$pid@$(uname -n)\" and .label == \"left\"" "$dir/out" >/dev/null ||
        fail "another machine sees something else"
    unshare --uts sh -c "hostname elsewhere; exec usher status $here/cards" >"$dir/out"
    grep -q "^  0  *left  *$pid@$(uname -n) .* sh -c echo" "$dir/out" || fail "the table has no machine"
    passed
fi
let_go labelled
status 78 usher run "$here/cards" --labels one,two,three -- true

# A killed wrapper takes its command with it, and its seat is granted to the next waiter.
sessions_are_short
status 0 usher create "$here/single" -k 1
hold killed "$here/single"
killed=$pid
is_in killed
kill -KILL "$killed"
eventually process_is "$command" ZX
status 0 usher run "$here/single" -- true

# The servers are silent: usher ends the command with SIGTERM, then with SIGKILL.
begin asked usher run "$here/single" -- \
    sh -c 'trap "echo asked; exit 3" TERM; echo in; sleep 60 & wait'
asked=$pid
eventually is_not_empty "$dir/asked.out"
kill -STOP "$server"
ends "$asked" 74
kill -CONT "$server"
[ "$(tail -n 1 "$dir/asked.out")" = asked ] || fail "the command was not asked to end"
grep -q "ending the command" "$dir/asked.err" || fail "nothing was said"
begin deaf usher run "$here/single" -- sh -c 'trap "" TERM; echo in; while :; do sleep 0.1; done'
deaf=$pid
eventually is_not_empty "$dir/deaf.out"
kill -STOP "$server"
ends "$deaf" 74
kill -CONT "$server"
hold warned "$here/single" --warn-only
warned=$pid
is_in warned
kill -STOP "$server"
eventually grep -q "keeps running" "$dir/warned.err"
kill -CONT "$server"
let_go warned 5
ends "$warned" 5

eventually pool_is "$here/single" '.free == 1'
status 0 usher remove "$here/single"
echo "$checks checks passed"
