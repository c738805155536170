#!/bin/sh
# What is installed: files where they belong, names that are exported, programs that can be built
# against it with pkg-config and nothing else. usage: install.sh BUILD
set -eu
build=$1
# shellcheck source=tests/checks.sh disable=SC1091
. "$(dirname "$0")/checks.sh"
unset DESTDIR PKG_CONFIG_PATH PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR

# setting NAME: as it was configured.
setting() {
    sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"
}

so cmake --install "$build" --prefix "$dir/usr" >/dev/null
so env DESTDIR="$dir/stage" cmake --install "$build" >/dev/null
staged=$dir/stage$(setting CMAKE_INSTALL_PREFIX)
lib=$(setting CMAKE_INSTALL_LIBDIR)
so cmp "$dir/usr/include/usher.h" include/usher.h
so diff -r --no-dereference "$dir/usr" "$staged" # the same, wherever it goes
so test "$(find "$dir/stage" -type f | grep -cv "^$staged/")" -eq 0

version=$(sed -n 's/^project(usher VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
library=$dir/usr/$lib/libusher.so
so test "$(readlink "$library")" = libusher.so.0
so test "$(readlink "$library.0")" = "libusher.so.$version"
so test -f "$library.$version"
so test -f "$dir/usr/$lib/libusher.a"
so test -f "$dir/usr/$lib/pkgconfig/usher.pc"
so test "$(find "$dir/usr/include" -type f | wc -l)" -eq 1 # one header, and no other
so test "$(objdump -p "$library" | sed -n 's/^ *SONAME *//p')" = libusher.so.0

# exported: what the map says, with its version; all functions of the header, and nothing else
nm -D --defined-only --with-symbol-versions "$library" | sed 's/.* //' | grep -v '^USHER_0' |
    sort >"$dir/exported"
tr ' ' '\n' <src/pool/usher.map | sed -n 's/^\(usher_[a-z_]*\);$/\1@@USHER_0/p' | sort >"$dir/mapped"
sed 's/@@.*//' "$dir/exported" >"$dir/names"
# the header's functions: a name before a bracket, in what is declared with USHER_API
tr '\n' ' ' <include/usher.h | sed 's/USHER_API/\n&/g' | grep '^USHER_API [a-z]' |
    sed 's/(.*//; s/.*[ *]//' | sort >"$dir/declared"
so test -s "$dir/exported"
so diff "$dir/mapped" "$dir/exported"
so diff "$dir/declared" "$dir/names"

# programs built against the installed tree, with the shared library and with the archive
PKG_CONFIG_PATH=$dir/usr/$lib/pkgconfig
export PKG_CONFIG_PATH
so test "$(pkg-config --modversion usher)" = "$version"
# and the header: usher(1) is compiled with both, and would not compile if they differed
so grep -qx "#define USHER_VERSION_STRING \"$version\"" "$dir/usr/include/usher.h"
compiler=$(setting CMAKE_C_COMPILER)
flags="-std=c17 -Wall -Wextra -Werror $(setting CMAKE_C_FLAGS)"
for example in hello workers threads command; do
    # shellcheck disable=SC2046,SC2086
    so "$compiler" $flags examples/$example.c $(pkg-config --cflags --libs usher) -pthread \
        -o "$dir/$example"
    # shellcheck disable=SC2046,SC2086
    so "$compiler" $flags examples/$example.c $(pkg-config --cflags usher) -Wl,-Bstatic \
        $(pkg-config --libs-only-L --libs-only-l usher) -Wl,-Bdynamic \
        $(pkg-config --static --libs-only-other usher) -o "$dir/$example-static"
done
so readelf -d "$dir/hello" >"$dir/needed"
so grep -q 'NEEDED.*libusher.so.0' "$dir/needed"
# bound when it is loaded: otherwise the first to wait would look for the clock's name first
so readelf -d "$dir/usr/$lib/libusher.so" >"$dir/flags"
so grep -q 'FLAGS_1.* NOW' "$dir/flags"
readelf -d "$dir/hello-static" >"$dir/needed"
if grep -q libusher "$dir/needed"; then
    fail "the archive was not used"
fi
for program in hello hello-static; do
    so timeout 60 "$dir/$program" installed >"$dir/out"
    so grep -qE '^process [0-9]+ has seat 0 with ticket [12]$' "$dir/out"
done
so timeout 60 "$dir/threads" >/dev/null
so timeout 60 "$dir/threads-static" >/dev/null
echo "$checks checks passed"
