#!/bin/sh
# What tests in shell share: a directory that is removed at the end, and checks that are counted.
# Source it after `set -eu`.
# shellcheck disable=SC2034 # the tests use what is set here
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export USHER_DIR="$dir/pools"
checks=0

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# so COMMAND..: the command succeeds.
so() {
    "$@" || fail "not so: $*"
    checks=$((checks + 1))
}

# status N COMMAND..: the command ends with N; its output is in $dir/out and $dir/err.
status() {
    want=$1
    shift
    got=0
    "$@" >"$dir/out" 2>"$dir/err" || got=$?
    [ "$got" -eq "$want" ] || { cat "$dir/out" "$dir/err"; fail "$* ended with $got, not $want"; }
    checks=$((checks + 1))
}

# json EXPRESSION: the output is JSON and the expression is true of it.
json() {
    jq -e "$1" "$dir/out" >/dev/null || { cat "$dir/out"; fail "not so: $1"; }
    checks=$((checks + 1))
}
