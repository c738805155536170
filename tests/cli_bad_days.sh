#!/bin/sh
# usher(1) when resources are missing: a full or read-only disk, no descriptors, no memory, no permission,
# replaced files and directories, huge numbers. Each time: the right exit code, one line of message, nothing
# left behind, and the next call works. usage: cli_bad_days.sh BUILD
set -eu
usher=$1/usher
if grep -q '__asan_init\|__tsan_init' "$usher"; then
    echo "SKIPPED: a sanitizer needs memory and descriptors of its own"
    exit 77
fi
# All mounts are in a mount namespace of the test, and end with it.
if [ "${2:-}" != inside ]; then
    if unshare -m --propagation private true 2>/dev/null; then
        exec unshare -m --propagation private "$0" "$1" inside
    fi
    echo "  SKIPPED: mounting needs root; the rest is tested"
fi
top=$(mktemp -d)
trap 'rm -rf "$top" 2>/dev/null || :' EXIT
USHER_DIR=$top/pools
export USHER_DIR
mkdir "$USHER_DIR"

# says CODE TEXT COMMAND..: the command exits with CODE and prints one line of message with TEXT
says() {
    code=$1
    sentence=$2
    shift 2
    status=0
    "$@" >"$top/out" 2>"$top/said" || status=$?
    if [ "$status" -ne "$code" ] || [ "$(wc -l <"$top/said")" -ne 1 ] ||
        ! grep -q "^usher: .*$sentence" "$top/said"; then
        echo "$*: exit $status, not $code, or not '$sentence':"
        cat "$top/said"
        exit 1
    fi
}
# works: a pool can be created, used and removed, and nothing is left behind
works() {
    [ "$("$usher" run -k 2 fine -c 'echo in')" = in ] || { echo "after that: no seat" && exit 1; }
    "$usher" doctor fine >/dev/null
    "$usher" remove fine
    [ -z "$(ls -A "$USHER_DIR")" ] || { echo "left: $(ls -A "$USHER_DIR")" && exit 1; }
}
works

# Numbers that are too large.
says 64 'from 1 to 65535' "$usher" run -k 1000000 p true
says 64 'from 1 to 65535' "$usher" run -k 65536 p true
says 64 'to 65535' "$usher" create p -k 1 --guests 65536
says 64 'more seats or guests' "$usher" create p -k 11 --guests 10
works
"$usher" create p -k 65535 --guests 65535
[ "$("$usher" run p -- printenv USHER_SEATS)" = 65535 ]
says 64 'to 65535' "$usher" resize p 65536
"$usher" remove p
"$usher" create p -k 3 --guests 65535
"$usher" run p true
"$usher" remove p
works

# Too few descriptors: every limit, until one is enough.
few=3
short=0
while :; do
    status=0
    # shellcheck disable=SC3045
    (ulimit -n $few && exec "$usher" run -k 1 p true) 2>"$top/said" || status=$?
    [ "$status" -ne 0 ] || break
    if [ "$status" -eq 71 ] && grep -q '^usher: .*too many open files' "$top/said"; then
        short=$((short + 1))
    elif ! grep -q 'shared libraries' "$top/said"; then # the program could not even be loaded
        echo "with $few descriptors: exit $status"
        cat "$top/said"
        exit 1
    fi
    [ ! -e "$USHER_DIR/p" ] || "$usher" remove p # created before the failure
    few=$((few + 1))
done
[ "$short" -gt 0 ] || { echo "it was never short of descriptors" && exit 1; }
"$usher" remove p
works

# No memory to map the file, which takes 4 MiB with this many guests.
says 71 'not enough memory' sh -c 'ulimit -v 5000; exec "$@"' - \
    "$usher" create p -k 1 --guests 65535
works

# A limit on the size of files, with its signal ignored.
says 71 'File too large' sh -c 'trap "" XFSZ; ulimit -f 8; exec "$@"' - "$usher" create p -k 1
works

# The directory is a symbolic link, not a directory, or missing.
if [ "${2:-}" = inside ]; then
    own=/dev/shm/usher-$(id -u)
    mount -t tmpfs -o mode=1777 bad-day /dev/shm
    ln -s "$USHER_DIR" "$own"
    says 77 'belongs to another user' env -u USHER_DIR "$usher" run -k 1 p true
    rm "$own"
    : >"$own"
    says 77 'belongs to another user' env -u USHER_DIR "$usher" run -k 1 p true
    rm "$own"
