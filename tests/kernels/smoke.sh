#!/bin/sh
# Boot Debian 12's kernel with two CPUs and run the scenarios there. The rest is `make kernels`. Skipped if the
# emulator is not installed, or the package of the kernel cannot be had. usage: smoke.sh BUILD
set -eu
for program in qemu-system-x86_64 busybox cpio apt-get dpkg-deb; do
    command -v $program >/dev/null || {
        echo "SKIPPED: $program is not installed; 'make setup-kernels' installs it"
        exit 77
    }
done
grep -q __asan_init "$1/usher" && echo "SKIPPED: under a sanitizer" && exit 77
grep -q __tsan_init "$1/usher" && echo "SKIPPED: under a sanitizer" && exit 77
export CPUS=2 PARTS=scenarios LIMIT=300
exec "$(dirname "$0")/../../tools/kernels" "$1" 6.1
