#!/bin/sh
# Two licences of a simulator and three scripts that need one; one script is killed while it has a licence.
# Needs usher in the PATH.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export USHER_DIR="$dir/pools" # pools of its own
cd "$dir"

# The script: it has a licence only between acquire and release.
cat >script <<'END'
#!/bin/sh
licence=$(usher acquire simulator -k 2) || exit
echo "script $1 has licence $licence"
until [ -e "$1.finish" ]; do sleep 0.05; done # the simulation
usher release simulator
echo "script $1 has released its licence"
END
chmod +x script

# seen TEXT: wait until the status has this text.
seen() {
    until usher status simulator 2>/dev/null | grep -q "$1"; do sleep 0.05; done
}

./script A &
a=$!
seen '1 free, 0 waiting'
./script B &
b=$!
seen '0 free, 0 waiting'
./script C &
c=$!
seen '0 free, 1 waiting'

echo "script A is killed"
kill -9 $a
seen '0 free, 0 waiting' # C has the licence of A

touch B.finish C.finish
wait $b
wait $c
usher status simulator
