#!/bin/sh
# Show that a shell can give up the open of a FIFO: it waits there for the reader, SIGCHLD arrives because a child
# was stopped or continued, and the shell does not try again. A script that then waits for the reader waits for
# ever. No usher in it. Prints how many opens were given up; docs/testing.md says what this explains.
#
# usage: busybox sh tests/kernels/interrupted_open.sh [ROUNDS]
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkfifo "$work/gate"
rounds=${1:-100}
given_up=0
round=0
while [ $round -lt "$rounds" ]; do
    round=$((round + 1))
    # shellcheck disable=SC2016
    busybox sh -c 'read -r go <"$1"' - "$work/gate" &
    child=$!
    kill -STOP $child
    until grep -q '^State:.T' /proc/$child/status; do :; done
    kill -CONT $child
    if ! { echo go >"$work/gate"; } 2>"$work/said"; then
        given_up=$((given_up + 1))
        said=$(cat "$work/said")
        (echo go >"$work/gate") # a subshell has no children: no SIGCHLD
    fi
    wait $child
done
echo "$given_up of $rounds opens were given up${said:+: $said}"
