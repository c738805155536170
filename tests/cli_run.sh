#!/bin/sh
# usher run: the environment of the command, names of pools, errors. usage: cli_run.sh BUILD
# shellcheck source=tests/cli_support.sh disable=SC1091
# shellcheck disable=SC2016
. "$(dirname "$0")/cli_support.sh"

# The environment of the command.
show='echo "$USHER_POOL $USHER_SEAT $USHER_SEATS $USHER_TICKET ${USHER_LABEL-none}"'
status 0 usher run env -k 3 -- sh -c "$show"
prints "env 0 3 1 none"
status 0 usher run env -c "$show"
prints "env 0 3 2 none"
status 0 usher run "$USHER_DIR/env" -- sh -c 'echo "$USHER_POOL"'
prints "$USHER_DIR/env"
status 0 usher run labels --labels red,green -- sh -c "$show"
prints "labels 0 2 1 red"
hold holder labels --labels red,green
holder=$pid
is_in holder
status 0 usher run --labels red,green labels --env CARD -- sh -c "$show; echo \$CARD"
prints "labels 1 2 3 green
green"
status 0 usher run --env CARD labels -- sh -c 'echo "$CARD ${USHER_LABEL-none}"' # the labels are the pool's
prints "green green"
status 78 usher run --labels red,blue labels true
says labels red,green red,blue
now_is labels '.holders[0].label == "red"'
let_go holder
ends "$holder" 0
status 0 env USHER_LABEL=stale USHER_SEAT=9 CARD=mine usher run env -- sh -c 'echo "$USHER_SEAT ${USHER_LABEL-none} $CARD"'
prints "0 none mine"
status 0 usher run --env USHER_SEAT --labels 'a b' blank -- sh -c 'echo "$USHER_SEAT"'
prints "a b"
# nothing else is added or removed
env | sed 's/=.*//' | sort >"$dir/without"
status 0 usher run env -- env
sed 's/=.*//' "$dir/out" | sort | comm -3 "$dir/without" - | tr -d '\t' | tr '\n' ' ' >"$dir/new"
[ "$(cat "$dir/new")" = "USHER_FENCE USHER_HELD USHER_POOL USHER_SEAT USHER_SEATS USHER_TICKET " ] || fail "new in the environment: $(cat "$dir/new")"
passed
# arguments, directory and input of the command
status 0 usher run env printf '%s\n' -k -n --labels ''
prints "-k
-n
--labels"
status 127 usher run env -- -x
(cd / && status 0 usher run env pwd && prints /)
status 0 usher run env -c 'echo "$0"; exit 0'
echo hello >"$dir/in"
got=$(usher run env cat <"$dir/in")
[ "$got" = hello ] || fail "the command does not read standard input"
status 3 env SHELL=/bin/sh usher run env -c 'exit 3'
status 3 env -u SHELL usher run env -c 'exit 3'

# Descriptors: those of the caller, and that of the pool.
(cd "$dir" && exec 5<in 9>nine && find /proc/self/fd -mindepth 1 -printf '%f %l\n' | grep -v /proc/ | sort >without-fds &&
    usher run env -- find /proc/self/fd -mindepth 1 -printf '%f %l\n' | grep -v /proc/ | sort >with-fds) </dev/null
comm -13 "$dir/without-fds" "$dir/with-fds" | sed 's/^[0-9]* //' | grep -v '^pipe:' >"$dir/more-fds" || :
[ "$(cat "$dir/more-fds")" = "$USHER_DIR/env" ] || fail "descriptors: $(cat "$dir/more-fds")"
grep -q "^5 $dir/in" "$dir/with-fds" || fail "a descriptor of the caller's is gone"
status 0 usher run env -- usher run env -- usher run blank -- find /proc/self/fd -lname "$USHER_DIR/*" -printf '%l\n'
[ "$(sort "$dir/out" | tr '\n' ' ')" = "$USHER_DIR/blank $USHER_DIR/env " ] || fail "descriptors inside two seats: $(cat "$dir/out")"

