#!/bin/sh
# usher top in a real terminal (tmux), with pools that real processes use.
# usage: top_test.sh BUILD
set -eu
command -v tmux >/dev/null || { echo "no tmux here"; exit 77; }
usher=$1/usher
# Under the thread sanitizer vfork is a fork, and usher run cannot assign its seat.
if grep -q __tsan_init "$usher"; then
    echo "usher run does not work under the thread sanitizer"
    exit 77
fi
dir=$(mktemp -d)
export USHER_DIR="$dir/pools" TMUX_TMPDIR="$dir" LC_ALL=C.UTF-8
unset TMUX NO_COLOR
mkdir -m 700 "$USHER_DIR"
started=""
checks=0

terminal() {
    tmux -L top -f /dev/null -u "$@"
}

clean() {
    terminal kill-server 2>/dev/null || true
    for pid in $started; do
        kill -CONT "$pid" 2>/dev/null || true
        kill "$pid" 2>/dev/null || true
    done
    wait
    rm -rf "$dir"
}
trap clean EXIT
trap 'exit 1' INT TERM HUP

fail() {
    echo "FAILED: $*; the screen:" >&2
    terminal capture-pane -p >&2 || true
    exit 1
}

# until_true WHAT COMMAND..: wait until the command succeeds, up to a minute.
until_true() {
    what=$1
    shift
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] || fail "not so after a minute: $what"
        sleep 0.1
    done
    checks=$((checks + 1))
}

screen_has() {
    terminal capture-pane -p | grep -qE -- "$1"
}

screen_lacks() {
    ! screen_has "$1"
}

# shows REGEX, hides REGEX: wait until a line of the screen matches; until none does.
shows() {
    until_true "the screen shows '$1'" screen_has "$1"
}

hides() {
    until_true "the screen does not show '$1'" screen_lacks "$1"
}

# Are there matching lines, in this order?
screen_has_order() {
    terminal capture-pane -p | awk -v a="$1" -v b="$2" \
        '$0 ~ a && !x { x = NR } $0 ~ b && !y { y = NR } END { exit !(x && y && x < y) }'
}

order() {
    until_true "'$1' is above '$2'" screen_has_order "$1" "$2"
}

press() {
    terminal send-keys "$@"
}

# hold POOL ..: usher run in the background; its process is $last.
hold() {
    "$usher" run "$@" &
    last=$!
    started="$started $last"
}

counts() {
    "$usher" status "$1" 2>/dev/null | grep -qE "$2"
}

# sleeps: how many times usher top has gone to sleep; it draws before it sleeps.
sleeps() {
    awk '/^voluntary_ctxt_switches/ { print $2 }' "/proc/$(cat "$dir/pid")/status"
}

has_slept() {
    [ "$(sleeps)" -ge "$1" ]
}

# begin POOL..: start usher top in the shell of the terminal. Its pid is in $dir/pid.
begin() {
    rm -f "$dir/pid"
    press "clear; stty -g >$dir/before; sh -c 'echo \$\$ >$dir/pid; exec $usher top $*'" Enter
    shows 'q quit$'
}

# left STATUS: usher top ended with this status, and the terminal is restored.
left() {
    shows '^\$ *$'
    rm -f "$dir/after"
    press "echo \$? >$dir/status; stty -g >$dir/after" Enter
    until_true "the shell is back" test -s "$dir/after"
    [ "$(cat "$dir/status")" = "$1" ] || fail "it left with $(cat "$dir/status"), not $1"
    cmp -s "$dir/before" "$dir/after" || fail "the terminal's modes are not what they were"
    [ "$(terminal display-message -p '#{alternate_on} #{cursor_flag} #{keypad_cursor_flag}')" = \
        "0 1 0" ] || fail "the terminal is not as it was"
}

# Without a terminal; an unknown pool; help.
code=0
"$usher" top </dev/null >"$dir/out" 2>&1 || code=$?
[ $code -eq 64 ] || fail "without a terminal it ends with $code"
grep -q 'not a terminal' "$dir/out" || fail "without a terminal it says: $(cat "$dir/out")"
code=0
"$usher" top --nosuch >"$dir/out" 2>&1 || code=$?
[ $code -eq 64 ] || fail "with an unknown option it ends with $code"
"$usher" help top >"$dir/out" || fail "help top"
[ "$(wc -L <"$dir/out")" -le 84 ] || fail "help top has long lines"

# builds: two holders, two waiters; gpu: one of three seats held; rest: unused.
hold builds -k 2 -- sleep 1001
until_true "a holder" counts builds ' 1 free'
hold builds -- sleep 1002
until_true "two holders" counts builds ' 0 free'
hold builds -- sleep 1003
until_true "a waiter" counts builds ' 1 waiting'
hold -q builds -k 2 -- sleep 1004
waiter=$last
until_true "two waiters" counts builds ' 2 waiting'
hold gpu --labels red,green,blue -- sleep 1005
until_true "a card" counts gpu ' 2 free'
"$usher" create rest -k 7

