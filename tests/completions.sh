#!/usr/bin/env bash
# The completions of bash, zsh and fish, as these shells do them: every verb, every option that the man
# page has, pools, commands. usage: completions.sh BUILD; a shell that is not installed is skipped.
set -euo pipefail
PATH=$1:$PATH
here=$PWD
dir=$(mktemp -d)
elsewhere= # a pool in this user's own directory
trap '[ -z "$elsewhere" ] || env -u USHER_DIR usher remove "$elsewhere"; rm -rf "$dir"' EXIT
checks=0
skipped=

export USHER_DIR="$dir/pools" HOME="$dir/home" TERM=xterm
mkdir -p "$HOME" "$dir/bin" "$dir/empty"
for pool in gpu builds 'two words'; do
    usher create "$pool" -k 2
done
mkdir "$USHER_DIR/notapool"
printf '#!/bin/sh\n' >"$dir/bin/zebra-command"
chmod +x "$dir/bin/zebra-command"
PATH=$dir/bin:$PATH
echo >"$dir/empty/only-file"

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# options VERB: all its options in the man page.
options() {
    sed -n "/^\.Ss usher $1\$/,/^\.S[sh] /p" man/usher.1 | sed -n 's/^\.It Fl /Fl /p' |
        awk '{ for (i = 1; i < NF; i++) if ($i == "Fl") print "-" $(i + 1) }'
}

verbs=$(usher help | sed -n 's/^  \([a-z][a-z]*\)  *[a-z].*/\1/p')
for verb in $verbs; do
    options "$verb"
done >"$dir/all"
[ "$(wc -l <"$dir/all")" -gt 30 ] || fail "the man page's options are not found: its form has changed"

# expect SHELL LINE WORD..: the words are offered. expect_not: they are not. $2 ends where Tab is hit.
expect() {
    local shell=$1 line=$2 word
    shift 2
    "offers_$shell" "$line" >"$dir/offered"
    for word in "$@"; do
        grep -qxF -- "$word" "$dir/offered" ||
            { cat "$dir/offered"; fail "$shell does not offer '$word' for '$line'"; }
        checks=$((checks + 1))
    done
}

expect_not() {
    local shell=$1 line=$2 word
    shift 2
    "offers_$shell" "$line" >"$dir/offered"
    for word in "$@"; do
        ! grep -qxF -- "$word" "$dir/offered" || fail "$shell offers '$word' for '$line'"
        checks=$((checks + 1))
    done
}

# What bash and fish have in common: both can be asked what they offer.
offered_by() {
    local shell=$1 verb
    # shellcheck disable=SC2086
    expect "$shell" 'usher ' $verbs help
    expect "$shell" 'usher rel' release
    for verb in $verbs; do
        "offers_$shell" "usher $verb -" | grep -vxe -- | grep . | sort -u >"$dir/offered" || true
        options "$verb" | sort -u | diff - "$dir/offered" ||
            fail "$shell offers other options for $verb (>) than the man page has (<)"
        checks=$((checks + 1))
        expect "$shell" "usher $verb " gpu builds
    done
    # shellcheck disable=SC2086
    expect "$shell" 'usher help ' $verbs exit
    expect_not "$shell" 'usher help ' gpu
    expect_not "$shell" 'usher run ' notapool
    expect "$shell" 'usher run -k 2 gp' gpu
    expect_not "$shell" 'usher run -k ' gpu
    expect "$shell" 'usher run gpu -k 2 -' --labels --env
    expect "$shell" 'usher run gpu --mode ' 660
    expect "$shell" 'usher status gpu ' builds
    expect_not "$shell" 'usher remove gpu ' builds
    expect_not "$shell" 'usher resize gpu ' builds
    expect "$shell" 'usher run gpu zebra-c' zebra-command
    expect "$shell" 'usher run gpu -k 2 -- zebra-c' zebra-command
    expect "$shell" 'usher run -- gp' gpu
    expect_not "$shell" 'usher run gpu ' builds
    expect_not "$shell" 'usher run gpu zebra-command -' --labels -k
    expect_not "$shell" 'usher run gpu -c "a line" ' zebra-command gpu
    expect "$shell" 'usher acquire gpu --for ' 1
    (cd "$dir/empty" && expect "$shell" 'usher run gpu cat only' only-file)
    (unset USHER_DIR && expect "$shell" 'usher run elsew' "$elsewhere")
}
elsewhere=elsewhere-$$ # in the directory that this user has
(unset USHER_DIR && usher create "$elsewhere" -k 1)

# shellcheck disable=SC1091
. completions/usher.bash

