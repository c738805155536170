#!/bin/sh
# usher acquire and release: a seat for the calling shell. usage: cli_acquire.sh BUILD
# shellcheck source=tests/cli_support.sh disable=SC1091
# shellcheck disable=SC2016
. "$(dirname "$0")/cli_support.sh"

held_by() {
    pool_is "$1" ".free == 0 and .holders[0].pid == $2 and .holders[0].alive"
}
free() {
    pool_is "$1" '.holders == []'
}

for shell in dash bash; do
    command -v $shell >/dev/null || { echo "SKIPPED: there is no $shell here" && continue; }
    p=pool-$shell
    status 0 usher create $p -k 1
    # as in the manual
    script plain $shell "seat=\$(usher acquire $p) || exit 1; step got \$seat; usher release $p; step done"
    reaches plain 'got 0'
    now_is "$p" ".holders == [.holders[0]] and .holders[0].pid == $pid and .holders[0].alive and .holders[0].seat == 0"
    status 75 usher acquire -n $p
    prints ""
    status 75 usher run -n $p true
    go plain
    reaches plain "done"
    now_is "$p" '.free == 1 and .holders == []'
    status 0 usher run -n $p true
    go plain
    ends "$pid" 0
    # the shell is killed: the seat is free, and a waiter gets it
    script killed $shell "seat=\$(usher acquire $p); step got \$seat"
    killed=$pid
    reaches killed 'got 0'
    hold next $p
    next=$pid
    eventually stands $p 1 "$next"
    kill -KILL "$killed"
    ends "$killed" 137
    is_in next
    let_go next
    ends "$next" 0
    # the shell ends: the same
    script over $shell "seat=\$(usher acquire $p); step got \$seat"
    reaches over 'got 0'
    go over
    ends "$pid" 0
    status 0 usher run -n $p true
    # in a function, in a list, before ||, with commands after it
    script function $shell "enter() { seat=\$(usher acquire $p); }; enter; step got \$seat"
    reaches function 'got 0'
    held_by $p "$pid" || fail "$shell: in a function: not held by the script"
    go function
    ends "$pid" 0
    script list $shell "seat=\$(usher acquire $p || exit 1; echo); step got \$seat; usher release $p; step done"
    reaches list 'got 0'
    held_by $p "$pid" || fail "$shell: \$(acquire || exit; echo): not held by the script"
    go list
    reaches list 'done'
    free $p || fail "$shell: \$(acquire || exit; echo): not given back"
    go list
    ends "$pid" 0
    script elsewhere $shell "seat=\$(usher acquire $p >\"$dir/number\"; cat \"$dir/number\"); step got \$seat"
    reaches elsewhere 'got 0'
    held_by $p "$pid" || fail "$shell: redirected inside \$(..): not held by the script"
    go elsewhere
    ends "$pid" 0
    script backticks $shell "set -- \`usher acquire $p; :\`; step got \$1"
    reaches backticks 'got 0'
    held_by $p "$pid" || fail "$shell: in backticks: not held by the script"
    go backticks
    ends "$pid" 0
    # without a substitution, and in a pipeline
    script direct $shell "usher acquire $p >\"$dir/number\"; step got \$(cat \"$dir/number\")"
    reaches direct 'got 0'
    held_by $p "$pid" || fail "$shell: directly: not held by the script"
    go direct
    ends "$pid" 0
    script pipeline $shell "usher acquire $p | cat >\"$dir/number\"; step got \$(cat \"$dir/number\"); usher release $p; step done"
    reaches pipeline 'got 0'
    held_by $p "$pid" || fail "$shell: in a pipeline: not held by the script"
    go pipeline
    reaches pipeline 'done'
    free $p || fail "$shell: in a pipeline: not given back"
    go pipeline
    ends "$pid" 0
    # a subshell can release the seat of the script
    script part $shell "seat=\$(usher acquire $p); (usher release $p; :); step first
        seat=\$(usher acquire $p); { usher release $p; :; } | cat; step second
        seat=\$(usher acquire $p); trap 'usher release $p' EXIT; step third"
    reaches part first
    free $p || fail "$shell: not given back in a subshell"
    go part
    reaches part second
    free $p || fail "$shell: not given back in a pipeline"
    go part
    reaches part third
    held_by $p "$pid" || fail "$shell: not held by the script"
    go part
    ends "$pid" 0
    now_is $p '.free == 1 and .holders == []'
    # a subshell holds what it acquires; the seat is free when the subshell is killed
    script subshell $shell "(seat=\$(usher acquire $p); sh -c 'echo \$PPID' >\"$dir/sub\"; step got \$seat; :); step survived"
    reaches subshell 'got 0'
    read -r sub <"$dir/sub"
    held_by $p "$sub" || fail "$shell: not held by the subshell"
    kill -KILL "$sub"
    reaches subshell survived
    status 0 usher run -n $p true
    go subshell
    ends "$pid" 0
    # two subshells of one script: each releases only its own seat
    for name in one two; do
        rm -f "$dir/$name.gate" "$dir/$name.step"
        mkfifo "$dir/$name.gate"
    done
    script twins $shell "side() { echo \"\$2\" >\"$dir/\$1.step\"; until read -r go <\"$dir/\$1.gate\"; do :; done; }
        for n in one two; do
            (seat=\$(usher acquire twins-$shell -k 2); side \$n got; usher release twins-$shell; side \$n released; :) &
        done
        wait"
    reaches one got
    reaches two got
    now_is "twins-$shell" '.free == 0'
    go one
    reaches one released
    now_is "twins-$shell" '.free == 1 and (.holders | length) == 1'
    go two
    reaches two released
    now_is "twins-$shell" '.free == 2'
    go one
    go two
    ends "$pid" 0
