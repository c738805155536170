# shellcheck shell=sh
# shellcheck disable=SC2154 # tools/kernels sets store and run
# Part of tools/kernels: make the file system of the emulated machine, boot it, read what it prints. Uses $store, $run.

# boot_initramfs BUILD: busybox, usher, the scenarios and the tests, with their libraries, as $run/initramfs.gz.
boot_initramfs() {
    root=$run/root
    mkdir -p "$root/bin" "$root/tests" "$root/etc"
    cp "$(command -v busybox)" "$root/bin/busybox"
    cp tests/kernels/init "$root/init"
    cp tests/kernels/scenarios.sh "$root/scenarios.sh"
    printf 'root:x:0:0::/tmp:/bin/sh\ndaemon:x:1:1::/tmp:/bin/sh\nnobody:x:65534:65534::/tmp:/bin/sh\n' \
        >"$root/etc/passwd"
    printf 'root:x:0:\ndaemon:x:1:\nnogroup:x:65534:\n' >"$root/etc/group"
    strip -o "$root/bin/usher" "$1/usher"
    [ ! -x "$1/kernel_control" ] || strip -o "$root/tests/kernel_control" "$1/kernel_control"
    while read -r test; do
        [ -x "$1/$test" ] || fail "$1/$test is not built; run 'make' first"
        strip -o "$root/tests/$test" "$1/$test"
        echo "$test"
    done <tests/kernels/crash.list >"$root/tests/list"
    # the libraries, at the same paths; glibc loads libgcc_s when a thread is cancelled
    {
        ldd "$root/bin/usher" "$root"/tests/*_* | sed -n 's/.*[ \t]\(\/[^ ]*\) (0x.*/\1/p'
        PATH=$PATH:/sbin:/usr/sbin ldconfig -p | sed -n 's/.*libgcc_s\.so\.1 (libc6,x86-64.* => //p'
    } | sort -u |
        while read -r library; do
            mkdir -p "$root$(dirname "$library")"
            cp -L "$library" "$root$library"
        done
    (cd "$root" && find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0) | gzip -1 >"$run/initramfs.gz"
    size=$(($(wc -c <"$run/initramfs.gz") / 1000000))
    [ $size -lt 20 ] || fail "$run/initramfs.gz has $size MB; at most 20 are meant to be"
}

boot_row() {
    printf '%-22s %4s  %-12s %-24s %7s\n' "$@" | tee -a "$run/table"
}

# boot_said LOG PATTERN: how many lines of the machine match.
boot_said() {
    tr -d '\r' <"$1" | grep -cE "^@ $2" || :
}

# boot_monitor COMMAND: tell QEMU's monitor. It is read by one process at a time, and may be gone.
boot_monitor() {
    [ -p "$pipe.in" ] || return 0
    # shellcheck disable=SC2016
    timeout 5 sh -c 'printf "%s\n" "$2" >"$1"' - "$pipe.in" "$1" || :
}

# boot_examine LOG: the machine stands still. Append what its CPUs and its tasks do: the registers, three times, and
# the kernel's own reports (sysrq: 9 prints all, l CPUs, w blocked tasks, t all tasks, q timers), if the kernel still answers.
boot_examine() {
    echo "== examined by tools/kernels ==" >>"$1"
    for pause in 1 1 1; do
        boot_monitor 'info registers -a'
        sleep $pause
    done
    boot_monitor 'info pic'
    for key in 9 l w q t; do
        boot_monitor 'chardev-send-break console'
        sleep 0.3
        timeout 5 sh -c "printf $key >'$pipe.console.in'" || :
        sleep 3
    done
    sed 's/^/monitor: /' "$pipe.said" >>"$1"
}

