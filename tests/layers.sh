#!/bin/sh
# The layers of the design: fails if an #include crosses its arrows, and shows that it can fail.
#     step, tickets, svg  nothing but themselves
#     papers              step, tickets
#     core                step (in the build that is explored only)
#     os                  nothing but itself
#     gate                tickets, wait, os, include/usher.h
#     wait                os, core, pool, reaper, include/usher.h
#     reaper              os, core, pool, wait, include/usher.h
#     pool                os, core, wait, reaper, include/usher.h
#     zk                  pool/remote.h                   (the seam, nothing else of pool)
#     model               core, gate, step, tickets
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
    core) echo "step" ;; # only in the build that is explored
    os) echo "" ;;
    gate) echo "tickets wait os usher.h" ;;
    wait) echo "os core pool reaper usher.h" ;;
    reaper) echo "os core pool wait usher.h" ;;
    pool) echo "os core wait reaper usher.h" ;; # and the header that is installed
    zk) echo "pool/remote.h" ;;
    model) echo "core gate step tickets" ;;
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
echo '#include "check/explore/explore.h"' >"$scratch/step/bad.c"
if [ -z "$(crossings "$scratch")" ]; then
    echo "this test does not see a crossing it should see"
    exit 1
fi
echo "no include crosses the layers"
