#!/bin/sh
# The scripts of docs/examples.md print what it says, and the lines that it shows are in the scripts.
# usage: worked_examples.sh BUILD
set -eu
PATH=$1:$PATH
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
checks=0

fail() {
    cat "$dir/out" >&2
    echo "FAILED: $*" >&2
    exit 1
}

example() {
    timeout 60 "docs/examples/$1.sh" >"$dir/out" 2>&1 || fail "$1.sh ended with $?"
    checks=$((checks + 1))
}

# says N PATTERN: exactly N lines match.
says() {
    [ "$(grep -cE "$2" "$dir/out")" -eq "$1" ] || fail "not $1 lines like: $2"
    checks=$((checks + 1))
}

example gpus
says 5 '^run [1-5] begins on card [01]$'
says 5 '^run [1-5] ends$'
says 10 .

example linkers
says 1 '^6 links, at most 2 at a time$'

example cron
says 1 '^backup of 10:00 ends$'
says 0 '^backup of 10:05'
says 1 '^backup of 10:10 ends$'

example licences
licence=$(sed -n 's/^script A has licence //p' "$dir/out")
says 1 "^script C has licence $licence\$"
says 0 '^script A has released'
says 1 '^script C has released its licence$'
says 1 '^simulator: 2 seats, 2 free, 0 waiting; 2 served, 0 gave up, 1 reaped$'

# Every indented line of the page that begins with usher, or sets a variable by it, is in a script.
sed -n 's/^    \(.*\)/\1/p' docs/examples.md | sed 's/^[ 	]*//' | grep -E '^(usher|[a-z]*=\$\(usher) ' >"$dir/out"
[ "$(wc -l <"$dir/out")" -ge 4 ] || fail "docs/examples.md shows hardly a line"
while IFS= read -r line; do
    cat docs/examples/*.sh | grep -qF -- "$line" || fail "no script has the line: $line"
    checks=$((checks + 1))
done <"$dir/out"
for script in docs/examples/*.sh; do
    grep -qF -- "\$ $script" docs/examples.md || fail "docs/examples.md does not have $script"
done
echo "$checks checks passed"
