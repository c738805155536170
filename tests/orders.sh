#!/bin/sh
# Every atomic access of the library that is weaker than seq_cst, and every fence, has a row in
# docs/memory-orders.md, and every row has an access; shows that it can fail.
# shellcheck disable=SC1003,SC2016 # these are patterns of tr and sed
set -eu
cd "$(dirname "$0")/.."

# accesses DIRECTORY ..: "file: access" for each, whatever the line breaks.
accesses() {
    find "$@" \( -name '*.c' -o -name '*.h' \) ! -name '*_test.c' | sort | while IFS= read -r file; do
        tr '\n\\' '  ' <"$file" | tr -s ' ' | grep -oE \
            '(atomic_[a-z_]+(_explicit|_fence)|__atomic_[a-z_]+)\(([^()]|\([^()]*(\([^()]*(\([^()]*\)[^()]*)*\)[^()]*)*\))*(memory_order_[a-z_]+|__ATOMIC_(RELAXED|CONSUME|ACQUIRE|RELEASE|ACQ_REL))\)' |
            sed "s|^|$file: |"
    done
}

# rows FILE: the same of the table.
rows() {
    sed -n 's/^| \(src[^ ]*\) | `\(.*\)` | .*/\1: \2/p' "$1" | sort -u
}

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
accesses src/core src/gate src/pool src/wait src/reaper src/os >"$here/all"
sort -u "$here/all" >"$here/source"
rows docs/memory-orders.md >"$here/table"
if ! diff "$here/table" "$here/source" >"$here/differ"; then
    echo "docs/memory-orders.md (<) and the source (>) do not agree:"
    cat "$here/differ"
    exit 1
fi
named=$(find src/core src/gate src/pool src/wait src/reaper src/os \( -name '*.c' -o -name '*.h' \) ! -name '*_test.c' -exec cat {} + |
    grep -oE 'memory_order_|__ATOMIC_(RELAXED|CONSUME|ACQUIRE|RELEASE|ACQ_REL)' | wc -l)
found=$(wc -l <"$here/all")
if [ "$named" -ne "$found" ]; then
    echo "the source names an order $named times, and this test understands $found of them"
    exit 1
fi

# The test itself: an access that the table does not have must be seen.
mkdir "$here/src"
echo 'x = atomic_load_explicit(&y[f(0)], memory_order_relaxed);' >"$here/src/bad.c"
if [ "$(accesses "$here/src")" != "$here/src/bad.c: atomic_load_explicit(&y[f(0)], memory_order_relaxed)" ]; then
    echo "this test does not see an access that it should see"
    exit 1
fi
echo "$found weaker accesses and fences, each with its partner in docs/memory-orders.md"
