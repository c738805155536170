#!/bin/sh
# A job that comes every few minutes and must not overlap itself: if the last one is still at it, this
# one does nothing. Needs usher in the PATH.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export USHER_DIR="$dir/pools" # a place of its own, so that this example disturbs nobody
cd "$dir"

# This stands for the job. It fails if it overlaps itself.
cat >backup <<'END'
#!/bin/sh
mkdir busy || exit 1
echo "backup of $1 begins"
until [ -e "$1.finish" ]; do sleep 0.05; done
rmdir busy
echo "backup of $1 ends"
END
chmod +x backup

# What cron would do at that time.
cron() {
    usher run backup -n -- ./backup "$1" || [ $? -eq 75 ]
}

cron 10:00 &
until [ -d busy ]; do sleep 0.05; done
cron 10:05 # the backup of 10:00 is not done: nothing happens, and that is no failure
echo "10:05 has come and gone"
touch 10:00.finish
wait $!
touch 10:10.finish
cron 10:10
