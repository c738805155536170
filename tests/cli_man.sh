#!/bin/sh
# The program, its help and its man page agree on the verbs, the options of each verb, the exit codes and
# the environment. usage: cli_man.sh BUILD
set -eu
usher=$1/usher
page=man/usher.1
# shellcheck source=tests/checks.sh disable=SC1091
. "$(dirname "$0")/checks.sh"

# same WHAT A B: the two files are the same.
same() {
    if ! diff "$2" "$3" >"$dir/diff"; then
        cat "$dir/diff"
        fail "$1"
    fi
    checks=$((checks + 1))
}

# manual VERB: each entry of the options of a verb in the man page, its spellings on one line.
manual() {
    sed -n "/^\.Ss usher $1\$/,/^\.S[sh] /p" "$page" | sed -n 's/^\.It Fl /Fl /p' |
        awk '{ line = ""; for (i = 1; i < NF; i++) if ($i == "Fl") line = line " -" $(i + 1); print line }'
}

# helped VERB: the options in the help of a verb, from its usage and its list.
helped() {
    "$usher" help "$1" >"$dir/help"
    {
        sed '/^$/q' "$dir/help" | tr '[]|' '   '
        sed -n 's/^  \(-.*\)/\1/p' "$dir/help" | sed 's/   *.*//' | tr ',' ' '
    } | tr ' ' '\n' | grep -E '^--?[a-zA-Z]' | sort -u || true
}

# takes VERB OPTION: the program accepts the option. No pool is given, so nothing else happens.
takes() {
    value=
    grep -qE -- "^\.It.* Fl ${2#-} Ar" "$page" && value=x
    timeout 10 "$usher" "$1" "$2" ${value:+x} </dev/null >"$dir/out" 2>&1 || true
    ! grep -q 'unknown option' "$dir/out"
}

verbs=$("$usher" help | sed -n 's/^  \([a-z][a-z]*\)  *[a-z].*/\1/p')
sed -n 's/^\.Ss usher \([a-z]*\)$/\1/p' "$page" | grep -v '^help$' >"$dir/documented"
printf '%s\n' "$verbs" >"$dir/verbs"
same "the verbs of 'usher help' and the sections of the man page differ" "$dir/verbs" "$dir/documented"

for verb in $verbs; do
    manual "$verb"
done | tr ' ' '\n' | grep . | sort -u >"$dir/options"
[ "$(wc -l <"$dir/options")" -gt 15 ] || fail "the man page's options are not found: its form has changed"

for verb in $verbs; do
    grep -qE "^\.Nm usher Cm $verb\$" "$page" || fail "$verb is not in the synopsis"
    manual "$verb" >"$dir/manual"
    helped "$verb" >"$dir/helped"
    while read -r option; do
        grep -qE -- " $option( |\$)" "$dir/manual" || fail "help $verb has $option, the man page has not"
        checks=$((checks + 1))
    done <"$dir/helped"
    while read -r spellings; do # the help may leave the long name out
        printf '%s\n' "$spellings" | tr ' ' '\n' | grep -qxFf "$dir/helped" ||
            fail "the man page has $spellings under $verb, the help has none of them"
        checks=$((checks + 1))
    done <"$dir/manual"
    while read -r option; do
        if grep -qE -- " $option( |\$)" "$dir/manual"; then
            takes "$verb" "$option" || fail "usher $verb does not take $option, which the man page has"
        elif takes "$verb" "$option"; then
            fail "usher $verb takes $option, which the man page does not have there"
        fi
        checks=$((checks + 1))
    done <"$dir/options"
done

# The exit codes: the same numbers and sentences.
"$usher" help exit | sed -n 's/^ *\([0-9][0-9]*\)  *\(.*\)/\1 \2/p' >"$dir/helped"
sed -n '/^\.Sh EXIT STATUS/,/^\.Sh EXAMPLES/p' "$page" |
    awk '/^\.It [0-9]+$/ { code = $2; next } /^\./ { code = "" } code != "" { print code, $0 }' |
    sed 's/\\-/-/g' >"$dir/manual"
[ "$(wc -l <"$dir/helped")" -gt 10 ] || fail "'usher help exit' prints no table"
same "'usher help exit' and the man page differ" "$dir/helped" "$dir/manual"

# The man page has every variable that the command gets.
"$usher" run pool --labels a -- env | sed -n 's/^\(USHER_[A-Z]*\)=.*/\1/p' >"$dir/set"
while read -r variable; do
    grep -q "^\.It Ev $variable\$" "$page" || fail "the man page does not have $variable"
    checks=$((checks + 1))
done <"$dir/set"
[ "$(wc -l <"$dir/set")" -ge 6 ] || fail "the command does not get its variables"

echo "$checks checks passed"
