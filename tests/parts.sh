#!/bin/sh
# Parts can be left out. The library alone is configured as a packager does it, built, installed, and
# used by a program; it needs libc and nothing else. A part whose libraries are missing is left out
# with a message. Warnings are errors only in the presets of this project. usage: parts.sh BUILD
set -eu
build=$(cd "$1" && pwd)
# shellcheck source=tests/checks.sh disable=SC1091
. "$(dirname "$0")/checks.sh"
unset DESTDIR PKG_CONFIG_PATH PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR CFLAGS LDFLAGS

# setting NAME: as this build was configured.
setting() {
    sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"
}
compiler=$(setting CMAKE_C_COMPILER)

# configure NAME OPTION..: into $dir/NAME, with this build's generator and compiler and no preset.
configure() {
    name=$1
    shift
    cmake -S . -B "$dir/$name" -G "$(setting CMAKE_GENERATOR)" "-DCMAKE_C_COMPILER=$compiler" \
        -DCMAKE_INSTALL_LIBDIR=lib "$@" >"$dir/$name.log" 2>&1 || {
        cat "$dir/$name.log"
        fail "cmake $*"
    }
    checks=$((checks + 1))
}

# The library alone: pkg-config is not even looked for.
configure alone -DUSHER_CLI=OFF -DUSHER_LAB=OFF -DUSHER_BENCH=OFF -DUSHER_ZK=OFF \
    -DUSHER_TESTS=OFF -DUSHER_EXAMPLES=OFF
so test "$(grep -c PKG_CONFIG_EXECUTABLE "$dir/alone/CMakeCache.txt")" -eq 0
so test "$(grep -c 'is left out' "$dir/alone.log")" -eq 0
so test "$(grep -c -e -Werror "$dir/alone/compile_commands.json")" -eq 0
if [ "$(setting USHER_WERROR)" = ON ]; then
    so grep -q -e -Werror "$build/compile_commands.json"
fi
cmake --build "$dir/alone" -j 2 >"$dir/build.log" 2>&1 || {
    cat "$dir/build.log"
    fail "the library alone does not build"
}
find "$dir/alone" -maxdepth 1 \( -name '*.a' -o -name '*.so' \) -printf '%f\n' | sort >"$dir/built"
so test "$(tr '\n' ' ' <"$dir/built")" = "libusher.a libusher.so "
readelf -d "$dir/alone/libusher.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' >"$dir/needed"
so test -s "$dir/needed"
if grep -vE '^(lib(c|pthread|dl|atomic)\.so\.[0-9]+|ld-linux.*|libc\.musl-.*)$' "$dir/needed"; then
    fail "the library needs more than libc"
fi

# Installed: the library, its header, its man pages, and no program.
so cmake --install "$dir/alone" --prefix "$dir/usr" >/dev/null
so test ! -e "$dir/usr/bin"
(cd "$dir/usr" && find . -type f -o -type l) | sed 's/\.so\..*/.so.N/' | sort -u >"$dir/installed"
so diff - "$dir/installed" <<'LIST'
./include/usher.h
./lib/libusher.a
./lib/libusher.so
./lib/libusher.so.N
./lib/pkgconfig/usher.pc
./share/man/man3/usher.3
./share/man/man7/usher.7
LIST
cat >"$dir/program.c" <<'PROGRAM'
#include <usher.h>
int main(void)
{
    struct usher_pool *pool;
    struct usher_seat seat;
    return usher_open(&pool, "parts", &(struct usher_options){.seats = 1}) != 0 ||
           usher_acquire(pool, &seat) != 0 || usher_release(pool, &seat) != 0;
}
PROGRAM
if command -v pkg-config >/dev/null; then
    flags=$(PKG_CONFIG_PATH=$dir/usr/lib/pkgconfig pkg-config --cflags --libs usher)
else
    flags="-I$dir/usr/include -L$dir/usr/lib -Wl,-rpath,$dir/usr/lib -lusher"
fi
# shellcheck disable=SC2086 # words
so "$compiler" -Wall -Wextra -Werror "$dir/program.c" $flags -o "$dir/program"
so timeout 60 "$dir/program"

# Without pkg-config, and so without jansson and ncurses: messages, no error; the library's tests stay.
configure without -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON
for part in 'usher(1)' 'usher-lab(1)' usher-bench; do
    so grep -qF "usher: $part is left out; it needs " "$dir/without.log"
done
ctest --test-dir "$dir/without" -N >"$dir/tests" 2>/dev/null || true
so grep -q ': wait_api_test$' "$dir/tests"
so test "$(grep -cE ': (cli_run|lab_cli|bench|demo|fuzz_words)$' "$dir/tests")" -eq 0

# One part at a time.
for part in CLI LAB BENCH ZK TESTS EXAMPLES; do
    configure "no-$part" "-DUSHER_$part=OFF"
done

# A compiler for 32-bit programs is refused, with a sentence. It need not be able to link them.
echo 'int x;' >"$dir/narrow.c"
if "$compiler" -m32 -c "$dir/narrow.c" -o "$dir/narrow.o" 2>/dev/null; then
    if cmake -S . -B "$dir/narrow" -G "$(setting CMAKE_GENERATOR)" "-DCMAKE_C_COMPILER=$compiler" \
        -DCMAKE_C_FLAGS=-m32 -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY >"$dir/narrow.log" 2>&1; then
        fail "a 32-bit compiler was accepted"
    fi
    so grep -q 'usher needs a 64-bit processor' "$dir/narrow.log"
else
    echo "not checked: $compiler has no -m32"
fi
echo "$checks checks passed"
