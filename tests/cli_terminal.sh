#!/bin/sh
# usher on a terminal: keys, job control, the line that a wait shows. Terminals are made by script(1). usage: cli_terminal.sh BUILD
# shellcheck source=tests/cli_support.sh disable=SC1091
. "$(dirname "$0")/cli_support.sh"
status 0 usher create p -k 1
status 0 usher create q -k 1
command -v script >/dev/null || { echo "SKIPPED: there is no script(1) here"; exit 77; }
export TERM=dumb PS1='$ ' HISTFILE=/dev/null

# terminal NAME LINE: run LINE on a new terminal. Its output is in $dir/NAME.tty.
terminal() {
    at=$1
    rm -f "$dir/$at.keys"
    mkfifo "$dir/$at.keys"
    env --default-signal=INT,QUIT script -qefc "$2" /dev/null <>"$dir/$at.keys" >"$dir/$at.tty" 2>"$dir/$at.err" &
    terminal=$!
}
# keys TEXT: type it on the last terminal; TEXT is a format of printf.
keys() {
    # shellcheck disable=SC2059
    printf "$1" >"$dir/$at.keys"
}
has() {
    grep -aqE -e "$2" "$dir/$1.tty"
}
# shows PATTERN: the last terminal shows it, now or later.
shows() {
    eventually has "$at" "$1"
}
shows_not() {
    has "$at" "$1" && { cat -v "$dir/$at.tty" && fail "the terminal shows: $1"; }
    passed
}
# lines: how often the line of a wait was drawn.
lines() {
    tr '\r' '\n' <"$dir/$at.tty" | grep -ac 'usher: waiting for' || :
}
waits() { # POOL SECONDS: the first waiter has waited longer than this
    pool_is "$1" ".waiters[0].seconds > $2"
}
is_free() {
    pool_is "$1" '.holders == [] and .waiters == []'
}
holder_of() {
    usher status "$1" --json | jq '.holders[0].pid // empty'
}
# runs POOL COMMAND: the holder runs this command.
runs() {
    pool_is "$1" ".holders[0].command | startswith(\"$2 \")"
}
parent_of() {
    sed 's/.*) . //; s/ .*//' "/proc/$1/stat"
}
esc=$(printf '\033')
clear=$(printf '\r\033[K')

# An interactive shell: the command has the terminal, as without usher.
terminal shell "bash --norc --noprofile -i"
# shellcheck disable=SC2016
keys 'usher run p -- sh -c '\''read x; echo got-$x'\''\n'
eventually runs p sh
keys 'hello\n'
shows '^got-hello'
eventually is_free p
# Ctrl-C ends it, and is delivered once
# shellcheck disable=SC2016
keys 'usher run p sleep 1000; echo end-$?\n'
eventually runs p sleep
keys '\003'
eventually is_free p
# shellcheck disable=SC2016
keys 'echo status-$?\n'
shows '^status-130'
# shellcheck disable=SC2016
keys 'usher run p -- sh -c '\''trap "echo heard-it" INT; touch "$USHER_TEST/trapped"; until [ -e "$USHER_TEST/enough" ]; do sleep 0.01; done'\''\n'
eventually test -e "$dir/trapped"
keys '\003'
shows 'heard-it'
touch "$dir/enough"
eventually is_free p
# shellcheck disable=SC2016
keys 'echo next-$((1 + 1))\n'
shows '^next-2'
[ "$(tr '\r' '\n' <"$dir/shell.tty" | grep -ac 'heard-it$')" -eq 1 ] || fail "Ctrl-C was heard more than once"
# Ctrl-Z stops both, fg continues both
# shellcheck disable=SC2016
keys 'usher run p -- sh -c '\''read x; echo also-$x'\''\n'
eventually runs p sh
command=$(holder_of p)
wrapper=$(parent_of "$command")
eventually process_is "$wrapper" S
eventually process_is "$command" S
keys '\032'
eventually process_is "$command" T
eventually process_is "$wrapper" T
shows 'Stopped.*usher run p'
status 75 usher run -n p true
keys 'fg\n'
eventually process_is "$command" S
eventually process_is "$wrapper" S
keys '\032'
eventually process_is "$wrapper" T
keys 'fg\n'
eventually process_is "$command" S
keys 'this\n'
shows '^also-this'
eventually is_free p
# in the background it cannot read; in the foreground it can
# shellcheck disable=SC2016
keys 'usher run p -- sh -c '\''read x; echo later-$x'\'' &\n'
eventually runs p sh
command=$(holder_of p)
wrapper=$(parent_of "$command")
eventually process_is "$command" T
eventually process_is "$wrapper" T
keys 'fg\n'
eventually process_is "$command" S
eventually process_is "$wrapper" S
keys 'on\n'
shows '^later-on'
eventually is_free p
# bg continues a stopped job
mkfifo "$dir/bg.gate"
# shellcheck disable=SC2016
keys 'usher run p -- sh -c '\''read x <"$USHER_TEST/bg.gate"; echo went-$((5 + 5))'\''\n'
eventually runs p sh
command=$(holder_of p)
wrapper=$(parent_of "$command")
keys '\032'
eventually process_is "$wrapper" T
keys 'bg\n'
eventually process_is "$wrapper" S
let_go bg
shows 'went-10'
eventually is_free p

