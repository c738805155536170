#!/bin/sh
# One user, one name, one pool: where pools are, what a logout does to them, other users, groups, definitions.
# Needs root, to act as several users, and a mount namespace, in which /run, /dev/shm and /etc are its own.
# usage: cli_places.sh BUILD
# shellcheck disable=SC2016,SC2154
if [ "$(id -u)" -ne 0 ] || ! setpriv --reuid 54321 --regid 54321 --clear-groups true 2>/dev/null; then
    echo "SKIPPED: not root, so there are no other users to be"
    exit 77
fi
if [ "${USHER_TEST_PLACES-}" != inside ]; then
    unshare -m true 2>/dev/null || {
        echo "SKIPPED: no mount namespace can be made here"
        exit 77
    }
    USHER_TEST_PLACES=inside exec unshare -m --propagation private "$0" "$@"
fi
# shellcheck source=tests/cli_support.sh disable=SC1091
. "$(dirname "$0")/cli_support.sh"
mkdir "$dir/etc" "$dir/bin" "$dir/home"
cp -a /etc/. "$dir/etc/"
rm -rf "$dir/etc/usher"
cp "$build/usher" "$dir/bin/usher" # a program that all users can run
mount --bind "$dir/etc" /etc
mount -t tmpfs -o mode=755 none /run
mount -t tmpfs -o mode=1777 none /dev/shm
chmod 755 "$dir" "$dir/home"
PATH=$dir/bin:$PATH
unset USHER_DIR
ann=54321 bob=54322 eve=54323 group=54400 # these users need not exist
usher_as() { # NAME USER GROUPS: make a program NAME that runs usher as USER, with a home
    printf '#!/bin/sh\nexport HOME=%s\nexec setpriv --reuid %s --regid %s %s usher "$@"\n' "$dir/home/$1" "$2" "$2" "$3" >"$dir/bin/$1"
    chmod 755 "$dir/bin/$1"
    mkdir "$dir/home/$1" && chown "$2:$2" "$dir/home/$1" && chmod 700 "$dir/home/$1"
}
usher_as ann $ann "--groups $group"
usher_as bob $bob "--groups $group"
usher_as eve $eve --clear-groups
sit() { # NAME USHER OPTION..: run a command in a seat until `let_go NAME`; the wrapper is $pid
    sits=$1
    shift
    rm -f "$dir/$sits.gate" "$dir/$sits.in"
    mkfifo -m 666 "$dir/$sits.gate"
    : >"$dir/$sits.in" && chmod 666 "$dir/$sits.in"
    # shellcheck disable=SC2016
    begin "$sits" "$@" -- sh -c 'echo $$ $USHER_SEAT $USHER_TICKET >"$1.in"; echo "$2" >>"$3"; read -r go <"$1.gate"; exit "${go:-0}"' \
        sit "$dir/$sits" "$sits" "$dir/order"
}
: >"$dir/order" && chmod 666 "$dir/order"
anns_stands() { # POOL POSITION PID
    ann status "$1" --json | grep -q "\"position\":$2,\"pid\":$3,"
}
ann_is() { # POOL EXPRESSION
    ann status "$1" --json | jq -e "$2" >/dev/null
}
empty() {
    [ ! -e "$1" ] || [ -z "$(ls -A "$1")" ]
}

# A name without a pool and without a definition: said, and nothing is made.
for verb in "run typo true" "run -n typo true" "acquire typo" "acquire -n typo"; do
    # shellcheck disable=SC2086
    status 66 ann $verb
    says typo "no such pool" "-k SEATS"
done
[ ! -e /dev/shm/usher-$ann ] || fail "a typo left a directory behind"
status 64 ann create typo
says typo -k
status 66 ann run "$dir/typo" true
[ ! -e "$dir/typo" ] || fail "a typo left a pool behind"
# -k 1 is a choice
status 0 ann run -k 1 chosen true
status 0 ann run chosen true

