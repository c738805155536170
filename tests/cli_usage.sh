#!/bin/sh
# Wrong command lines, and help. usage: cli_usage.sh BUILD
# shellcheck source=tests/cli_support.sh disable=SC1091
. "$(dirname "$0")/cli_support.sh"

# wrong TEXT ARGUMENT..: exit status 64, one line of message with TEXT, and no pool is created.
wrong() {
    fault=$1
    shift
    status 64 usher "$@"
    [ ! -s "$dir/out" ] || fail "usher $*: it printed something"
    says "$fault"
    [ -z "$(ls -A "$USHER_DIR")" ] || fail "usher $*: it made a pool"
}

status 64 usher
[ ! -s "$dir/out" ] || fail "without a verb: something on standard output"
grep -q '^usage: usher VERB' "$dir/said.err" || fail "without a verb: no usage"
wrong "'nosuch'" nosuch
wrong "''" ''
wrong "'--nosuch'" --nosuch
wrong "'nosuch'" help nosuch

# unknown options, and options of other verbs
wrong "'--nosuch'" run --nosuch p true
wrong "'-z'" run -z p true
wrong "'-z'" run -nz p true
wrong "'-z'" run -zn p true
wrong "'-z'" run p -z true
wrong "'--json'" run --json p true
wrong "'--for'" run --for 1 p true
wrong "'--force'" run p --force true
wrong "'-k'" status -k 3 p
wrong "'-n'" status -nv
wrong "'--force'" status p --force
wrong "'--nosuch'" status p q --nosuch
wrong "'--env'" acquire p --env X
wrong "'--labels'" acquire --labels a,b p
wrong "'-w'" create p -k 1 -w 3
wrong "'-k'" remove p -k 2
wrong "'--json'" doctor p --json
wrong "'-w'" release p --wait=3
wrong "json=yes" status --json=yes

# missing and wrong values
wrong "--group needs a value" create p --group
for option in -k -w -E -c --labels --env --guests --mode --seats --wait; do
    wrong "$option needs a value" run "$option"
    wrong "$option needs a value" run p "$option"
done
wrong "--for needs a value" acquire p --for
for k in 0 x -1 1.5 '' ' 1' 65536 99999999999999999999 1x; do
    wrong "-k '$k'" run -k "$k" p true
    wrong "-k '$k'" create p -k "$k"
done
for w in x -1 '' 1x 1e 5y ' 1' nan inf '-w' 1e300; do
    wrong "-w '$w'" run -w "$w" p true
done
for e in 256 300 -1 x ''; do
    wrong "-E '$e'" run -E "$e" p true
done
for labels in '' ',' 'a,' ',a' 'a,,b'; do
    wrong "--labels '$labels'" run --labels "$labels" p true
    wrong "--labels '$labels'" create --labels "$labels" p
done
for variable in '' A=B =; do
    wrong "--env '$variable'" run --env "$variable" p true
done
for mode in x 888 '' 1777 0 060 -600 '600 ' 7777777777777777777777; do
    wrong "--mode '$mode'" create p -k 1 --mode "$mode"
done
for guests in 0 x 65536 -1 ''; do
    wrong "--guests '$guests'" create p -k 1 --guests "$guests"
done
wrong "-k 3, but --labels names 2" run -k 3 --labels a,b p true
wrong "-k 3, but --labels names 2" run p --labels a,b -k 3 true
wrong "more seats" create p -k 3 --guests 2

# missing operands, and too many
wrong "give a pool and a command" run
wrong "give a pool and a command" run p
wrong "give a pool and a command" run p --
wrong "give a pool and a command" run -c true
wrong "-c" run p -c true extra
wrong "-c" run p -c true -- extra
wrong "give one pool" acquire
wrong "give one pool" acquire p q
wrong "give one pool" release
wrong "give one pool" release p q
wrong "give one pool and -k" create
wrong "give -k SEATS" create p
wrong "give -k SEATS" create p --define
wrong "give one pool and -k" create -k 1
wrong "give one pool and -k" create -k 1 p q
wrong "give one pool and -k" create --all p
wrong "--define needs a name" create ./p -k 1 --define
wrong "--group 'no such group'" create p -k 1 --group 'no such group'
wrong "--group '0'" create p -k 1 --group 0
wrong "'--define'" run p --define true
wrong "'--group'" run p --group 1 true
wrong "number of seats" resize
wrong "number of seats" resize p
wrong "number of seats" resize p x
wrong "number of seats" resize p 1 2
wrong "number of seats" resize p 99999
wrong "-1" resize p -1
wrong "give one pool" remove
wrong "give one pool" remove p q
wrong "give one pool" doctor p q

# control characters in arguments do not reach the terminal
wrong nosuch "$(printf 'nosuch\033[31m')"
grep -q "$(printf '\033')" "$dir/said.err" && fail "a control character in the message"
status 64 usher run -k "$(printf '1\n2')" p true
says -k

# help
for verb in run acquire release status top create resize remove doctor; do
    status 0 usher help $verb
    cp "$dir/out" "$dir/help"
    grep -q "^usage: usher $verb" "$dir/out" || fail "help $verb does not begin with its usage"
    [ "$(wc -L <"$dir/out")" -le 84 ] || fail "help $verb has lines of more than 84 columns"
    [ "$(wc -l <"$dir/out")" -gt 2 ] || fail "help $verb says nothing"
    [ ! -s "$dir/said.err" ] || fail "help $verb says something on standard error"
    status 0 usher $verb --help
    cmp -s "$dir/help" "$dir/out" || fail "$verb --help is not help $verb"
    status 0 usher help
    grep -q "^  $verb  *[a-z]" "$dir/out" || fail "help does not list $verb"
done
status 0 usher --help
grep -q '^usage: usher VERB' "$dir/out" || fail "--help does not begin with the usage"
status 0 usher help exit
for code in 0 1 64 66 69 70 71 73 75 77 78 126 127; do
    grep -qE "^ *$code  [a-z]" "$dir/out" || fail "help exit does not list $code"
done
status 0 usher --version
grep -qxE 'usher [0-9]+\.[0-9]+\.[0-9]+ \(commit ([0-9a-f]{7,40}(-dirty)?|unknown), pool format [0-9]+\)' \
    "$dir/out" || fail "--version prints $(cat "$dir/out")"
[ -z "$(ls -A "$USHER_DIR")" ] || fail "help has made a pool"

echo "$checks checks passed"