# boot_watch LOG: show progress until the machine ends; end it if it stands still or takes too long.
boot_watch() {
    log=$1
    last=0
    quiet=0
    begun=$(date +%s)
    while kill -0 "$machine" 2>/dev/null; do
        sleep 1
        size=$(wc -c <"$log")
        now=$(date +%s)
        if [ "$size" -ne "$last" ]; then
            last=$size
            quiet=$now
        fi
        [ ! -t 1 ] || printf '\r%s, %s CPUs: %s scenarios, %s tests, %s s ' "$name" "$cpus" \
            "$(boot_said "$log" scenario)" "$(boot_said "$log" crash)" $((now - begun))
        if [ "$quiet" -ne 0 ] && [ $((now - quiet)) -ge 30 ]; then
            ended="stood still for 30 s"
        elif [ $((now - begun)) -ge "${LIMIT:-600}" ]; then
            ended="not done after ${LIMIT:-600} s"
        else
            continue
        fi
        boot_examine "$log"
        kill -KILL "$machine" 2>/dev/null || :
        break
    done
    [ ! -t 1 ] || printf '\r%60s\r' ''
}

# boot_once NAME IMAGE CPUS: boot, print a row and what failed. Returns 1 if something did.
boot_once() {
    name=$1
    image=$2
    cpus=$3
    log=$store/log/$name-$cpus
    pipe=$run/pipe
    rm -f "$pipe".* "$log"
    mkfifo "$pipe.in" "$pipe.out" "$pipe.console.in" "$pipe.console.out"
    : >"$log"
    cat "$pipe.out" >"$pipe.said" &
    listener=$!
    cat "$pipe.console.out" >"$log" &
    console=$!
    ended=
    begun=$(date +%s)
    # shellcheck disable=SC2086 # QEMU is a list of words
    qemu-system-x86_64 -nodefaults -display none -no-reboot -accel "${ACCEL:-tcg}" -smp "$cpus" -m 1024 \
        -kernel "$image" -initrd "$run/initramfs.gz" \
        -append "console=ttyS0 quiet panic=-1 sysrq_always_enabled USHER_PARTS=${PARTS:-scenarios,crash} ${ONLY:+USHER_ONLY=$ONLY} ${APPEND:-}" \
        -chardev pipe,id=console,path="$pipe.console" -serial chardev:console \
        -chardev pipe,id=monitor,path="$pipe" -mon chardev=monitor,mode=readline ${QEMU:-} \
        </dev/null >"$log.qemu" 2>&1 &
    machine=$!
    boot_watch "$log"
    wait "$machine" 2>/dev/null || :
    took=$(($(date +%s) - begun))
    kill "$listener" "$console" 2>/dev/null || :
    wait "$listener" "$console" 2>/dev/null || :
    machine='' listener='' console=''
    rm -f "$pipe".*
    boot_report
}

# boot_report: the row of the boot that has ended, and a line for each failure.
boot_report() {
    for kind in scenario crash; do
        good=$(boot_said "$log" "$kind [^ ]+ ok")
        bad=$(boot_said "$log" "$kind [^ ]+ FAILED")
        left=$(boot_said "$log" "$kind [^ ]+ skipped")
        text="$good passed"
        [ "$bad" -eq 0 ] || text="$good, $bad FAILED"
        [ "$left" -eq 0 ] || text="$text, $left skipped"
        [ $kind = scenario ] && scenarios=$text || crashes=$text
    done
    boot_row "$name" "$cpus" "$scenarios" "$crashes" "$took"
    tr -d '\r' <"$log" | sed -nE 's/^@ (scenario|crash) ([^ ]+) (FAILED|skipped) (.*)/    \2 \3 \4/p' | tee -a "$run/table"
    if [ "$(boot_said "$log" 'end')" -eq 0 ]; then
        [ -n "$ended" ] || ended="the machine ended before the tests did"
        last=$(tr -d '\r' <"$log" | grep -E '^@ (scenario|crash|begin)' | tail -n 1)
        echo "    $ended; the last line was: ${last:-none}; see ${log#"$PWD"/}" | tee -a "$run/table"
        return 1
    fi
    [ "$(boot_said "$log" '(scenario|crash) [^ ]+ FAILED')" -eq 0 ]
}
