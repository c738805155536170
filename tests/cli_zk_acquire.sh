#!/bin/sh
# usher acquire and release of a pool on ZooKeeper: the keeper (a process that holds the seat for a
# shell), what ends it, what its end causes, and the messages. usage: cli_zk_acquire.sh BUILD
# shellcheck source=tests/cli_support.sh disable=SC1091
# shellcheck disable=SC2016,SC2154
. "$(dirname "$0")/cli_support.sh"
. "$(dirname "$0")/cli_zk_server.sh"

held_by() {
    pool_is "$1" ".free == 0 and .holders[0].pid == $2"
}
is_free() {
    pool_is "$1" '.holders == [] and .waiters == []'
}
# keeper PID: print the keeper of that process.
keeper() {
    ps -eo pid=,comm=,args= | awk -v shell="$1" '$2 ~ /^usher-(keep|lost)$/ && $(NF-1) == shell {print $1}'
}
has_no_keeper() {
    [ -z "$(keeper "$1")" ]
}
# The session timeout is a minute. So a seat that is free sooner was given back, not reaped.
long="env USHER_ZK_TIMEOUT=60s"
short="env USHER_ZK_TIMEOUT=2s"

for shell in dash bash; do
    command -v $shell >/dev/null || { echo "SKIPPED: there is no $shell here" && continue; }
    p=$here/$shell
    status 0 usher create "$p" -k 1
    # as in the manual
    script plain $shell "seat=\$(usher acquire $p) || exit 1; step got \$seat; usher release $p; step done"
    reaches plain 'got 0'
    held_by "$p" "$pid" || fail "$shell: not held by the script"
    now_is "$p" ".holders[0].command | contains(\"$dir/plain.sh\")"
    status 75 usher acquire -n "$p"
    prints ""
    status 75 usher run -n "$p" true
    status 3 usher acquire -w 0.1 -E 3 "$p"
    go plain
    reaches plain "done"
    now_is "$p" '.free == 1 and .served == 1'
    [ -z "$(keeper "$pid")" ] || fail "$shell: the keeper is still there"
    go plain
    ends "$pid" 0
    # the shell is killed, or ends: the next waiter gets the seat at once, and the keeper ends
    script killed $shell "seat=\$($long usher acquire $p); step got \$seat"
    killed=$pid
    reaches killed 'got 0'
    kept=$(keeper "$killed")
    hold next "$p"
    eventually line_has "$p" 1
    kill -KILL "$killed"
    ends "$killed" 137
    is_in next
    eventually process_is "$kept" X
    let_go next
    script over $shell "seat=\$($long usher acquire $p); step got \$seat"
    reaches over 'got 0'
    go over
    ends "$pid" 0
    eventually is_free "$p"
    # in a function whose output is read, in a pipeline, with stderr read as well
    script inside $shell "enter() { seat=\$(usher acquire $p); echo \$seat; }; step got \$(enter 2>&1)"
    reaches inside 'got 0'
    held_by "$p" "$pid" || fail "$shell: in a function: not held by the script"
    go inside
    ends "$pid" 0
    eventually is_free "$p"
    script piped $shell "usher acquire $p 2>&1 | cat >\"$dir/number\"; step got \$(cat \"$dir/number\")
        { usher release $p; :; } | cat; step done"
    reaches piped 'got 0'
    held_by "$p" "$pid" || fail "$shell: in a pipeline: not held by the script"
    go piped
    reaches piped "done"
    now_is "$p" '.free == 1'
    go piped
    ends "$pid" 0
done

# Several seats for one shell, in line with others; release gives all of them back.
p=$here/several
script several sh "a=\$(usher acquire $p -k 3); b=\$(usher acquire $p); step \$a \$b; usher release $p; step done"
reaches several '0 1'
now_is "$p" '.free == 1 and (.holders | map(.pid) | unique | length) == 1'
[ "$(keeper "$pid" | wc -l)" -eq 2 ] || fail "not two keepers"
go several
reaches several "done"
now_is "$p" '.free == 3'
go several
ends "$pid" 0

