#!/bin/sh
# The binary interface of libusher is that of the last release: a program that was linked with it works
# with this build, too. Compared with the record tests/abi/libusher.so.0:
#
#     symbol NAME@@VERSION               exported by the library
#     struct NAME SIZE ALIGNMENT         of include/usher.h
#     field STRUCT.NAME OFFSET SIZE      except reserved ones, which shrink when a field is added
#     constant NAME VALUE                flags and errors
#
# Fails if a line of the record is missing or different. Lines that are new are compatible: they are
# counted, and recorded with the next release. Then it shows that it can fail.
#
# usage: abi.sh BUILD [EMULATOR..]     compare
#        abi.sh --record BUILD         write the record, at a release (CONTRIBUTING.md) or, with a new
#                                      soname, after a change that breaks programs
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."
record=tests/abi/libusher.so.0
recording=no
if [ "$1" = --record ]; then
    recording=yes
    shift
fi
build=$1
shift # the rest runs a program of that build
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

fail() {
    echo "FAILED: $*" >&2
    exit 1
}
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")

# describe HEADER: a program that prints structs, fields and constants of the header.
describe() {
    # without comments, one declaration a line
    tr '\n' ' ' <"$1" | sed 's|/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/||g; s/[;{]/&\n/g; s/}/\n&/g' >"$dir/flat"
    echo '#include <stddef.h>'
    echo '#include <stdio.h>'
    echo '#include "header.h"'
    echo 'int main(void) {'
    awk '
        /struct usher_[a-z]+ *[{]$/ {
            match($0, /struct usher_[a-z]+/); name = substr($0, RSTART + 7, RLENGTH - 7)
            printf "printf(\"struct %s %%zu %%zu\\n\", sizeof(struct %s), _Alignof(struct %s));\n",
                name, name, name
            next
        }
        /^}/ { name = "" }
        name != "" && /;$/ {
            line = $0; sub(/;$/, "", line)
            if (match(line, /[(][*][a-z_]+[)]/)) {
                line = substr(line, RSTART + 2, RLENGTH - 3)
            }
            gsub(/\[[^]]*\]/, "", line)
            count = split(line, parts, ",")
            for (p = 1; p <= count; p++) {
                field = parts[p]; sub(/ *$/, "", field); sub(/.*[ *]/, "", field)
                if (field != "reserved") {
                    printf "printf(\"field %s.%s %%zu %%zu\\n\", offsetof(struct %s, %s), ", name,
                        field, name, field
                    printf "sizeof(((struct %s *)0)->%s));\n", name, field
                }
            }
        }' "$dir/flat"
    sed -n 's/^#define \(USHER_[A-Z_]*\) [A-Z0-9].*/\1/p' "$1" |
        sed 's/.*/printf("constant & %lld\\n", (long long)&);/' | grep -v 'constant USHER_VERSION '
    echo 'return 0; }'
}

# interface HEADER EMULATOR..: what the header says, and the symbols of the library.
interface() {
    cp "$1" "$dir/header.h"
    describe "$1" >"$dir/describe.c"
    shift
    "$compiler" -std=c17 -D_GNU_SOURCE -I"$dir" "$dir/describe.c" -o "$dir/describe" || return
    "$@" "$dir/describe" || return
    nm -D --defined-only --with-symbol-versions "$build/libusher.so" | sed 's/.* /symbol /' |
        grep '@@'
}

# lost RECORD NOW: print the lines of the record that are not in NOW.
lost() {
    grep -v '^#' "$1" | sort >"$dir/recorded"
    sort "$2" >"$dir/now.sorted"
    comm -23 "$dir/recorded" "$dir/now.sorted"
}

interface include/usher.h "$@" >"$dir/now" || fail "usher.h cannot be described"
if [ $recording = yes ]; then
    version=$(sed -n 's/^project(usher VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
    {
        echo "# The binary interface of libusher $version, written by tests/abi.sh --record."
        sort "$dir/now"
    } >"$record"
    echo "$record: $(wc -l <"$dir/now") lines"
    exit 0
fi

lost "$record" "$dir/now" >"$dir/lost"
if [ -s "$dir/lost" ]; then
    echo "Recorded in $record, but missing or different now:" >&2
    while read -r kind name rest; do
        now=$(sed -n "s/^$kind $name //p" "$dir/now")
        echo "    $kind $name $rest (now: ${now:-none})" >&2
    done <"$dir/lost"
    fail "programs that are linked with the last release would break; restore it, or give the library a new soname"
fi
grep -q '^symbol usher_acquire@@' "$record" || fail "$record has no usher_acquire"
grep -q '^field usher_options.waiting ' "$record" || fail "$record has no usher_options.waiting"
grep -q '^constant USHER_KEEP ' "$record" || fail "$record has no USHER_KEEP"

# It finds a field that grew, one that went, a constant that changed and a symbol that is missing.
caught=0
for change in 's/uint32_t number;/uint64_t number;/' 's/uint64_t ticket; .*//' \
    's/define USHER_KEEP 4U/define USHER_KEEP 64U/'; do
    sed "$change" include/usher.h >"$dir/changed.h"
    interface "$dir/changed.h" "$@" >"$dir/then" || fail "the changed header cannot be described"
    [ -n "$(lost "$record" "$dir/then")" ] || fail "this change was not found: $change"
    caught=$((caught + 1))
done
grep -v '^symbol usher_release@@' "$dir/now" >"$dir/then"
[ "$(lost "$record" "$dir/then" | wc -l)" -eq 1 ] || fail "a missing symbol was not found"
caught=$((caught + 1))

new=$(($(wc -l <"$dir/now") - $(wc -l <"$dir/recorded")))
echo "$(wc -l <"$dir/recorded") lines of the record are as they were; $new are new; $caught changes are found"
