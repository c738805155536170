#!/bin/sh
# usher-lab compare as its user sees it: the accesses of a passage alone are exactly what the papers'
# formulas say, the document is complete, the pictures are well-formed. usage: lab_compare.sh BUILD
set -eu
lab=$1/usher-lab
# shellcheck source=tests/checks.sh disable=SC1091
. "$(dirname "$0")/checks.sh"

# alone ALGORITHM N K ENTER LEAVE: the accesses of a passage while no other process runs.
alone() {
    status 0 "$lab" compare "$1" -n "$2" -k "$3" --seconds 0.01 --json
    json ".sizes[0].algorithms[0].alone == {\"enter\":$4,\"leave\":$5} and .sizes[0].algorithms[0].accesses_alone == $4 + $5"
}

# picture FILE: a whole SVG document, and none of its text is a number that is not one.
picture() {
    head -n 1 "$1" | grep -q '^<svg xmlns=' || fail "$1 does not begin as a picture"
    [ "$(tail -n 1 "$1")" = "</svg>" ] || fail "$1 does not end"
    [ "$(grep -o '<text' "$1" | wc -l)" -eq "$(grep -o '</text>' "$1" | wc -l)" ] || fail "$1 has open texts"
    ! grep -qE 'nan|inf[^o]' "$1" || fail "$1 has no numbers"
    if command -v xmllint >/dev/null; then
        xmllint --noout "$1" || fail "$1 is not well-formed"
    fi
    checks=$((checks + 1))
}

# Alone: 1989 in one step each way, 1979 in two; 2002 by its formulas, and what section 7 forgets:
# at each node of GTEX's tree there are k competitions, not one.
alone semaphore 8 2 1 1
alone bank 8 2 2 1
alone colored 8 2 1 1
alone colored-1979 8 2 2 1
alone naive 8 2 60 1 # (n-k)(n+2)
alone excl 8 2 60 1
alone excl 64 1 4158 1
alone excl 64 63 66 1
alone gtex 4 1 10 1 # (2+2) + (2+4)
alone gtex 8 2 32 1 # 2 ((2+4) + (2+8))
alone gtex 64 1 138 1
alone gtex 12 2 49 1 # a leaf of three, (2+3), then 2 (2+6) and 2 (2+12)
alone fife 8 2 16 8   # 2n-1, and a label; n
alone peek-queue 5 1 2 1
alone dqb 5 1 4 1
alone sq2 2 1 3 4

# the whole comparison: every key, every algorithm that takes the size, none more than k inside
status 0 "$lab" compare -n 4 -k 1 --seconds 0.04 --json -o "$dir/table.svg"
json '.rounds >= 1 and .seconds == 0.04 and .processes == false and .processors >= 1 and (.sizes | length == 1)'
json '.sizes[0] | .n == 4 and .k == 1 and (.algorithms | map(.algorithm) | contains(["semaphore","bank","queue","numbered","colored","colored-1979","naive","excl","gtex","fife","peek-queue","dqb"]))'
json '.sizes[0].algorithms | map(.algorithm) | all(test("printed|sq2") | not)'
json '.sizes[0].algorithms | all(.most_inside == 1 and .stuck == 0 and .cycles > 0 and .cycles_per_second.least > 0 and .cycles_per_second.least <= .cycles_per_second.median and .cycles_per_second.median <= .cycles_per_second.most)'
json '.sizes[0].algorithms | all(.accesses_contended >= 2 and .wait_ns.median <= .wait_ns.p99 and .wait_ns.p99 <= .wait_ns.longest and .entries_logged > 0 and .bits > 0)'
json '.sizes[0].algorithms | map(select((.promises | index("fifo")) and .algorithm != "bank")) | length >= 8 and all(.overtakings == 0 and .most_overtaken == 0)'
json '.sizes[0].algorithms | map(select(.updates | not) | .algorithm) | contains(["naive","excl","gtex","fife"])'
json '.sizes[0].algorithms | map(select(.updates) | .algorithm) | contains(["semaphore","queue","colored","dqb"])'
picture "$dir/table.svg"
for word in semaphore gtex dqb 'n=4, k=1' 'no bound' 'processor'; do
    grep -q "$word" "$dir/table.svg" || fail "the picture does not say $word"
done

# everybody passes once, however short the run is
status 0 "$lab" compare excl -n 40 -k 1 --seconds 1e-9 --json -o "$dir/short.svg"
json '.sizes[0].algorithms[0] | .accesses_alone == 39 * 42 + 1 and .cycles >= 40 and .cycles_per_second.least > 0'
picture "$dir/short.svg"

# fewer steps cannot be: contended a passage takes no less than the shortest way alone
status 0 "$lab" compare excl -n 4 -k 2 --seconds 0.05 --json
json '.sizes[0].algorithms[0] | .accesses_contended >= .accesses_alone - 0.001'

# several sizes: pairs with k < n, and maps; on processes
status 0 "$lab" compare colored excl -n 2,4 -k 1,2 --seconds 0.04 --processes --json -o "$dir/maps.svg"
json '.processes == true and [.sizes[] | [.n, .k]] == [[2,1],[4,1],[4,2]]'
picture "$dir/maps.svg"
grep -q 'k=2' "$dir/maps.svg" || fail "the maps have no k=2"

# as text, and drawn to standard output
status 0 "$lab" compare semaphore colored dqb -n 12 -k 3 --seconds 0.04
grep -q '^semaphore  *u  *---  *2\*' "$dir/out" || fail "no row of the semaphore"
grep -q '^colored  *u  *SLF  *2\*' "$dir/out" || fail "no row of colored"
grep -q '^not at this size: dqb$' "$dir/out" || fail "dqb is not said to be left out"
status 0 "$lab" compare semaphore -n 2 -k 1 --seconds 0.02 -o -
cp "$dir/out" "$dir/stdout.svg"
picture "$dir/stdout.svg"

# more than k inside; never in alone; bad input
status 1 "$lab" compare colored mutant-valid-too-far -n 8 -k 1 --seconds 1
grep -q '^usher-lab: mutant-valid-too-far: .* inside at once' "$dir/err" || fail "does not say who broke it"
for bad in "-n 4" "-k 1" "-n 4 -k 0" "-n 4, -k 1" "-n ,4 -k 1" "-n 4,x -k 1" "-n 1,2,3,4,5,6,7,8,9 -k 1" \
    "-n 100 -k 1" "-n 2,3 -k 3" "nosuch -n 4 -k 1" "pool -n 2 -k 1" "dqb -n 20 -k 1" "-n 4 -k 1 --seconds 0"; do
    # shellcheck disable=SC2086
    status 64 "$lab" compare $bad
done
status 64 "$lab" run colored -n 2,4 -k 1 # lists are for compare
status 73 "$lab" compare colored -n 2 -k 1 --seconds 0.02 -o "$dir/no/such/directory.svg"
echo "$checks checks passed"
