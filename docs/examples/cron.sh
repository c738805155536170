#!/bin/sh
# A job that starts every few minutes and must not overlap itself: if the last one is still running, the
# new one does nothing. Needs usher in the PATH.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export USHER_DIR="$dir/pools" # pools of its own
cd "$dir"

# A stand-in for the job. It fails if it overlaps itself.
cat >backup <<'END'
#!/bin/sh
mkdir busy || exit 1
echo "backup of $1 begins"
until [ -e "$1.finish" ]; do sleep 0.05; done
rmdir busy
echo "backup of $1 ends"
END
chmod +x backup

# What cron does at that time.
cron() {
    usher run backup -k 1 -n -- ./backup "$1" || [ $? -eq 75 ]
}

cron 10:00 &
until [ -d busy ]; do sleep 0.05; done
cron 10:05 # the backup of 10:00 is still running: nothing happens, and that is no failure
echo "10:05: the last backup is still running"
touch 10:00.finish
wait $!
touch 10:10.finish
cron 10:10