# What a script sees of its seat, and a command that it runs while it holds the only seat.
p=$here/inside
status 0 usher create "$p" -k 1
script exported sh "eval \"\$(usher acquire --export $p)\"
    step \$USHER_SEAT \$USHER_SEATS \$USHER_TICKET \$((USHER_FENCE > 0)) \$USHER_POOL
    fence=\$USHER_FENCE; unset USHER_FENCE
    usher run -n $p -- sh -c 'echo \$USHER_SEAT \$USHER_FENCE' >$dir/ran; step \$fence"
reaches exported "0 1 0 1 $p"
go exported
eventually is_not_empty "$dir/exported.step"
[ "$(cat "$dir/ran")" = "0 $(cat "$dir/exported.step")" ] || fail "not under the seat that the shell holds"
now_is "$p" ".holders[0].fence == $(cat "$dir/exported.step")"
status 75 usher run -n "$p" true
go exported
ends "$pid" 0

# Under usher run of the same pool, the script already has that seat.
eventually is_free "$p"
status 0 usher run "$p" -- sh -c "usher acquire $p && usher acquire $p"
prints "0
0"
status 0 usher run "$p" -- sh -c "echo \$USHER_FENCE; unset USHER_FENCE
    usher run $p -- sh -c 'echo \$USHER_FENCE'; eval \"\$(usher acquire $p --export)\"; echo \$USHER_FENCE"
[ "$(sort -u "$dir/out" | wc -l)" -eq 1 ] || fail "not the same fence everywhere"
eventually is_free "$p"

# For a process named on the command line.
p=$here/other
status 0 usher create "$p" -k 1
sleep 1000 &
other=$!
status 0 usher acquire "$p" --for $other
prints 0
held_by "$p" $other || fail "not held by the named process"
status 75 usher release "$p"
says "holds no seat"
status 0 usher release "$p" --for $other
now_is "$p" '.free == 1'
status 0 env USHER_ZK_TIMEOUT=60s usher acquire "$p" --for $other
kill -KILL $other
wait $other 2>/dev/null || :
eventually is_free "$p"
status 64 usher acquire "$p" --for $other
says "$other" "cannot hold a seat"
now_is "$p" '.free == 1'

# A keeper that gets SIGTERM gives the seat back; the seat of a killed keeper is granted after T.
script asked sh "seat=\$($long usher acquire $p); step got \$seat; usher release $p; step \$?"
reaches asked 'got 0'
kill -TERM "$(keeper "$pid")"
eventually is_free "$p"
eventually has_no_keeper "$pid"
go asked
reaches asked 75
go asked
ends "$pid" 0
script widowed sh "seat=\$($short usher acquire $p); step got \$seat; usher release $p; step \$?"
reaches widowed 'got 0'
kill -KILL "$(keeper "$pid")"
status 0 env USHER_ZK_TIMEOUT=2s usher run "$p" true
go widowed
reaches widowed 75
go widowed
ends "$pid" 0

# The keeper has no descriptor of the shell open: no pipe, no lock, no directory, no terminal.
script open sh "exec 8>$dir/lock; cd $dir; seat=\$(usher acquire $p 2>$dir/open.said); step got \$seat"
reaches open 'got 0'
kept=$(keeper "$pid")
! find "/proc/$kept/fd" "/proc/$kept/cwd" -type l -printf '%l\n' | grep -F "$dir" || fail "that is the shell's"
[ "$(ps -o tty= -p "$kept")" = '?' ] || fail "the keeper has a terminal"
[ "$(readlink "/proc/$kept/fd/1" "/proc/$kept/fd/2" | sort -u)" = /dev/null ] || fail "it would print"
passed
go open
ends "$pid" 0
eventually is_free "$p"

# acquire ends while in line: no keeper waits in its place.
hold first "$p"
is_in first
for signal in INT TERM KILL; do
    begin ended usher acquire "$p"
    eventually line_has "$p" 1
    kill -$signal "$pid"
    eventually line_has "$p" 0
    case $signal in
    INT) ends "$pid" 130 ;;
    TERM) ends "$pid" 143 ;;
    KILL) ends "$pid" 137 ;;
    esac