fi
says 73 'no directory for it' env USHER_DIR="$top/no/such" "$usher" run -k 1 p true
works

# The file is replaced while in use: its users continue, and others get an error about the new file.
"$usher" run -k 1 p -c "echo up >'$top/up'; while [ ! -e '$top/end' ]; do sleep 0.02; done" &
first=$!
while [ ! -e "$top/up" ]; do sleep 0.02; done
mv "$USHER_DIR/p" "$top/aside"
echo 'not a pool' >"$USHER_DIR/p"
says 69 'not a pool: the file holds something else' "$usher" run p true
: >"$USHER_DIR/p"
says 69 'not a pool: the file is empty' "$usher" run p true
rm "$USHER_DIR/p"
mkdir "$USHER_DIR/p"
says 69 'not a pool: not a regular file' "$usher" run p true
rmdir "$USHER_DIR/p"
ln -s "$top/aside" "$USHER_DIR/p"
says 69 'a symbolic link' "$usher" run p true
rm "$USHER_DIR/p"
mv "$top/aside" "$USHER_DIR/p" # and back: the pool still has its holder
[ "$("$usher" status p --json | jq .free)" = 0 ]
status=0
"$usher" run -n p true || status=$?
[ "$status" -eq 75 ] || { echo "a second one was let in: $status" && exit 1; }
touch "$top/end"
wait "$first"
"$usher" remove p
works

if [ "$(id -u)" -eq 0 ]; then
    # No permission: another user, in our directory and with our pool.
    chmod 755 "$top" "$USHER_DIR"
    "$usher" create p -k 1
    says 77 'no permission' setpriv --reuid 40001 --regid 40001 --clear-groups "$usher" run p true
    says 77 'no permission' setpriv --reuid 40001 --regid 40001 --clear-groups \
        "$usher" run -k 1 new true
    "$usher" remove p
    works
fi
if [ "${2:-}" = inside ]; then
    # A full disk, a disk without inodes, a read-only disk.
    mount -t tmpfs -o size=64k,mode=700 bad-day "$USHER_DIR"
    says 73 'no space left' "$usher" create p -k 1 --guests 4000
    "$usher" create fine -k 2 --guests 100
    dd if=/dev/zero of="$USHER_DIR/big" bs=4k 2>/dev/null || :
    [ "$("$usher" run fine -c 'echo in')" = in ] # an existing pool has its space
    says 73 'no space left' "$usher" create p -k 1 --guests 100
    rm "$USHER_DIR/big"
    "$usher" remove fine
    mount -o remount,nr_inodes=1 "$USHER_DIR"
    says 73 'no space left' "$usher" create p -k 1 --guests 100
    mount -o remount,nr_inodes=100,ro "$USHER_DIR"
    says 73 'read-only' "$usher" create p -k 1 --guests 100
    mount -o remount,rw,size=1m "$USHER_DIR"
    works
    umount "$USHER_DIR"
    # A time namespace: the monotonic clock is far ahead, and waits still end in time.
    if unshare -T --monotonic 1000000 true 2>/dev/null; then
        "$usher" create p -k 1
        status=0
        unshare -T --monotonic 1000000 --fork "$usher" run p -- \
            "$usher" run -w 0.3 other -k 1 true || status=$?
        [ "$status" -eq 0 ] || { echo "in a time namespace: exit $status" && exit 1; }
        "$usher" run p -c "echo up >'$top/held'; while [ ! -e '$top/free' ]; do sleep 0.02; done" &
        first=$!
        while [ ! -e "$top/held" ]; do sleep 0.02; done
        status=0
        unshare -T --monotonic 1000000 --fork timeout 20 "$usher" run -w 0.3 p true || status=$?
        [ "$status" -eq 75 ] || { echo "a wait in a time namespace: exit $status" && exit 1; }
        unshare -T --monotonic 1000000 --fork timeout 20 "$usher" run p true &
        second=$!
        touch "$top/free"
        wait "$first" "$second"
        "$usher" remove p
        "$usher" remove other
    else
        echo "  SKIPPED: no time namespaces here"
    fi
    works
fi
echo "bad days: clear errors, nothing left behind, and the next call works"
