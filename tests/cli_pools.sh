#!/bin/sh
# usher status, create, resize, remove, doctor. usage: cli_pools.sh BUILD
# shellcheck source=tests/cli_support.sh disable=SC1091
. "$(dirname "$0")/cli_support.sh"

# json EXPRESSION: true of the list of all printed documents.
json() {
    jq -es "$1" "$dir/out" >/dev/null || { cat "$dir/out" && fail "not so: $1"; }
    passed
}
narrow() {
    [ "$(wc -L <"$dir/out")" -le 80 ] || { cat "$dir/out" && fail "a line of more than 80 columns"; }
    passed
}

# No pools, no directory.
status 0 usher status
prints "no pools in $USHER_DIR"
status 0 usher status --json
prints ""
status 0 env USHER_DIR="$dir/nowhere" usher status
[ ! -e "$dir/nowhere" ] || fail "status has made a directory"
status 66 usher status nosuch
says nosuch
status 66 usher status --json nosuch
[ ! -s "$dir/out" ] || fail "a document of no pool"

# create: once, with the given mode.
status 0 usher create builds -k 3
prints ""
status 73 usher create builds -k 3
says builds "already"
status 73 usher create builds -k 5
status 0 usher create -k 1 --guests 7 --mode 640 small
[ "$(stat -c %a "$USHER_DIR/small")" = 640 ] || fail "not the mode that was asked for"
[ "$(stat -c %a "$USHER_DIR/builds")" = 600 ] || fail "not only for its owner"
status 0 usher create "$dir/elsewhere" -k 2
status 0 usher remove "$dir/elsewhere"
status 73 usher create "$dir/no/such/directory" -k 1

# status: the documented fields, one document per pool.
hold holder builds --labels red,green,blue
holder=$pid
is_in holder
red=$command
hold second builds
second=$pid
is_in second
sleep 1000 &
sleeper=$!
status 0 usher acquire builds --for $sleeper
hold waiter builds
waiter=$pid
eventually stands builds 1 "$waiter"
status 0 usher status builds --json
json 'length == 1'
json '.[0] | keys_unsorted == ["pool","path","seats","free","holders","waiters","served","gave_up","reaped"]'
json '.[0].holders | length == 3 and
    all(keys_unsorted == ["seat","label","pid","ticket","command","seconds","alive"])'
