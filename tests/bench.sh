#!/bin/sh
# Test that usher-bench runs every workload, that its output is well-formed, and that it writes the
# document. No figure is checked: a measuring test would fail on a busy machine.
# usage: bench.sh BUILD
set -eu
bench=$(realpath "$1")/usher-bench
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

fail() {
    echo "FAILED: $*"
    exit 1
}

"$bench" --help >help || fail "--help"
workloads=$(sed -n '/^workloads:/,/^$/s/^  \([a-z]*\) .*/\1/p' help)
[ "$(echo "$workloads" | wc -l)" -ge 12 ] || fail "the help has too few workloads"
code=0
"$bench" nonsense >/dev/null 2>&1 || code=$?
[ "$code" -eq 64 ] || fail "an unknown workload exits $code, not 64"

# The checker workload compiles a program with Spin; spin-compare is tested by use.
mkdir made
# shellcheck disable=SC2046 # words are what is wanted
"$bench" --smoke --json r.json --csv r.csv --document made \
    $(echo "$workloads" | grep -v checker) >said || fail "the smoke run exits $?"

holds() {
    jq -e "$1" r.json >/dev/null || fail "false for r.json: $1"
}
holds '."usher-bench" == 1 and .effort == "smoke"'
holds '.machine | .kernel and .compiler and .commit'
holds '[.tables[] | (.rows | length > 0) and (.unit | length > 0)] | all'
holds '[.tables[].rows[] | .q1 <= .median and .median <= .q3 and .count > 0] | all'
holds '[.wants[] | (.met | type == "boolean") and (.rule | length > 0)] | all and length > 10'
holds '[.allows[] | (.what | length > 0) and .value >= 0] | all and length > 2'
for workload in $workloads; do
    ! jq -e ".absent[] | select(.workload == \"$workload\" and .peer == \"all\")" r.json || continue
    [ "$workload" = checker ] || grep -q "\"$workload\"" r.csv || fail "no $workload in the CSV"
done
rows=$(jq '[.tables[].rows | length] | add' r.json)
[ "$(wc -l <r.csv)" -eq $((rows + 1)) ] || fail "CSV and JSON differ in the number of rows"
sed 's/"[^"]*"/x/g' r.csv | awk -F, 'NF != 12 {exit 1}' || fail "a CSV line does not have 12 fields"
grep -q ": yes$\|: NO$" said || fail "neither yes nor NO is printed"

for workload in uncontended contended handover parked growth recovery idle job; do
    svg=made/bench-$workload.svg
    [ -s "$svg" ] || fail "no $svg"
    [ "$(head -c 4 "$svg")$(tail -n 1 "$svg")" = "<svg</svg>" ] || fail "$svg is incomplete"
    ! grep -qi "nan\|inf\"" "$svg" || fail "$svg has a number that is NaN or infinite"
    ! command -v xmllint >/dev/null || xmllint --noout "$svg" || fail "$svg is not well-formed XML"
    grep -q "(bench-$workload.svg)" made/benchmarks.md || fail "the document does not show $svg"
done
grep -q "^## Wanted figures" made/benchmarks.md || fail "the document has no wanted figures"
grep -q "^### What the machine allows" made/benchmarks.md || fail "the document does not say what the machine allows"
grep -q "not to quote" made/benchmarks.md || fail "the document does not warn of few rounds"

# The same document from the file alone, and an error for another file.
mkdir again
"$bench" --from r.json --document again || fail "--from"
diff made again >/dev/null || fail "the document from the file differs"
echo '{}' >other.json
if "$bench" --from other.json --document again 2>/dev/null; then
    fail "a file without results is accepted"
fi
[ -z "$(find /dev/shm -maxdepth 1 -name "usher-bench-$$-*")" ] || fail "files are left in /dev/shm"
echo "usher-bench runs and writes its document"