# Ctrl-C while waiting: it leaves the line.
hold holder p
is_in holder
keys 'usher run p true\n'
eventually line_has p 1
shows 'usher: waiting for p: 1st of 1 '
keys '\003'
eventually line_has p 0
# shellcheck disable=SC2016
keys 'echo waited-$?\n'
shows '^waited-130'
# Ctrl-Z while waiting: it keeps its place.
keys 'usher run p echo my-turn\n'
eventually line_has p 1
waiter=$(usher status p --json | jq '.waiters[0].pid')
keys '\032'
eventually process_is "$waiter" T
keys 'fg\n'
eventually process_is "$waiter" S
stands p 1 "$waiter" || fail "it has lost its place"
let_go holder
shows "^(.*$esc\\[K)?my-turn"
eventually is_free p
# shellcheck disable=SC2016
keys 'usher run p -- sh -c '\''kill -INT $$'\''; echo died-$?\nexit 0\n'
shows '^died-130'
ends $terminal 0

# Ctrl-C ends a whole script, not only its command, while running and while waiting.
terminal script "bash -c 'usher run p sleep 1000; echo went on'"
eventually runs p sleep
keys '\003'
ends $terminal 130
shows_not 'went on'
hold holder p
is_in holder
terminal script "bash -c 'usher run p true; echo went on'"
eventually line_has p 1
keys '\003'
ends $terminal 130
shows_not 'went on'
now_is p '.waiters == []'

# The line of a wait: the place, the longest holder and how long it has held; removed at the end.
terminal line 'usher run p echo got-it'
shows "usher: waiting for p: 1st of 1 \((longest holder:|held by) sh -c.*, pid $command, [0-9]+ m?s\)"
first=$(lines)
more_lines() {
    [ "$(lines)" -gt "$first" ]
}
eventually more_lines
let_go holder
ends $terminal 0
grep -aqF "${clear}got-it" "$dir/line.tty" || { cat -v "$dir/line.tty" && fail "the line is not cleared"; }
# a waiter in front leaves: the line is updated
hold holder q
is_in holder
hold before q
before=$pid
eventually stands q 1 "$before"
terminal line 'usher run q echo got-it'
shows 'usher: waiting for q: 2nd of 2 '
kill -TERM "$before"
ends "$before" 143
shows 'usher: waiting for q: 1st of 1 '
shows_not 'about' # no history yet, no estimate
kill -TERM "$(usher status q --json | jq '.waiters[0].pid')"
ends $terminal 143
tail -c 4 "$dir/line.tty" | grep -aqF "$clear" || { cat -v "$dir/line.tty" && fail "the line is not cleared"; }
let_go holder
# with a history there is an estimate
for _ in 1 2; do
    status 0 usher run q sleep 0.4
done
hold holder q
is_in holder
for n in 1 2 3 4 5; do
    begin before.$n usher run q true
    eventually stands q $n "$pid"
done
terminal line 'usher run q echo got-it'
shows 'usher: waiting for q: 6th of 6, about [0-9]+ s \((longest holder:|held by) '
let_go holder
ends $terminal 0

# No line without a terminal, with -q, or in a short wait.
hold holder q
is_in holder
terminal quiet 'usher run -q q echo got-it'
quiet=$terminal
eventually line_has q 1
begin away usher run q echo got-it
away=$pid
eventually waits q 1.5
let_go holder
ends $quiet 0
ends "$away" 0
[ "$(tr -d '\r' <"$dir/quiet.tty")" = got-it ] || { cat -v "$dir/quiet.tty" && fail "something is shown with -q"; }
[ ! -s "$dir/away.err" ] || fail "something is said away from a terminal"
hold holder q
is_in holder
terminal short 'usher run -v q echo got-it'
eventually line_has q 1
let_go holder
ends $terminal 0
shows '^.*usher: pool q: got seat 0 with ticket [0-9]+ after [0-9.]+ m?s'
shows 'usher: pool q: released seat 0 after [0-9.]+ m?s'
if has short 'with ticket [0-9]+ after [0-4]?[0-9]?[0-9] ms'; then
    shows_not 'usher: waiting for'
fi

# The line is never wider than the terminal, whatever the length of the name.
long=$(printf '%0200d' 0)
hold holder "$long" -k 1
is_in holder
terminal wide "usher run $long echo got-it"
shows "^.*usher: waiting for \.\.0+: 1st of 1 \(held by (sh.*, )?pid $command, [0-9]+ m?s\)"
name=$long
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
    name=../pools/$name
done
terminal wide "usher run $USHER_DIR/$name echo got-it"
shows "^.*usher: waiting for \.\.0+: 2nd of 2 \(held by (sh.*, )?pid $command, [0-9]+ m?s\)"
[ "$(tr '\r' '\n' <"$dir/wide.tty" | sed "s/$esc\\[K//" | wc -L)" -lt 80 ] || fail "wider than the terminal"
let_go holder
ends $terminal 0
hold holder q
is_in holder
terminal narrow 'stty cols 30; exec usher run q echo got-it'
shows 'usher: waiting for q: 1st of'
[ "$(tr '\r' '\n' <"$dir/narrow.tty" | sed "s/$esc\\[K//" | wc -L)" -lt 30 ] || fail "wider than the terminal"
let_go holder
ends $terminal 0

echo "$checks checks passed"
