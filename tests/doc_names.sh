#!/bin/sh
# The documents name files, functions and tests that exist. A name is a word in backticks: a file that ends
# in .c, .h or .sh, or lower-case words that underscores join. Shows that it can fail.
# shellcheck disable=SC2016 # backticks are what is searched for
set -eu
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

find include src tests tools man examples completions docs/examples CMakeLists.txt Makefile \
    -type f ! -path '*/corpus/*' >"$scratch/files"
xargs cat <"$scratch/files" >"$scratch/text"

# missing DOCUMENT..: print the names that do not exist.
missing() {
    for document; do
        grep -oE '`[A-Za-z0-9_./*-]+\.(c|h|sh)`' "$document" | tr -d '`' | sort -u |
            while IFS= read -r file; do
                case $file in *NAME* | *VERB*) continue ;; esac # placeholders
                pattern=$(echo "$file" | sed 's/\./\\./g; s|\*|[^/]*|g')
                grep -qE "(^|/)$pattern\$" "$scratch/files" || echo "$document: $file"
            done
        grep -oE '`[a-z]+(__?[a-z0-9]+)+(\(\))?`' "$document" | tr -d '`()' | sort -u |
            while IFS= read -r name; do
                grep -qw -- "$name" "$scratch/text" || echo "$document: $name"
            done
    done
}

missing README.md CONTRIBUTING.md docs/*.md >"$scratch/missing"
if [ -s "$scratch/missing" ]; then
    echo "documents name what does not exist:"
    cat "$scratch/missing"
    exit 1
fi

# The test itself: it sees what it should see.
echo '`acquire.c`, `core/core*.c`, `usher_open`: they exist. `no_such_''call`, `no_such.''h`: they do not.' \
    >"$scratch/document"
[ "$(missing "$scratch/document" | wc -l)" -eq 2 ] || {
    echo "this test does not see which names exist"
    exit 1
}
echo "every file, function and test that the documents name exists"