# A login shell, cron and a service: one pool.
mkdir -p /run/user/$ann && chown $ann /run/user/$ann && chmod 700 /run/user/$ann
sit login env XDG_RUNTIME_DIR=/run/user/$ann ann run -k 1 job
login=$pid
is_in login
status 75 ann run -n job true
status 75 env -i PATH="$PATH" ann run -n -k 1 job true
[ -f /dev/shm/usher-$ann/job ] || fail "not where names are"
[ ! -e /run/user/$ann/usher ] || fail "a pool is in \$XDG_RUNTIME_DIR"
# /run/usher appears: the pool that exists is used; a new one is made there.
mkdir -m 1777 /run/usher
chmod 1777 /run/usher
status 75 ann run -n job true
status 0 ann run -k 1 later true
[ -f /run/usher/$ann/later ] || fail "not in /run/usher/UID"
[ "$(stat -c '%u %a' /run/usher/$ann)" = "$ann 700" ] || fail "not her directory"
status 0 ann status --json
[ "$(jq -r .pool "$dir/out" | tr '\n' ' ')" = "chosen job later " ] || fail "not all pools are listed"
let_go login
ends "$login" 0
# it disappears: the same
mv /run/usher /run/elsewhere
status 66 ann run later true
mv /run/elsewhere /run/usher
status 0 ann run later true
# Two pools with one name, made by paths: said, and neither is used.
status 0 ann create /dev/shm/usher-$ann/later -k 1
for verb in "run later true" "status later" "remove later" "doctor later"; do
    # shellcheck disable=SC2086
    status 69 ann $verb
    says later /dev/shm/usher-$ann/later /run/usher/$ann/later
done
status 0 ann remove /dev/shm/usher-$ann/later
status 0 ann run later true

# What another user has put there, and a /run/usher that users cannot trust.
mkdir -m 777 /run/usher/$bob
chown $eve /run/usher/$bob
status 77 bob run -k 1 p true
says p "another user" "/run/usher/$bob: owner $eve, mode"
rm -rf /run/usher/$bob
ln -s /tmp /run/usher/$bob
status 77 bob run -k 1 p true
says p /run/usher/$bob
rm /run/usher/$bob
for mode in 777 755; do # others could delete what is in it; nobody can make a directory in it
    chmod $mode /run/usher
    status 0 bob run -k 1 p true
    [ -f /dev/shm/usher-$bob/p ] || fail "mode $mode of /run/usher: not in /dev/shm"
    status 0 bob remove p
done
chmod 1777 /run/usher
chown $eve /run/usher
status 0 bob run -k 1 p true
[ -f /dev/shm/usher-$bob/p ] || fail "eve's /run/usher is used"
status 0 bob remove p
chown root /run/usher
rm -rf /run/usher

# Pools of older versions.
mkdir -p /run/user/$ann/usher && chown $ann /run/user/$ann/usher
status 0 ann create /run/user/$ann/usher/old -k 1
for verb in "status" "doctor" "status old" "doctor old"; do
    code=0
    [ "$verb" = status ] || [ "$verb" = doctor ] || code=66
    # shellcheck disable=SC2086
    status $code ann $verb
    grep -q "usher: pool old: an older version of usher made /run/user/$ann/usher/old.*usher remove /run/user/$ann/usher/old" "$dir/said.err" || fail "$verb: not named"
done
mkdir "$dir/runtime" && chown $ann "$dir/runtime" && chmod 755 "$dir/runtime"
mv /run/user/$ann/usher "$dir/runtime/usher"
status 0 ann status
[ ! -s "$dir/said.err" ] || fail "an old pool is named that is not there"
status 0 env XDG_RUNTIME_DIR="$dir/runtime" ann status
says old "$dir/runtime/usher/old"
rm -rf "$dir/runtime"

# A logout while commands hold and wait: logind deletes the user's files in /dev/shm, and the directory.
logout() {
    find /dev/shm -depth -user $ann -delete
    [ ! -e /dev/shm/usher-$ann ] || fail "the directory is still there"
}
for h in 1 2; do
    sit holder$h ann run -k 2 busy
    eval "holder$h=\$pid"
    is_in holder$h
done
for w in 1 2 3; do
    sit waiter$w ann run busy
    eval "waiter$w=\$pid"
    eventually anns_stands busy $w "$pid"