done

# Several seats for one shell; release releases all of them.
script several sh "a=\$(usher acquire several -k 3); b=\$(usher acquire several); step \$a \$b; usher release several; step done"
eventually test -s "$dir/several.step"
[ "$(tr ' ' '\n' <"$dir/several.step" | sort -u | wc -l)" -eq 2 ] || fail "the same seat twice"
now_is several '.free == 1 and (.holders | map(.pid) | unique | length) == 1'
go several
reaches several 'done'
now_is several '.free == 3'
go several
ends "$pid" 0

# A command that the shell runs while it holds the only seat does not wait for itself.
status 0 usher create inside -k 1
script inside sh 'seat=$(usher acquire inside); usher run inside -- sh -c "echo \$USHER_SEAT" >"$USHER_TEST/ran"
    (usher run -n inside -- true) && step ran; usher release inside; step done'
reaches inside ran
[ "$(cat "$dir/ran")" = 0 ] || fail "not under the seat that the shell holds"
held_by inside "$pid" || fail "the command has given back its shell's seat"
status 75 usher run -n inside true
go inside
reaches inside 'done'
now_is inside '.free == 1'
go inside
ends "$pid" 0

rm "$dir/ran"
script exec sh 'seat=$(usher acquire inside); exec usher run inside -- sh -c "echo \$\$ >\"$USHER_TEST/ran\"; read go <\"$USHER_TEST/exec.gate\""'
eventually is_not_empty "$dir/ran"
[ "$(cat "$dir/ran")" = "$pid" ] || fail "the command is not what the shell has become"
held_by inside "$pid" || fail "the command has given back what its shell held"
let_go exec
ends "$pid" 0
status 0 usher run -n inside true

# --for PID.
sleep 1000 &
other=$!
status 0 usher acquire -k 1 other --for $other
prints 0
held_by other $other || fail "not held by the named process"
status 75 usher release other
says "other" "holds no seat"
held_by other $other || fail "given back by a process that does not hold it"
status 0 usher release other --for $other
prints ""
now_is other '.free == 1'
status 75 usher release other --for $other
says "$other" "holds no seat"
status 0 usher acquire --for $other other
kill -KILL $other
wait $other 2>/dev/null || :
status 0 usher run -n other true
status 64 usher acquire other --for $other # it is dead
says "$other"
[ ! -s "$dir/out" ] || fail "a refused acquire printed $(cat "$dir/out")"
now_is other '.free == 1'
for bad in 0 x -1 1.5 99999999999 ''; do
    status 64 usher acquire other --for "$bad"
    says --for
done

# --export: the variables of the seat; a pool whose name needs quotes.
odd="it's \$HOME"
script exported sh "eval \"\$(usher acquire -k 1 --export \"$dir/odd name\")\"; echo \"\$USHER_POOL\" >\"\$USHER_TEST/name\"
    step \$USHER_SEAT \$USHER_SEATS \$USHER_TICKET \$USHER_FENCE"
eventually is_not_empty "$dir/exported.step"
usher status "$dir/odd name" --json | jq -r '.holders[0] | "0 1 \(.ticket) \(.ticket)"' >"$dir/wanted"
diff "$dir/wanted" "$dir/exported.step" || fail "the variables differ from what the pool says"
[ "$(cat "$dir/name")" = "$dir/odd name" ] || fail "the name has changed"
go exported
ends "$pid" 0
status 0 usher acquire -k 1 --export --signal TERM "$odd" --for $$
[ "$(sh -c "$(cat "$dir/out"); echo \"\$USHER_POOL\"")" = "$odd" ] || fail "quotes are not quoted"
status 0 usher release "$odd" --for $$

# No such pool, no free seat, wrong operands.
status 66 usher release nosuch
says nosuch
status 64 usher acquire
says "give one pool"
status 64 usher acquire a b
says "give one pool"
status 64 usher release
says "give one pool"
hold holder other
holder=$pid
is_in holder
status 75 usher acquire -n other
prints ""
status 75 usher acquire -w 0.05 other
prints ""
status 9 usher acquire -n -E 9 other
status 78 usher acquire -k 4 other
says "1 seat" 4 "usher resize"
now_is other '.waiters == []'
let_go holder
ends "$holder" 0

# Without /proc the death of a holder could not be proved: refused, and nothing is printed.
if grep -q __asan_init "$build/usher"; then
    echo "SKIPPED: the address sanitizer needs /proc"
elif unshare -m true 2>/dev/null; then
    status 71 unshare -m sh -c 'mount -t tmpfs none /proc && usher acquire other --for $$'
    says other "cannot hold a seat" /proc
    [ ! -s "$dir/out" ] || fail "a refused acquire printed $(cat "$dir/out")"
    now_is other '.free == 1'
else
    echo "SKIPPED: may not make a mount namespace here"
fi

# If the number cannot be printed, the seat is released, and no other seat of the holder.
status 0 usher run -k 1 full true
got=0
usher acquire full >/dev/full 2>"$dir/said.err" || got=$?
[ $got -eq 71 ] || fail "acquire to a full disk ended with $got"
says "No space left"
now_is full '.free == 1'
got=0
usher acquire full >&- 2>"$dir/said.err" || got=$?
[ $got -eq 71 ] || fail "acquire without a standard output ended with $got"
says usher
now_is full '.free == 1'
status 0 usher acquire two -k 2 --for $$
got=0
usher acquire two --for $$ >/dev/full 2>"$dir/said.err" || got=$?
[ $got -eq 71 ] || fail "acquire to a full disk ended with $got"
now_is two ".free == 1 and .holders[0].pid == $$"
status 0 usher release two --for $$

echo "$checks checks passed"