# Closed standard descriptors: they stay closed, and nothing is written into the pool instead.
for closed in '<&-' '>&-' '2>&-' '<&- >&-' '>&- 2>&-' '<&- >&- 2>&-'; do
    for verbose in '' -v; do
        for command in true 'sh -c "echo out; echo err >&2; :"'; do
            rm -f "$USHER_DIR/closed"
            got=0
            timeout "$limit" sh -c "usher run -k 1 $verbose closed -- $command $closed" >/dev/null 2>"$dir/said.err" || got=$?
            [ $got -eq 0 ] || fail "with $closed: $got"
            status 0 usher doctor closed
            now_is closed '.free == 1 and .served == 1'
        done
    done
    (eval "usher run closed -- sh -c 'ls -l /proc/\$\$/fd >\"$dir/fds\"' $closed") 2>/dev/null
    grep -qE ' [0-2] -> .*/closed' "$dir/fds" && fail "with $closed the pool is a standard descriptor"
    case $closed in *'2>&-'*) ! grep -q ' 2 ->' "$dir/fds" || fail "with $closed: 2 is open" ;; esac
    passed
done

# Output to a full disk: an error.
for verb in status "status --json" "status env" "doctor env" help "help run" "help exit" --version; do
    got=0
    # shellcheck disable=SC2086
    usher $verb >/dev/full 2>"$dir/said.err" || got=$?
    [ $got -eq 71 ] || fail "usher $verb to a full disk ended with $got"
    says "No space left"
done
got=0
usher run env true >/dev/full 2>"$dir/said.err" || got=$?
[ $got -eq 0 ] || fail "usher run, which prints nothing, ended with $got"

# Commands that cannot be executed; no seat is lost.
printf 'exit 7\n' >"$dir/no-interpreter"
printf '#!/no/such/interpreter\n' >"$dir/bad-interpreter"
printf '#!/bin/sh\nexit 8\n' >"$dir/not-executable"
printf '\0\0\0\0' >"$dir/no-program"
chmod +x "$dir/no-interpreter" "$dir/bad-interpreter" "$dir/no-program"
for _ in 1 2 3; do
    status 127 usher run env no-such-command
    says no-such-command "not found"
    status 127 usher run env /no/such/command
    status 127 usher run env ''
    status 127 usher run env "$dir/bad-interpreter"
    status 126 usher run env "$dir/not-executable"
    says not-executable "Permission denied"
    status 126 usher run env /
    says "/"
    status 126 usher run env "$dir"
    status 7 usher run env "$dir/no-interpreter" # as a shell runs it
    now_is env '.free == 3 and .holders == []'
done
status 126 usher run env -c "exec $dir/not-executable"
status 127 usher run env -c 'no-such-command'

# Names.
for name in plain 'with space' 'ümläut' '日本' '🎭' '%s%n' "it's" '"' 'a\b' '*' '$HOME' '~' 'a:b' '=' "$(printf '%0200d' 0)"; do
    status 66 usher run "$name" true
    says "no such pool" "-k SEATS"
    [ ! -e "$USHER_DIR/$name" ] || fail "$name was created"
    status 0 usher run -k 1 "$name" true
    prints ""
    status 0 usher status "$name" --json
    jq -e --arg name "$name" '.pool == $name and .served == 1' "$dir/out" >/dev/null || { cat "$dir/out" && fail "status of $name"; }
    [ -f "$USHER_DIR/$name" ] || fail "no file $name"
    status 0 usher status "$name"
    status 0 usher doctor "$name"
    status 0 usher remove "$name"
    [ ! -e "$USHER_DIR/$name" ] || fail "$name is still there"
done
latin=$(printf 'caf\351')
status 0 usher run -k 1 "$latin" true
status 0 usher status "$latin" --json
jq -e 'has("pool") and has("path") and .served == 1' "$dir/out" >/dev/null || fail "a name that is not UTF-8 has no document"
status 0 usher remove "$latin"
for name in '' . .. .hidden "$(printf '%0201d' 0)" "$(printf '%0256d' 0)" "$(printf 'new\nline')" "$(printf 'tab\there')" \
    "$(printf 'escape\033[31m')" "$(printf 'bell\a')" "$(printf 'delete\177')" "$dir/" "$dir/." "$dir/.."; do
    status 64 usher run "$name" true
    says pool
    grep -q "$(printf '[\001-\011\013-\037\177]')" "$dir/said.err" && fail "the message has control characters in it"
    status 64 usher create -k 1 "$name"
    status 64 usher status "$name"
    status 64 usher doctor "$name"
    status 64 usher remove "$name"