done
logout
status 75 ann run -n busy true
status 75 ann run -n -k 2 busy true
status 75 ann acquire -n busy
status 78 ann run -k 3 busy true
status 73 ann create busy -k 2
says busy already
status 69 ann remove busy
says busy "2 holders and 3 waiters"
ann_is busy '.deleted and (.holders | length == 2) and (.waiters | length == 3) and .seats == 2' || fail "not the pool that is in use"
status 0 ann status
grep -q '^busy: ' "$dir/out" || fail "status does not list it"
grep -q 'file was deleted' "$dir/out" || fail "status does not say that the file was deleted"
status 0 ann doctor busy
grep -q 'file was deleted' "$dir/out" || fail "doctor does not say that the file was deleted"
for n in 1 2; do # they wait behind those who waited before
    sit late$n ann run -k 2 busy
    eval "late$n=\$pid"
    eventually anns_stands busy $((3 + n)) "$pid"
done
[ ! -e /dev/shm/usher-$ann/busy ] || fail "a second pool"
# all go in the order in which they came, and there are never more than two
for name in holder1 holder2 waiter1 waiter2 waiter3 late1 late2; do
    is_in $name
    ann_is busy '.holders | length <= 2' || fail "more than two"
    eval "wrapper=\$$name"
    let_go $name 5
    # shellcheck disable=SC2154
    ends "$wrapper" 5
done
[ "$(tr '\n' ' ' <"$dir/order")" = "login holder1 holder2 waiter1 waiter2 waiter3 late1 late2 " ] || fail "the order is $(tr '\n' ' ' <"$dir/order")"
# nobody uses it any more: the next pool is a new one, with a file
status 66 ann run busy true
status 0 ann run -k 3 busy true
[ -f /dev/shm/usher-$ann/busy ] || fail "no file"

# The wrapper was killed: the command has the pool.
sit alone ann run -k 1 alone
wrapper=$pid
is_in alone
kill -KILL "$wrapper"
ends "$wrapper" 137
logout
status 75 ann run -n -k 1 alone true
begin after ann run alone -- sh -c 'echo in'
after=$pid
eventually anns_stands alone 1 "$after"
let_go alone
ends "$after" 0
# removed on purpose: the next pool is a new one, though the old one is still open somewhere
sit kept ann run -k 1 kept
kept=$pid
is_in kept
logout
status 0 ann remove --force kept
status 0 ann run -n -k 2 kept true
let_go kept
ends "$kept" 0
# a path: as for a name
mkdir /dev/shm/hers && chown $ann /dev/shm/hers
sit bypath ann run -k 1 /dev/shm/hers/p
bypath=$pid
is_in bypath
logout
status 75 ann run -n /dev/shm/hers/p true
let_go bypath
ends "$bypath" 0
# the same path on another file system is another pool
mkdir "$dir/mnt" && mount -t tmpfs -o mode=777 none "$dir/mnt"
sit other ann run -k 1 "$dir/mnt/p"
other=$pid
is_in other
rm "$dir/mnt/p"
mount -t tmpfs -o mode=777 none "$dir/mnt"
status 0 ann run -n -k 1 "$dir/mnt/p" true
umount "$dir/mnt"
status 75 ann run -n -k 1 "$dir/mnt/p" true
let_go other
ends "$other" 0
umount -l "$dir/mnt"

# A stranger's deleted pool that has the path of root's: it does not count.
rm -rf /dev/shm/usher-0
mkdir -m 777 /dev/shm/usher-0 && chown $eve /dev/shm/usher-0
sit trap eve run -k 1 --mode 666 /dev/shm/usher-0/trap
trap=$pid
is_in trap
rm -rf /dev/shm/usher-0
status 0 usher run -n -k 1 trap true
[ "$(stat -c %u /dev/shm/usher-0/trap)" = 0 ] || fail "root uses eve's pool"
let_go trap
ends "$trap" 0

# Root with the environment of another user makes nothing of root's in that user's places.
mkdir /run/user/$bob && chown $bob /run/user/$bob && chmod 700 /run/user/$bob
status 0 env XDG_RUNTIME_DIR=/run/user/$bob HOME="$dir/home/bob" usher run -k 1 roots true
empty /run/user/$bob || fail "root left something in bob's runtime directory"
[ -f /dev/shm/usher-0/roots ] || fail "not in root's directory"
status 77 env USHER_DIR=/run/user/$bob/pools usher run -k 1 p true
says p "another user" "/run/user/$bob: owner $bob, mode 700"
mkdir -m 700 /run/user/$bob/pools && chown $bob /run/user/$bob/pools
status 77 env USHER_DIR=/run/user/$bob/pools usher run -k 1 p true
says p "another user" "/run/user/$bob/pools: owner $bob, mode 700"
empty /run/user/$bob/pools || fail "root left a pool in bob's directory"
status 0 env USHER_DIR=/run/user/$bob/pools bob run -k 1 p true
# but root may look at any pool, and clean up
sit seen bob run -k 1 seen
seen=$pid
is_in seen
path=/dev/shm/usher-$bob/seen
status 0 usher status $path --json
jq -e '.holders | length == 1' "$dir/out" >/dev/null || fail "root does not see the holder"
status 0 usher doctor $path
grep -q 'consistency check passed' "$dir/out" || fail "no check"
for verb in "run -n $path true" "acquire -n $path" "remove $path" "resize $path 2"; do
    # shellcheck disable=SC2086
    status 77 usher $verb
    says "another user" "$path: owner $bob, mode 600"
