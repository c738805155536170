#!/bin/sh
# usher(1) under attack: a setuid copy, a pool that is truncated while in use, a user who writes wrong data
# into the pool. usage: cli_hostile.sh BUILD
# shellcheck source=tests/cli_support.sh disable=SC1091
. "$(dirname "$0")/cli_support.sh"

# usher signals only its own command; the library sends no signals.
for call in kill killpg tgkill sigqueue pidfd_send_signal pthread_kill raise system fork; do
    if nm -u "$build/libusher.a" 2>/dev/null | grep -qw "$call"; then
        # (the sanitizers use other names)
        fail "the library calls $call"
    fi
    passed
done
# The library executes a program only for usher_spawn.
others=$(nm -A -u "$build/libusher.a" 2>/dev/null | grep -wE 'exec[a-z]*|fexecve|posix_spawnp?|vfork' | grep -v '[:/]os_spawn' || :)
[ -z "$others" ] || fail "the library executes programs elsewhere: $others"
passed
nm -u "$build/libusher.a" | grep -qw openat || fail "nm shows nothing of the library"
others=$(grep -nE '\b(kill|sigqueue|killpg)\(' src/cli/*.c | grep -vF 'kill(child, ' || :)
[ -z "$others" ] || fail "signals are sent to others than the command: $others"
# Exceptions: usher release ends keepers, and a keeper sends --signal to its shell.
others=$(grep -nF 'pidfd_send_signal(' src/cli/*.c | cut -d : -f 1 | sort | tr '\n' ' ')
[ "$others" = "src/cli/keeper.c src/cli/keepers.c " ] || fail "signals are sent in $others"
passed

# The pool is truncated: a message and an exit code, no core dump.
status 0 usher create cut -k 1
sleep 1000 &
holder=$!
status 0 usher acquire cut --for $holder
begin waits usher run cut true
eventually stands cut 1 "$pid"
: >"$USHER_DIR/cut"
ends "$pid" 69
grep -q "truncated" "$dir/waits.err" || fail "it does not say why it ended"
passed

# A wrong pid in the pool is shown, but that process is not signalled.
status 0 usher create lies -k 1
status 0 usher acquire lies --for $holder
namespace=$(stat -Lc %i /proc/self/ns/pid)
say_pid() { # PID: write it into the pool as the holder of seat 0
    bytes=
    for number in $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) 7 $((namespace & 255)) \
        $((namespace >> 8 & 255)) $((namespace >> 16 & 255)) $((namespace >> 24 & 255)); do
        bytes=$bytes$(printf '\\0%03o' "$number")
    done
    printf '%b' "$bytes" |
        dd of="$USHER_DIR/lies" bs=1 seek=$((4096 + 32)) conv=notrunc 2>/dev/null
}
sleep 1000 &
victim=$!
say_pid $victim
status 0 usher status lies
grep -q " $victim .*sleep 1000" "$dir/out" || fail "the lie is not seen"
status 0 usher doctor lies
usher release lies --for $victim 2>/dev/null || : # it may be reaped by now
kill -0 $victim || fail "a process was killed because a pool says that it holds a seat"
kill $victim $holder
passed

if [ "$(id -u)" -ne 0 ] || ! setpriv --reuid 54321 --regid 54321 --clear-groups true 2>/dev/null; then
    echo "SKIPPED: not root, so there are no other users to be"
    echo "$checks checks passed"
    exit 0
fi

# Setuid or setgid, it refuses every verb.
chmod 755 "$dir"
mkdir "$dir/eves"
chown 54322 "$dir/eves"
cp "$build/usher" "$dir/usher"
set -- "54321:54321 4755" "0:54321 2755" "0:0 4755"
if grep -q __asan_init "$dir/usher"; then
    echo "left out: setuid and setgid; LeakSanitizer ends such a program with a status of its own"
    set --
fi
for way in "$@"; do
    chown "${way% *}" "$dir/usher"
    chmod "${way#* }" "$dir/usher"
    for words in "run -k 1 p touch $dir/eves/was-here" "acquire -k 1 p" "status" "create p -k 1" "help" ""; do
        # shellcheck disable=SC2086
        status 77 env USHER_DIR="$dir/eves" setpriv --reuid 54322 --regid 54322 --clear-groups "$dir/usher" $words
        says setuid
    done
    [ -z "$(ls -A "$dir/eves")" ] || fail "with $way it has made something: $(ls -A "$dir/eves")"
    [ ! -e /dev/shm/usher-54321 ] || fail "with $way it has made a directory"
    passed
done
# The same copy without these bits works.
chown 0:0 "$dir/usher"
chmod 755 "$dir/usher"
status 0 env USHER_DIR="$dir/eves" setpriv --reuid 54322 --regid 54322 --clear-groups "$dir/usher" run -k 1 p true

echo "$checks checks passed"