terminal new-session -d -x 80 -y 24 "env ENV= PS1='\$ ' sh -i"
shows '^\$ *$'
press "$usher top nosuch; echo \"ended with \$?\"" Enter
shows '^usher: pool nosuch: '
shows '^ended with 66'
press "TERM=dumb $usher top; echo \"dumb: \$?\"" Enter
shows '^dumb: 64'

# What it shows.
begin
shows '^usher top: 3 pools'
shows '^> builds +2 +0 +2 '
shows '^  gpu +3 +2 +0 '
shows '^  rest +7 +7 +0 '
shows '^builds: 2 seats, 0 free, 2 waiting'
shows '^  0 +[0-9]+ .* sleep 1001$'
shows '^  1 +[0-9]+ .* sleep 1002$'
shows '^  1 next +[0-9]+ .* sleep 1003$'
shows '^  2 +[0-9]+ .* sleep 1004$'
order 'sleep 1002' 'sleep 1003'
shows 'q quit$'
kill -STOP "$waiter"
shows '^  2 .*\(stopped\) sleep 1004$'
kill -CONT "$waiter"
hides 'stopped'

# Keys: selecting, sorting, help.
press j
shows '^> gpu'
shows '^gpu: 3 seats, 2 free'
shows '^  0 +red +[0-9]+ .* sleep 1005$'
shows '^  1-2 +free'
press Down
shows '^> rest'
shows '^  no waiters'
press j k Up
shows '^> builds'
press f
order '^  rest' '^  gpu'
order '^  gpu' '^> builds'
press w
order '^> builds' '^  gpu'
press n
order '^  gpu' '^  rest'
press t
order 'sleep 1001' 'sleep 1002'
press s
press C-s '?' # Ctrl-S must not stop the output
shows 'waiters in line'
press x
shows '^builds: 2 seats'

# Pools are created, removed and replaced.
"$usher" create another -k 5
shows '^  another +5 +5 '
shows '^> builds'
"$usher" remove another
hides 'another'
press End
shows '^> rest'
"$usher" remove rest
shows '^> gpu'
press Home
"$usher" create rest -k 9
shows '^  rest +9 +9 '
rm "$USHER_DIR/rest"
"$usher" create rest -k 4
shows '^  rest +4 +4 '
echo "not a pool" >"$USHER_DIR/junk"
shows '^  junk .*pool'
rm "$USHER_DIR/junk"
hides 'junk'

# The line moves on, and served seats are counted.
"$usher" resize builds 3
shows '^builds: 3 seats, 0 free, 1 waiting'
shows '^  2 +[0-9]+ .* sleep 1003$'
for _ in 1 2 3; do "$usher" run rest -- true; done
shows '^  rest +4 +4 +0 +3 .* ms +3$'

# Every size.
terminal resize-window -x 40 -y 10
shows '^  POOL +SEATS +FREE +WAITING$'
shows '^builds: 3 seats'
shows '^  1 next +[0-9]+ '
terminal resize-window -x 20 -y 5
hides 'WAITING'
shows '^> builds'
for size in 1x1 2x3 80x1 3x50; do
    sleeps=$(sleeps)
    terminal resize-window -x "${size%x*}" -y "${size#*x}"
    press j k '?' '?'
    until_true "it draws at $size" has_slept $((sleeps + 2)) # the checks below show that it survived
done
terminal resize-window -x 120 -y 12
shows '^  POOL .*SERVED$'
shows '1 to 2 of 3, PgDn'
press NPage
shows '2 to 3 of 3, PgUp'
terminal resize-window -x 80 -y 24
shows 'sleep 1001$'
shows 'q quit$'
press q
left 0

# Named pools stay on the screen.
"$usher" create named -k 1
begin named gpu
shows '^usher top: 2 pools *[0-9:]*$'
press Home
"$usher" remove named
shows '^  named +[a-z]|^> named +[a-z]'
"$usher" create named -k 6
shows 'named +6 +6 '
press q
left 0

# Ended by signals, and stopped from the keyboard.
for ending in TERM:143 INT:130 HUP:129 QUIT:131; do
    begin
    kill -s "${ending%:*}" "$(cat "$dir/pid")"
    left "${ending#*:}"
done
begin
press C-z
left 148
terminal resize-window -x 60 -y 20
press "fg" Enter
shows '^\? help q quit$'
shows '^> builds'
press C-c
left 130

echo "$checks checks passed"
