#!/bin/sh
# The layers of the design: fails if an #include crosses its arrows, and shows that it can fail.
#     step, tickets, svg  include nothing of ours but themselves
#     papers              step, tickets
#     core                step, tickets
#     model               core, step, tickets
#     lib                 core, include/usher.h
#     zk                  lib/remote.h                    (the seam, nothing else of lib)
#     check               step                            (knows a machine only by its contract)
#     lab                 check, papers, model, step, svg
#     bench               include/usher.h, svg
#     cli                 include/usher.h
set -eu
cd "$(dirname "$0")/.."

allowed() {
    case "$1" in
    step | tickets | svg) echo "" ;;
    papers) echo "step tickets" ;;
    core) echo "step tickets" ;; # step only in the build that is explored
    model) echo "core step tickets" ;;
    lib) echo "core usher.h" ;; # and the header that is installed
    zk) echo "lib/remote.h" ;;
    check) echo "step" ;;
    lab) echo "check papers model step svg" ;;
    bench) echo "usher.h bench_build.h svg" ;; # the second is made by the build
    cli) echo "usher.h" ;;
    *) echo "unknown" ;;
    esac
}

# crossings DIRECTORY: print every include that the layer may not have. Tests may include tests/test.h.
crossings() {
    for layer in "$1"/*/; do
        name=$(basename "$layer")
        may="$name $(allowed "$name")"
        grep -rn '^#include "' "$layer" --include='*.c' --include='*.h' |
            grep -v '_test\.c:' |
            while IFS= read -r line; do
                target=$(printf '%s' "$line" | sed 's/.*#include "\([^"]*\)".*/\1/')
                case " $may " in
                *" ${target%%/*} "* | *" $target "*) ;;
                *) echo "$line" ;;
                esac
            done
    done
}

found=$(crossings src)
if [ -n "$found" ]; then
    echo "includes that cross the layers:"
    echo "$found"
    exit 1
fi

# The test itself: a step that includes the checker must be caught.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/step"
echo '#include "check/explore.h"' >"$scratch/step/bad.c"
if [ -z "$(crossings "$scratch")" ]; then
    echo "this test does not see a crossing it should see"
    exit 1
fi
echo "no include crosses the layers"