# What bash would do at Tab, with the words as it cuts them.
offers_bash() (
    set +eu # as at a prompt
    eval "COMP_WORDS=($1)"
    [[ $1 != *' ' ]] || COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMP_LINE=$1
    COMP_POINT=${#1}
    COMPREPLY=()
    _usher
    printf '%s\n' "${COMPREPLY[@]}"
)

[ "$(complete -p usher)" = 'complete -F _usher usher' ] || fail "bash does not know of the completion"
offered_by bash
expect bash 'usher run two' 'two\ words'
expect bash "usher run $USHER_DIR/g" "$USHER_DIR/gpu"
expect bash 'usher run --mode = 66' 660 666 # as bash cuts --mode=66
expect bash 'usher run --mode =' 600
expect bash 'usher run gpu --mode = 660 zebra-c' zebra-command
# shellcheck disable=SC2317
_command_offset() { COMPREPLY=("from $1"); } # what the package bash-completion has
expect bash 'usher run -n gpu -- git sta' 'from 5'
unset -f _command_offset
echo "bash: $checks checks passed"

# fish can be asked, too.
offers_fish() {
    (cd "$PWD" && timeout 20 fish -c "source $here/completions/usher.fish; complete -C '$1'" </dev/null) |
        cut -f 1
}
if command -v fish >/dev/null; then
    before=$checks
    offered_by fish
    expect fish 'usher run two' 'two words'
    expect fish 'usher run gpu cat --show-en' --show-ends
    echo "fish: $((checks - before)) checks passed"
else
    skipped="$skipped fish"
fi

# zsh has to be typed to: each line, Tab, and then the line as it is now goes to a file.
cat >"$dir/type.zsh" <<'TYPE'
zmodload zsh/zpty
lines=0
zpty -b shell zsh -f -i
zpty -w shell "fpath=($1 \$fpath); autoload -Uz compinit && compinit -u -D"
zpty -w shell "setopt no_auto_menu; zstyle ':completion:*' menu no; bindkey '^I' complete-word"
zpty -w shell "tell() { print -r -- \"\$BUFFER\" >>$2; BUFFER= }; zle -N tell; bindkey '^T' tell"
: >$2
while IFS= read -r line; do
    zpty -w -n shell "$line"$'\t\x14'
    ((lines++))
    for ((tries = 0; tries < 400; tries++)); do
        while zpty -r -t shell text; do done
        (($(wc -l <$2) >= lines)) && break
        sleep 0.05
    done
done
zpty -d shell
TYPE

# typed LINE BECOMES: to be typed later; what the line is then, without what a blank or = at its end says.
typed() {
    printf '%s\n' "$1" >>"$dir/typed"
    printf '%s\n' "$2" >>"$dir/becomes"
}

if command -v zsh >/dev/null; then
    before=$checks
    zsh -n completions/_usher
    typed 'usher rel' 'usher release'
    for verb in $verbs; do
        typed "usher $verb gp" "usher $verb gpu"
        for option in $(options "$verb" | grep -e '^--'); do
            typed "usher $verb ${option%?}" "usher $verb $option"
        done
    done
    typed 'usher remove --jso' 'usher remove --jso'
    typed 'usher run nota' 'usher run nota'
    typed 'usher run two' 'usher run two\ words'
    typed 'usher run -k 2 bu' 'usher run -k 2 builds'
    typed 'usher run -- gp' 'usher run -- gpu'
    typed 'usher run gpu --lab' 'usher run gpu --labels'
    typed 'usher run gpu -k 2 --lab' 'usher run gpu -k 2 --labels'
    typed 'usher run gpu --mode 60' 'usher run gpu --mode 600'
    typed 'usher run gpu zebra-c' 'usher run gpu zebra-command'
    typed 'usher run gpu -k 2 -- zebra-c' 'usher run gpu -k 2 -- zebra-command'
    typed 'usher run gpu zebra-command --lab' 'usher run gpu zebra-command --lab'
    typed 'usher run gpu -c line zebra-c' 'usher run gpu -c line zebra-c'
    typed 'usher run gpu -- cat only' 'usher run gpu -- cat only-file'
    typed 'usher status gpu bu' 'usher status gpu builds'
    typed 'usher remove gpu bu' 'usher remove gpu bu'
    typed "usher run $USHER_DIR/gp" "usher run $USHER_DIR/gpu"
    typed 'usher help ex' 'usher help exit'
    (cd "$dir/empty" && timeout 120 zsh -f "$dir/type.zsh" "$here/completions" "$dir/is" <"$dir/typed")
    sed 's/[ =]*$//' "$dir/is" | diff "$dir/becomes" - || fail "zsh completes otherwise (< is what it should)"
    checks=$((checks + $(wc -l <"$dir/typed")))
    echo "zsh: $((checks - before)) checks passed"
else
    skipped="$skipped zsh"
fi

if [ -n "$skipped" ]; then
    echo "not installed, and so not tested:$skipped (tools/setup test installs them)"
    exit 77
fi
