#!/bin/sh
# usher in two pid namespaces that share a pool: pids of one mean nothing in the other. usage: cli_namespace.sh BUILD
set -eu
usher=$1/usher
# Under the thread sanitizer vfork is a fork, and usher run cannot assign its seat.
if grep -q __tsan_init "$1/usher"; then
    echo "SKIPPED: usher run does not work under the thread sanitizer"
    exit 77
fi
USHER_DIR=$(mktemp -d)
export USHER_DIR
trap 'rm -rf "$USHER_DIR"' EXIT

if ! unshare -pf --mount-proc true 2>/dev/null; then
    echo "SKIPPED: may not make a pid namespace here"
    exit 77
fi

# until_so COMMAND..: wait until it succeeds, at most 20 s
until_so() {
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        if [ $tries -gt 1000 ]; then
            echo "never so: $*"
            exit 1
        fi
        sleep 0.02
    done
}

# In the first namespace a process with a small pid holds the only seat.
unshare -pf --mount-proc sh -c \
    "sh -c '$usher run -k 1 q sh -c \"echo up >$USHER_DIR/.up; while [ ! -e $USHER_DIR/.end ]; do sleep 0.02; done\"; :'; :" &
first=$!
until_so test -e "$USHER_DIR/.up"

# In the second, all small pids are ancestors of usher: none of them holds a seat.
status=0
unshare -pf --mount-proc sh -c \
    "sh -c 'sh -c \"sh -c \\\"$usher run -n q true; exit \\\\\\\$?\\\"; exit \\\$?\"; exit \$?'; exit \$?" || status=$?
if [ "$status" -ne 75 ]; then
    echo "a process of another namespace was taken for the holder: exit $status, not 75"
    exit 1
fi
if [ "$("$usher" status q --json | jq -c '[.free, .holders[0].pid, .holders[0].alive]')" != '[0,0,true]' ]; then
    echo "status: $("$usher" status q --json)"
    exit 1
fi

# This namespace sees its end by its lock.
touch "$USHER_DIR/.end"
"$usher" run -w 20 q true
wait "$first"
echo "two namespaces, one pool: never more than its seat"
