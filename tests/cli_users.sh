#!/bin/sh
# Pools of other users, shared pools, full and read-only disks. Needs root, to act as several users. usage: cli_users.sh BUILD
# shellcheck source=tests/cli_support.sh disable=SC1091
. "$(dirname "$0")/cli_support.sh"
if [ "$(id -u)" -ne 0 ] || ! setpriv --reuid 54321 --regid 54321 --clear-groups true 2>/dev/null; then
    echo "SKIPPED: not root, so there are no other users to be"
    exit 77
fi
ann=54321 bob=54322 eve=54323 group=54400 # these users need not exist
shared=/dev/shm/usher-$bob
trap 'clean_up; rm -rf "$shared"' EXIT
rm -rf "$shared"
chmod 755 "$dir"
mkdir "$dir/bin" # programs that all of them can run
cp "$build/usher" "$dir/bin/usher"
PATH=$dir/bin:$PATH

usher_as() { # NAME USER GROUPS: make a program NAME that runs usher as USER
    printf '#!/bin/sh\nexec setpriv --reuid %s --regid %s %s usher "$@"\n' "$2" "$2" "$3" >"$dir/bin/$1"
    chmod 755 "$dir/bin/$1"
}
usher_as ann $ann "--groups $group"
usher_as bob $bob "--groups $group"
usher_as eve $eve --clear-groups

# A private pool, in a private directory and in a directory that all users can read.
mkdir "$dir/anns"
chown $ann:$ann "$dir/anns"
chmod 700 "$dir/anns"
export USHER_DIR="$dir/anns"
status 0 ann run -k 1 p true
[ "$(stat -c '%u %a' "$dir/anns/p")" = "$ann 600" ] || fail "the pool is not hers alone"
for mode in 700 755; do
    chmod $mode "$dir/anns"
    for verb in status doctor remove "remove --force" "resize" acquire release run; do
        more=
        [ "$verb" != resize ] || more=2
        [ "$verb" != run ] || more=true
        # shellcheck disable=SC2086
        status 77 bob $verb p $more
        says p permission
    done
    status 77 bob create -k 1 new
    says new permission
    status 77 bob run -k 1 new true
    [ ! -e "$dir/anns/new" ] || fail "a pool was made in her directory"
done
chmod 644 "$dir/anns/p" # reading is not enough
status 77 bob status p
# root does not trust her file
status 77 usher run p true
says p "another user" "$dir/anns/p: owner $ann, mode 644"
status 0 ann run -n p true
# a pool of root that other users cannot write
USHER_DIR=$dir/roots
status 0 usher run -k 1 p true
chmod 755 "$dir/roots"
status 77 bob run p true

# A pool for a group: all users share one line, and each can reap the dead processes of the others.
mkdir "$dir/both"
chown $ann:$group "$dir/both"
chmod 2770 "$dir/both"
USHER_DIR=$dir/both
status 0 ann create lab -k 1 --mode 660
[ "$(stat -c '%u %g %a' "$dir/both/lab")" = "$ann $group 660" ] || fail "not a pool for the group: $(stat -c '%u %g %a' "$dir/both/lab")"
status 0 bob run lab true
status 0 ann run lab true
status 77 eve run lab true
says lab permission
for name in anns bobs; do
    mkfifo -m 666 "$dir/$name.gate"
    : >"$dir/$name.in"
    chmod 666 "$dir/$name.in"
done
waits() { # USER NAME
    # shellcheck disable=SC2016
    begin "$2" "$1" run lab -- sh -c 'echo $$ >"$1.in"; read -r go <"$1.gate"; exit "$go"' sh "$dir/$2"
}
waits ann anns
ann_wrapper=$pid
eventually is_not_empty "$dir/anns.in"
read -r ann_command <"$dir/anns.in"
waits bob bobs
bob_wrapper=$pid
eventually stands lab 1 "$bob_wrapper"
status 0 bob status lab --json
jq -e ".holders[0].pid == $ann_command and .holders[0].alive and .waiters[0].pid == $bob_wrapper" "$dir/out" >/dev/null || fail "bob does not see who holds"
status 75 ann run -n lab true
status 69 bob remove lab
let_go anns 3
ends "$ann_wrapper" 3
eventually is_not_empty "$dir/bobs.in"
read -r bob_command <"$dir/bobs.in"
: >"$dir/anns.in"
waits ann anns
ann_wrapper=$pid
eventually stands lab 1 "$ann_wrapper"
kill -KILL "$bob_wrapper" "$bob_command"
ends "$bob_wrapper" 137
eventually is_not_empty "$dir/anns.in"
let_go anns
ends "$ann_wrapper" 0
status 0 bob resize lab 2
status 0 ann doctor lab
status 0 bob remove lab
[ ! -e "$dir/both/lab" ] || fail "the pool is still there"
status 0 bob create lab -k 1 --mode 600
status 77 ann run lab true
status 0 bob remove lab

# The default directory: made for this user only, and rejected if it is not safe.
status 0 env -u USHER_DIR bob run -k 1 p true
[ "$(stat -c '%u %a' "$shared")" = "$bob 700" ] || fail "not his directory"
[ -f "$shared/p" ] || fail "no pool in his directory"
chmod 777 "$shared"
status 77 env -u USHER_DIR bob run p true
rm -rf "$shared"
mkdir -m 777 "$shared"
chown $ann "$shared"
status 77 env -u USHER_DIR bob run p true
says p "another user"
rm -rf "$shared"
ln -s "$dir/both" "$shared"
status 77 env -u USHER_DIR bob run p true
rm "$shared"
mkdir -m 700 "$dir/runtime"
chown $bob "$dir/runtime"
status 0 env -u USHER_DIR XDG_RUNTIME_DIR="$dir/runtime" bob run -k 1 p true
[ -f "$shared/p" ] || fail "\$XDG_RUNTIME_DIR has an influence"
[ -z "$(ls -A "$dir/runtime")" ] || fail "something was made in \$XDG_RUNTIME_DIR"
rm -rf "$shared"

# A full disk, and a read-only disk.
mkdir "$dir/disk"
if mount -t tmpfs -o size=32k none "$dir/disk" 2>/dev/null; then
    USHER_DIR=$dir/disk
    status 73 usher run -k 1 p true
    says p space
    status 73 usher create p -k 2
    status 73 usher acquire -k 1 p
    [ -z "$(ls -A "$dir/disk")" ] || fail "something of it is left: $(ls -A "$dir/disk")"
    mount -o remount,size=1m "$dir/disk"
    status 0 usher run -k 1 p true
    mount -o remount,ro "$dir/disk"
    status 73 usher run -k 1 other true
    says other read-only
    umount "$dir/disk"
else
    echo "SKIPPED: no tmpfs can be mounted here, so no disk is full"
fi

echo "$checks checks passed"
