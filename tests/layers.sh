#!/bin/sh
# The layers of the design. Fails if
#   - an #include crosses the arrows below;
#   - a file of the library outside src/os makes a system call, except those listed below;
#   - two files under src have the same base name, except those listed below.
# Then it shows that each of the three checks can fail.
#
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
#     cli                 include/usher.h, os/compat.h
set -eu
cd "$(dirname "$0")/.."

# Files of the library that make system calls themselves: FILE CALL.., then the reason.
system_calls='
src/gate/gate.c       syscall                       # futex with a bit set, which src/os does not offer
src/pool/file.c       openat fstat fstatat pread close geteuid # the file of a pool is opened
src/pool/file.c       mmap munmap unlinkat nanosleep # and mapped; a removal is finished
src/pool/make.c       openat close linkat unlinkat getrandom # a file is created
src/pool/make.c       posix_fallocate fchmod fchown mmap munmap # and filled
src/pool/remove.c     unlinkat close                # and removed
src/pool/deleted.c    opendir readdir readlinkat open read pread close fstat stat geteuid # /proc
src/pool/define.c     open pread close fstat geteuid # the file that defines a pool
src/pool/guest.c      close munmap                  # a child process gives up what it had before fork
src/pool/name.c       open close fstat fstatat stat lstat mkdir geteuid # the directories of names
src/pool/pool.c       mmap munmap close             # the memory of a pool that is opened or closed
src/pool/assign.c     getpid                        # whether a seat is assigned to this process
src/pool/remote.c     readlink dlopen               # the module for ZooKeeper is found and loaded
src/pool/spawn.c      getpid getppid                # a child checks that its parent lives
src/reaper/watch.c    poll close                    # descriptors of watched processes
src/reaper/watchdog.c poll close eventfd            # the thread that waits for a death
src/reaper/watchdog.c pthread_create pthread_sigmask # is started with all signals blocked
'

# Base names that two files may have, and why.
same_names='
main.c               # of each program
options.c            # of usher(1) and of usher-lab(1)
cmd_run.c            # usher run and usher-lab run
'

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
    lab) echo "check papers model step svg build.h" ;;
    bench) echo "usher.h build.h svg" ;;
    cli) echo "usher.h os/compat.h build.h" ;; # build.h is made by the build
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

# Names of functions that enter the kernel, or make a thread that does.
calls='clock_gettime clock_nanosleep clone close dlopen dup dup2 dup3 epoll_create1 epoll_ctl
epoll_wait eventfd execve execvp faccessat fallocate fchmod fchown fcntl flock fork fstat fstatat
fstatfs ftruncate getegid geteuid getgid getpid getppid getrandom gettid getuid inotify_add_watch
inotify_init1 ioctl kill linkat lseek lstat madvise membarrier mkdir mkdirat mmap mprotect mremap
msync munmap nanosleep open openat opendir pidfd_open pidfd_send_signal pipe pipe2 poll
posix_fallocate ppoll prctl pread pselect pthread_create pthread_kill pthread_sigmask ptrace pwrite
read readdir readlink readlinkat rename renameat sched_getaffinity sched_setaffinity sched_yield
shm_open shm_unlink sigaction signalfd sigprocmask socket stat statfs statx syscall sysconf tgkill
timer_create timerfd_create unlink unlinkat usleep vfork waitid waitpid write'
layers_of_library='core gate pool reaper wait'

# without_comments FILE: its text, line by line, without comments and strings.
without_comments() {
    awk '{
        line = $0; out = ""
        gsub(/\\"/, "", line); gsub(/"[^"]*"/, "\"\"", line)
        while (line != "") {
            if (inside) {
                at = index(line, "*/")
                if (at == 0) { line = ""; break }
                line = substr(line, at + 2); inside = 0
            } else {
                at = index(line, "/*")
                if (at == 0) { out = out line; break }
                out = out substr(line, 1, at - 1); line = substr(line, at + 2); inside = 1
            }
        }
        print out
    }' "$1"
}

# strays DIRECTORY: print "FILE CALL" for each system call that the list does not allow there, and for
# each entry of the list that is not needed.
strays() {
    pattern=$(echo "$calls" | tr -s ' \n' '|' | sed 's/|$//')
    for layer in $layers_of_library; do
        [ -d "$1/$layer" ] || continue
        find "$1/$layer" -name '*.[ch]' ! -name '*_test.c'
    done | while IFS= read -r file; do
        # a call, not a member's (x.close(, x->open() and not a part of a longer name
        without_comments "$file" |
            grep -oE "(^|[^A-Za-z0-9_.>])($pattern)[(]" |
            sed -E 's/^[^A-Za-z_]//; s/[(]$//' | sort -u | sed "s|^|src${file#"$1"} |"
    done | sort >"$scratch/made"
    echo "$system_calls" | sed 's/#.*//' |
        awk 'NF { for (i = 2; i <= NF; i++) print $1, $i }' | sort >"$scratch/listed"
    comm -23 "$scratch/made" "$scratch/listed" | sed 's/$/ (not listed)/'
    comm -13 "$scratch/made" "$scratch/listed" | sed 's/$/ (listed, but not made)/'
}

# doubles DIRECTORY: print the files whose base name another file has, without a reason.
doubles() {
    echo "$same_names" | awk 'NF { print $1 }' >"$scratch/reasons"
    find "$1" -name '*.[ch]' | sed 's|.*/||' | sort | uniq -d | grep -vxFf "$scratch/reasons" |
        while IFS= read -r name; do
            find "$1" -name "$name"
        done | sort
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# none WHAT LINES: fail if there are any.
none() {
    [ -z "$2" ] || {
        echo "$1:"
        echo "$2"
        exit 1
    }
}
none "includes that cross the layers" "$(crossings src)"
none "system calls of the library outside src/os (adjust the list in tests/layers.sh)" "$(strays src)"
none "files with the same base name, without a reason in tests/layers.sh" "$(doubles src)"

# The test itself: each check sees what it should see.
# sees CHECK PATTERN: run on a tree with faults, it prints a line with the pattern.
sees() {
    "$1" "$scratch/src" >"$scratch/seen" || :
    grep -qE "$2" "$scratch/seen" || {
        echo "this test does not see a fault it should see: $1, $2"
        exit 1
    }
}
mkdir -p "$scratch/src/step" "$scratch/src/core" "$scratch/src/wait" "$scratch/src/pool"
echo '#include "check/explore/explore.h"' >"$scratch/src/step/bad.c"
sees crossings 'step/bad.c'
printf '/* kill(1) here\n   fork(), too */ int f(void) { return x->poll(0) + my_open(1); }\n' \
    >"$scratch/src/core/good.c"
echo 'long f(void) { return syscall(SYS_futex, 0); } /* and poll() */' >"$scratch/src/wait/bad.c"
echo 'int f(void) { if (kill(1, 0)) { return open("x", 0); } return 0; }' >"$scratch/src/pool/name.c"
sees strays '^src/wait/bad.c syscall \(not listed\)'
sees strays '^src/pool/name.c kill \(not listed\)'
sees strays '^src/pool/name.c mkdir \(listed, but not made\)'
if strays "$scratch/src" | grep -E 'good.c|bad.c poll|name.c open'; then
    echo "this test sees faults where there are none"
    exit 1
fi
sees doubles 'wait/bad.c'
rm "$scratch/src/wait/bad.c"
: >"$scratch/src/step/main.c"
: >"$scratch/src/core/main.c"
none "this test does not know the reasons for a double name" "$(doubles "$scratch/src")"
echo "no include crosses the layers, no system call and no base name is out of place"