done
status 77 eve status $path
[ "$(stat -c '%u %a' $path)" = "$bob 600" ] || fail "root changed the pool"
let_go seen
ends "$seen" 0

# A pool for a group: one command, then members need nothing but the name.
status 73 usher create cards -k 2 --group $group
says cards /run/usher/shared
mkdir -m 1777 /run/usher && chmod 1777 /run/usher
mkdir -m 755 /run/usher/shared && chown $eve /run/usher/shared # eve was first
status 73 usher create cards -k 2 --group $group
says cards /run/usher/shared
status 0 eve create /run/usher/shared/cards -k 9 --mode 666
status 66 ann run cards true # her pools do not count
rm -rf /run/usher/shared
mkdir /run/usher/shared && chmod 777 /run/usher/shared # nor do any where all users can create them
status 73 usher create cards -k 2 --group $group
chmod 755 /run/usher/shared
status 64 usher create cards -k 2 --group no-such-group
says --group
status 0 usher create cards --labels red,blue --group $group
[ "$(stat -c '%u %g %a' /run/usher/shared/cards)" = "0 $group 660" ] || fail "$(stat -c '%u %g %a' /run/usher/shared/cards)"
sit anns ann run cards
anns=$pid
is_in anns
status 0 bob run cards -- sh -c 'echo $USHER_LABEL'
case $(cat "$dir/out") in red | blue) ;; *) fail "no label of the pool: $(cat "$dir/out")" ;; esac
status 0 bob status cards --json
jq -e '.path == "/run/usher/shared/cards" and (.holders[0].label | . == "red" or . == "blue")' "$dir/out" >/dev/null || fail "not that pool"
status 0 bob status --json
jq -se 'map(.pool) | index("cards") != null' "$dir/out" >/dev/null || fail "it is not listed"
status 77 eve run cards true
says cards "/run/usher/shared/cards: owner root, mode 660"
status 0 eve status
grep -q cards "$dir/out" "$dir/said.err" && fail "strangers see it in their list"
status 77 bob create mine -k 1 --group $group
status 69 bob remove cards # in use
let_go anns
ends "$anns" 0
status 77 bob remove cards # and not his
status 0 bob run -n cards true # not removed
# a name of her own and a shared one: said, not chosen
mkdir -m 700 /dev/shm/usher-$ann && chown $ann /dev/shm/usher-$ann
status 0 ann create /dev/shm/usher-$ann/cards -k 1
status 69 ann run cards true
says cards /run/usher/shared/cards /dev/shm/usher-$ann/cards
status 0 ann remove /dev/shm/usher-$ann/cards
# in a directory of one's choice
mkdir "$dir/lab" && chown $ann:$group "$dir/lab" && chmod 2770 "$dir/lab"
status 0 ann create "$dir/lab/cards" -k 1 --group $group
[ "$(stat -c '%u %g %a' "$dir/lab/cards")" = "$ann $group 660" ] || fail "not for the group"
status 0 bob run "$dir/lab/cards" true
status 77 eve create "$dir/eves" -k 1 --group $group
[ ! -e "$dir/eves" ] || fail "something is left"

# Labels are the pool's.
status 0 ann create gpu --labels 4,7
status 0 ann run gpu --env CARD -- sh -c 'echo $CARD $USHER_LABEL'
prints "4 4"
status 0 ann run gpu --labels 4,7 true
status 78 ann run gpu --labels a,b true
says gpu 4,7 a,b
status 0 ann acquire gpu --export --for $$
grep -qE " USHER_LABEL='[47]'\$" "$dir/out" || fail "acquire --export has no label: $(cat "$dir/out")"
status 0 ann release gpu --for $$
status 64 ann create bad -k 3 --labels a,b
status 64 ann create bad --labels "a,$(printf 'b\tc')"