done
status 0 usher run -k 1 -- -dash true
status 0 usher status -- -dash
status 0 usher remove -- -dash
status 64 usher run -dash true
status 0 usher run -k 1 "$dir/path" true
status 0 usher status "$dir/path"
[ -f "$dir/path" ] || fail "a name with a slash is not a path"
(cd "$dir" && status 0 usher run ./path true && status 0 usher remove ./path)
status 73 usher run -k 1 "$dir/no/such/directory" true
status 66 usher run "$dir/no/such/directory" true
status 66 usher status "$dir/no/such/directory"
mkdir "$USHER_DIR/directory"
status 69 usher run directory true
rmdir "$USHER_DIR/directory"
ln -s env "$USHER_DIR/link"
status 69 usher run link true
says "symbolic link"
rm "$USHER_DIR/link"
mkfifo "$USHER_DIR/fifo"
status 69 usher run fifo true
rm "$USHER_DIR/fifo"

# A different number of seats; -n and -w; the line is empty afterwards.
hold one number -k 2
one=$pid
is_in one
hold two number
two=$pid
is_in two
status 78 usher run -k 3 number true
says number "2 seats" 3 "usher resize number 3"
for options in -n '-w 0' '-w 0.05' '-w 50ms' '-w 0.0005m' --nonblock '--wait 0.01s'; do
    # shellcheck disable=SC2086
    status 75 usher run $options number touch "$dir/ran"
    prints ""
    # shellcheck disable=SC2086
    status 9 usher run $options -E 9 number touch "$dir/ran"
    # shellcheck disable=SC2086
    status 0 usher run $options -E 0 number touch "$dir/ran"
    now_is number '.waiters == [] and .free == 0'
done
[ ! -e "$dir/ran" ] || fail "a command has run without a seat"
now_is number '.gave_up == 12' # four options that wait, three times each
status 75 usher run -v -w 0.05 number true
says "no seat became free in"
status 75 usher run -v -n number true
says "no seat is free"
let_go one
let_go two
ends "$one" 0
ends "$two" 0
status 0 usher run -n number true
status 0 usher run -w 0 number true
# a waiter with enough time gets a seat
hold one number
one=$pid
is_in one
hold two number
two=$pid
is_in two
begin patient usher run -w "$limit" number sh -c 'exit 6'
patient=$pid
eventually stands number 1 "$patient"
status 75 usher run -n number true
let_go one
ends "$patient" 6
let_go two
ends "$one" 0
ends "$two" 0

# One more than the pool has guests.
status 0 usher create guests -k 1 --guests 2
hold one guests
one=$pid
is_in one
hold two guests
two=$pid
eventually stands guests 1 "$two"
status 69 usher run guests true
says guests "full: 2 of 2 guest rows"
status 69 usher run -n guests true
status 69 usher acquire guests
now_is guests "(.holders | length) == 1 and (.waiters | map(.pid)) == [$two]"
let_go one
ends "$one" 0
is_in two
let_go two
ends "$two" 0
status 0 usher run guests true

# -v prints two lines; without it, none.
status 0 usher run env true
prints ""
status 0 usher run -v env true
[ "$(wc -l <"$dir/said.err")" -eq 2 ] || fail "-v says more or less than two lines"
grep -qE '^usher: pool env: got seat 0 with ticket [0-9]+ after [0-9.]+ (ms|s)$' "$dir/said.err" || fail "-v does not say which seat it got"
grep -qE '^usher: pool env: released seat 0 after [0-9.]+ (ms|s)$' "$dir/said.err" || fail "-v does not say how long it was held"

echo "$checks checks passed"