json '.[0].waiters | length == 1 and all(keys_unsorted == ["position","pid","ticket","command","seconds"])'
json ".[0] | .pool == \"builds\" and .path == \"$USHER_DIR/builds\" and .seats == 3 and .free == 0"
json ".[0].holders[0] | .seat == 0 and .label == \"red\" and .pid == $red and .ticket == 1 and .alive == true and
    .seconds > 0 and (.command | startswith(\"sh -c echo\"))"
json ".[0].holders | .[1].seat == 1 and .[1].label == null and .[2].seat == 2 and .[2].pid == $sleeper"
json ".[0].waiters[0] | .position == 1 and .pid == $waiter and .ticket == 4 and .seconds > 0 and
    (.command | startswith(\"usher run -- builds sh -c\"))"
status 0 usher status --json
json 'map(.pool) == ["builds","small"]'
for line in "builds small --json" "builds --json small" "--json builds small"; do
    # shellcheck disable=SC2086
    status 0 usher status $line
    json 'map(.pool) == ["builds","small"]'
done
status 66 usher status --json builds nosuch small # the existing ones are shown
json 'map(.pool) == ["builds","small"]'
# the table
status 0 usher status builds
narrow
grep -qE '^builds: 3 seats, 0 free, 1 waiting; [0-9]+ served, 0 gave up, 0 reaped$' "$dir/out" || fail "the first line: $(head -n 1 "$dir/out")"
grep -qE "^  0 +red +$red +[0-9.]+ m?s  sh -c echo" "$dir/out" || fail "the holder of seat 0 is not shown"
grep -qE "^  2 +$sleeper +[0-9.]+ m?s  " "$dir/out" || fail "the holder of seat 2 is not shown"
grep -qE "^  \+1 +$waiter +[0-9.]+ m?s  usher run" "$dir/out" || fail "the waiter is not shown"
status 0 usher status
narrow
[ "$(grep -cE ' seats?, ' "$dir/out")" -eq 2 ] || fail "not all pools are shown"
let_go holder
ends "$holder" 0
is_in waiter
status 0 usher release builds --for $sleeper
let_go second
let_go waiter
ends "$second" 0
ends "$waiter" 0

# Long, wide and invalid labels and commands: 80 columns, valid JSON, no control characters.
printf '#!/bin/sh\necho $$ >"%s/odd.in"\nread -r go <"%s/odd.gate"\n' "$dir" "$dir" >"$dir/odd"
chmod +x "$dir/odd"
long=$(printf '%0300d' 0)
many=$(printf '%0100d' 0 | sed 's/0/日本語/g')
for label in "$long" "$many" 'ünïcödé-läbel' "$(printf 'caf\351')" "$(printf 'red\033[31m\007\n\tx')" "$(printf '\360\237\216')"; do
    rm -f "$dir/odd.gate" "$dir/odd.in"
    mkfifo "$dir/odd.gate"
    case $label in
    *[[:cntrl:]]*) # refused; but a command can put it into its environment
        status 64 usher run --labels "$label" odd true
        says --labels
        begin odd usher run -k 1 odd -- env USHER_LABEL="$label" "$dir/odd" "$label"
        ;;
    *) begin odd usher run --labels "$label" odd -- "$dir/odd" "$label" ;;
    esac
    eventually is_not_empty "$dir/odd.in"
    status 0 usher status odd --json
    json '.[0].holders[0] | keys_unsorted == ["seat","label","pid","ticket","command","seconds","alive"] and
        (.label | length) > 0 and (.command | length) > 0'
    iconv -f UTF-8 -t UTF-8 "$dir/out" >/dev/null || fail "not UTF-8"
    status 0 usher status odd
    narrow
    iconv -f UTF-8 -t UTF-8 "$dir/out" >/dev/null || { cat "$dir/out" && fail "not UTF-8"; }
    [ "$(wc -l <"$dir/out")" -eq 3 ] || { cat "$dir/out" && fail "not three lines"; }
    grep -q "$(printf '[\001-\011\013-\037\177]')" "$dir/out" && fail "control characters in the table"
    let_go odd
    ends "$pid" 0
    status 0 usher remove odd
done
status 0 usher create a-name-of-thirty-two-characters. -k 1
status 0 usher status a-name-of-thirty-two-characters.
narrow
status 0 usher remove a-name-of-thirty-two-characters.

# resize: more seats at once, fewer as holders release them, none, and back.
status 0 usher create sized -k 1
hold one sized
one=$pid
is_in one
hold two sized
two=$pid
eventually stands sized 1 "$two"
hold three sized
three=$pid
eventually stands sized 2 "$three"
status 0 usher resize sized 3
prints ""
is_in two
is_in three
now_is sized '.seats == 3 and .free == 0 and .waiters == []'
status 0 usher resize sized 1
now_is sized '.seats == 1 and (.holders | length) == 3 and .free == 0'
status 0 usher status sized
grep -q 'shrinking by 2' "$dir/out" || fail "the table does not say that two seats go"
let_go one
ends "$one" 0
let_go two
ends "$two" 0
status 75 usher run -n sized true
let_go three
ends "$three" 0
now_is sized '.free == 1 and .holders == []'
status 0 usher run -n sized true
status 0 usher resize sized 0
status 75 usher run -n sized true
status 75 usher run -w 0.01 sized true
hold drained sized
drained=$pid
eventually stands sized 1 "$drained"
status 0 usher doctor sized
grep -q drained "$dir/out" || fail "doctor does not say that it is drained"
now_is sized '.seats == 0 and .free == 0'
status 0 usher resize sized 2
is_in drained
let_go drained
ends "$drained" 0
status 0 usher resize sized 2
now_is sized '.seats == 2 and .free == 2'
status 66 usher resize nosuch 1
[ ! -e "$USHER_DIR/nosuch" ] || fail "resize has made a pool"
status 64 usher resize sized 65534
says sized "cannot have 65534 seats, at most 1024"
now_is sized '.seats == 2'
status 0 usher run -k 2 sized true
status 78 usher run -k 1 sized true

# remove: not while in use, except with --force; then waiters get an error.
status 66 usher remove nosuch
hold inside sized
inside=$pid
is_in inside
status 69 usher remove sized
says sized "in use by 1 holder and 0 waiters" "--force"
hold other sized
other=$pid
is_in other
hold outside sized
outside=$pid
eventually stands sized 1 "$outside"
status 69 usher remove sized
says sized "in use by 2 holders and 1 waiter "
status 0 usher remove sized --force
prints ""
ends "$outside" 69
[ ! -e "$dir/outside.in" ] || fail "it has entered a pool that is removed"
grep -q 'sized: .*removed' "$dir/outside.err" || fail "its message does not say that the pool was removed"
[ ! -e "$USHER_DIR/sized" ] || fail "the pool is still there"
status 66 usher run -n sized true # there is none any more
status 0 usher run -n -k 1 sized true # a new one
now_is sized '.seats == 1'
let_go inside 4
let_go other
ends "$inside" 4
ends "$other" 0
status 0 usher remove --force sized
hold dead sized -k 1
is_in dead
kill -KILL "$pid" "$command"
ends "$pid" 137
eventually process_is "$command" ZX
status 0 usher remove sized # dead processes do not count

# doctor: a good pool; after all users were killed; a damaged pool; not a pool.
status 0 usher create sick -k 2
status 0 usher doctor sick
grep -q "^sick: $USHER_DIR/sick" "$dir/out" || fail "doctor does not name the pool"
for n in 1 2 3 4; do
    hold dead.$n sick
    eval "dead$n=$pid"
    if [ $n -le 2 ]; then
        is_in dead.$n
        eval "command$n=$command"
    else
        eventually stands sick $((n - 2)) "$pid"
    fi
done
# stop them first, so that none of them reaps the others
# shellcheck disable=SC2154
kill -STOP "$dead3" "$dead4"
# shellcheck disable=SC2154
kill -KILL "$dead1" "$dead2" "$dead3" "$dead4" "$command1" "$command2"
for process in "$dead1" "$dead2" "$dead3" "$dead4"; do
    ends "$process" 137
done
# shellcheck disable=SC2154
for process in "$command1" "$command2"; do
    eventually process_is "$process" ZX
done
status 0 usher doctor sick
grep -q 'Cleaned up after 4 dead guests' "$dir/out" || { cat "$dir/out" && fail "doctor does not count four dead"; }
grep -q '2 seats, 2 free, 0 waiting' "$dir/out" || { cat "$dir/out" && fail "doctor has not finished what they left"; }
now_is sick '.free == 2 and .holders == [] and .waiters == [] and .reaped == 4'
status 0 usher doctor sick
grep -q 'No dead processes to clean up' "$dir/out" || fail "doctor finds the dead twice"
# damaged seats and rows
size=$(stat -c %s "$USHER_DIR/sick")
seats_at=$(od -An -t u8 -j 48 -N 8 "$USHER_DIR/sick" | tr -d ' ') # docs/pool-format.md
[ $((seats_at > 4096 && seats_at < size)) -eq 1 ] || fail "the seats are not at $seats_at"
cp "$USHER_DIR/sick" "$dir/whole"
damage() { # OFFSET BYTES
    cp "$dir/whole" "$USHER_DIR/sick"
    # shellcheck disable=SC2059
    printf "$2" | dd of="$USHER_DIR/sick" bs=1 seek="$1" conv=notrunc status=none
}
damage "$seats_at" '\001\000\000\000\000\000\000\020'
status 1 usher doctor sick
grep -q 'Seat 0 names guest row 4095' "$dir/out" || { cat "$dir/out" && fail "doctor does not say what is wrong"; }
grep -q "usher remove --force sick" "$dir/out" || fail "doctor does not say what to do"
damage $((seats_at + 8)) '\377\377\377\377\377\377\377\377'
status 1 usher doctor sick
grep -q 'Seat 1 names guest row 65534' "$dir/out" || { cat "$dir/out" && fail "doctor does not say what is wrong"; }
damage $((4096 + 64 + 8)) '\001\000\000\000\000\000\000\160' # the second row's seat hint
status 1 usher doctor sick
grep -q 'Guest row 1 names seat 28672' "$dir/out" || { cat "$dir/out" && fail "doctor does not say what is wrong"; }
status 0 usher status sick
status 0 usher remove --force sick
cp "$dir/whole" "$USHER_DIR/sick"
# A changed header, a truncated file, an empty file, another file: each is rejected with its own message; a
# file that was a pool can be removed with --force.
refused() { # TEXT EXIT-OF-REMOVE
    for verb in doctor status remove acquire release; do
        status 69 usher $verb sick
        says sick "$1"
    done
    status 69 usher resize sick 2
    says sick "$1"
    status 69 usher run sick true
    says sick "$1"
    status 73 usher create -k 1 sick
    status "$2" usher remove --force sick
    [ "$2" -eq 0 ] || says sick "$1"
}
damage 0 'X'
refused "not a pool" 69
damage 8 '\377'
refused "version" 0
damage 20 '\377'
refused "damaged" 0
damage 64 '\377\377'
refused "damaged" 0
head -c 5000 "$dir/whole" >"$USHER_DIR/sick"
refused "cut short" 0
: >"$USHER_DIR/sick"
refused "empty" 69
echo 'Dear diary' >"$USHER_DIR/sick"
refused "not a pool" 69
head -c 70000 /dev/urandom >"$USHER_DIR/sick"
refused "not a pool" 69
status 69 usher status # the others are shown
grep -q '^builds:' "$dir/out" || fail "the other pools are not shown"

echo "$checks checks passed"