# Definitions: the pool is made again by its name alone.
rm -rf /run/usher/$ann /dev/shm/usher-$ann
status 0 ann create nightly -k 2 --guests 50 --mode 640 --define
definition=$dir/home/ann/.config/usher/pools.d/nightly
[ "$(grep -v '^#' "$definition" | tr '\n' ' ')" = "seats = 2 guests = 50 mode = 640 " ] || fail "$(cat "$definition")"
rm -rf /run/usher/$ann # a reboot
status 0 ann run nightly -- sh -c 'echo $USHER_SEATS'
prints 2
[ "$(stat -c %a /run/usher/$ann/nightly)" = 640 ] || fail "not with its mode"
status 0 ann status nightly
status 0 ann doctor nightly
grep -qF "Defined in $definition, with 2 seats." "$dir/out" || fail "doctor does not name the definition"
status 0 ann remove nightly
status 78 ann run -k 3 nightly true
says nightly "$definition" "2 seats" "not 3"
status 0 ann run -k 2 nightly true
status 0 ann remove nightly
status 0 ann create nightly
status 0 ann remove nightly
status 0 ann create nightly -k 5 --define # anew
status 0 ann create nightly -k 5 --define # and again: the same
status 73 ann create nightly -k 6 --define
status 0 ann create --labels a,b named --define
rm -rf /run/usher/$ann
status 0 ann create --all
for name in nightly named; do
    [ -f /run/usher/$ann/$name ] || fail "$name was not made"
done
status 0 ann create --all
status 0 ann run named -- sh -c 'echo $USHER_LABEL'
prints a
# errors name the file and the line
wrong() { # TEXT LINE PATTERN
    printf '%b' "$1" >"$definition"
    status 73 ann run nightly true
    says nightly "$definition${2:+:$2}: " "$3"
    [ ! -e /run/usher/$ann/nightly ] || fail "a pool was made"
}
status 0 ann remove nightly
wrong 'seats = 4\nseets = 4\n' 2 "'seets'"
wrong '# a comment\n\nseats = none\n' 3 "'none'"
wrong 'seats 4\n' 1 "key = value"
wrong 'seats = 1\nseats = 2\n' 2 second
wrong 'seats = 3\nlabels = a,b\n' "" "3 seats"
wrong 'labels = a,,b\n' "" label
wrong 'mode = 660\n' "" seats
wrong 'seats = 1\nmode = 999\n' 2 999
wrong 'seats = 1\ngroup = nobodys-group\n' 2 nobodys-group
wrong 'seats = 70000\n' 1 70000
printf 'seats = 3\n' >"$definition"
chmod 666 "$definition"
status 73 ann run nightly true
says nightly "$definition: " "mode 666"
chmod 644 "$definition"
chown $eve "$definition"
status 73 ann run nightly true
says nightly "$definition: " $eve
rm "$definition"
# root's definitions count for all users, and before theirs
mkdir -p /etc/usher/pools.d
printf 'seats = 4\n' >/etc/usher/pools.d/common
status 0 ann run common -- sh -c 'echo $USHER_SEATS'
prints 4
status 77 ann create common -k 1 --define
says common /etc/usher/pools.d/common
# one for a group: root makes it, members use it
status 0 usher remove cards
status 0 usher create cards -k 3 --group $group --define
grep -qx "group = $group" /etc/usher/pools.d/cards || fail "the definition has no group"
rm -rf /run/usher/shared/cards # a reboot
status 77 ann run cards true
says cards /etc/usher/pools.d/cards "usher create cards"
status 0 usher create --all
[ "$(stat -c '%u %g %a' /run/usher/shared/cards)" = "0 $group 660" ] || fail "not as defined"
status 0 ann run cards -- sh -c 'echo $USHER_SEATS'
prints 3
# root does not read definitions of the user whose environment it has
mkdir -p "$dir/home/bob/.config/usher/pools.d"
printf 'seats = 9\n' >"$dir/home/bob/.config/usher/pools.d/bobs"
chown -R $bob "$dir/home/bob"
status 66 env HOME="$dir/home/bob" usher run bobs true
status 0 bob run bobs true

echo "$checks checks passed"
