#!/bin/sh
# Two licences of a simulator, three scripts that need one in their middle, and one script that is
# killed while it has it. Needs usher in the PATH.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export USHER_DIR="$dir/pools" # a place of its own, so that this example disturbs nobody
cd "$dir"

# The script: it has a licence between acquire and release, and not before or after.
cat >script <<'END'
#!/bin/sh
licence=$(usher acquire simulator -k 2) || exit
echo "script $1 has licence $licence"
until [ -e "$1.finish" ]; do sleep 0.05; done # the simulation
usher release simulator
echo "script $1 has given it back"
END
chmod +x script

# seen WHAT: wait until it is so.
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
seen '0 free, 0 waiting' # C has what A had

touch B.finish C.finish
wait $b
wait $c
usher status simulator