done
status 78 usher acquire "$p" -k 4
says "1 seat" 4 "usher resize"
status 64 usher acquire "$p" --mode 660
let_go first
eventually is_free "$p"

# The keeper is killed while it waits: acquire reports it. Killed at any other moment: no seat stays
# held.
hold first "$p"
is_in first
begin waiting env USHER_ZK_TIMEOUT=2s usher acquire "$p" --for $$
eventually line_has "$p" 1
kill -KILL "$(pgrep -f "^usher keep .*$p $$ ")"
ends "$pid" 137
grep -q "was killed while it waited" "$dir/waiting.err" || fail "no message"
let_go first
eventually is_free "$p"
for moment in 1 3 5 7 9 11 13 15 17; do
    sleep 1000 &
    other=$!
    begin hunted env USHER_ZK_TIMEOUT=2s usher acquire "$p" --for $other
    sleep "0.0$(printf %02d $moment)" # any moment
    case $((moment % 3)) in
    0) victim=$pid ;;
    1) victim=$other ;;
    2) victim=$(pgrep -f "^usher keep .*$p $other " || :) ;;
    esac
    kill -KILL ${victim:+"$victim"} 2>/dev/null || :
    wait "$pid" 2>/dev/null || :
    usher release "$p" --for $other 2>/dev/null || :
    kill -KILL $other 2>/dev/null || :
    eventually is_free "$p"
    eventually has_no_keeper $other
done

# A seat whose number cannot be printed is not kept.
got=0
usher acquire "$p" >/dev/full 2>"$dir/said.err" || got=$?
[ $got -eq 71 ] || fail "acquire to a full disk ended with $got"
says "No space left"
now_is "$p" '.free == 1'
got=0
usher acquire "$p" >&- 2>"$dir/said.err" || got=$?
[ $got -eq 71 ] || fail "acquire without a standard output ended with $got"
now_is "$p" '.free == 1'

# The seat is lost: the shell gets a message, its release reports it, and --signal arrives in time.
script lost sh "seat=\$($short usher acquire $p); step got \$seat; usher release $p; step \$?"
lost=$pid
reaches lost 'got 0'
status 0 usher create "$here/told" -k 1
status 0 usher create "$here/unread" -k 1
script told sh "trap 'told=yes' USR1; seat=\$($short usher acquire $here/told --signal USR1)
    echo in >$dir/in; until [ -n \"\${told-}\" ]; do sleep 0.05; done; usher release $here/told; step \$?"
told=$pid
eventually is_not_empty "$dir/in"
# The signal arrives even if the messages are not read.
mkfifo "$dir/unread"
cat "$dir/unread" >/dev/null &
reader=$!
script unread sh "trap 'told=yes' USR1; exec 2>$dir/unread
    seat=\$($short usher acquire $here/unread --signal USR1)
    echo in >$dir/in2; until [ -n \"\${told-}\" ]; do sleep 0.05; done; step told"
unread=$pid
eventually is_not_empty "$dir/in2"
kill $reader
wait $reader || :
kill -STOP "$server"
eventually grep -q "will be lost.*(USR1) to process $told" "$dir/told.err"
eventually grep -q "seat 0 is lost" "$dir/lost.err"
[ "$(ps -o comm= -p "$(keeper "$lost")")" = usher-lost ] || fail "ps does not show that it is lost"
kill -CONT "$server"
go lost
reaches lost 74
grep -q "the seat was lost before the release" "$dir/lost.err" || fail "release printed no message"
eventually is_not_empty "$dir/told.step"
reaches unread told
go lost
go told
go unread
ends "$lost" 0
ends "$told" 0
ends "$unread" 0
eventually is_free "$p"

status 64 usher keep "$p" 1 0 nonsense
status 64 usher acquire "$p" --signal NONSENSE
says "--signal"
eventually has_no_keeper "$lost"
eventually has_no_keeper "$told"
echo "$checks checks passed"
