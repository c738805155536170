# shellcheck shell=sh
# shellcheck disable=SC2154 # tools/kernels sets store
# Part of tools/kernels: find and download the kernel packages that apt can reach. Uses $store.

# Debian's suites with kernels. A mirror that lacks one is no error: which suites a mirror keeps changes.
fetch_suites="buster buster-backports bullseye bullseye-backports bookworm bookworm-backports trixie
trixie-backports forky sid experimental"
fetch_security_suites="buster/updates bullseye-security bookworm-security trixie-security"

# fetch_apt COMMAND..: run it with an apt configuration that is apart from the machine's.
fetch_apt() {
    APT_CONFIG=$store/apt/apt.conf "$@"
}

# fetch_sources: a list of sources, from the mirrors of Debian that apt uses on this machine.
fetch_sources() {
    keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    signed=
    [ ! -e $keyring ] || signed="[signed-by=$keyring] "
    # shellcheck disable=SC2016 # apt-get replaces these
    apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' 'Created-By: Packages' | sort -u |
        while read -r origin label uri; do
            case $origin/$label in
            Debian/Debian) suites=$fetch_suites ;;
            Debian/Debian-Security) suites=$fetch_security_suites ;;
            *) continue ;;
            esac
            for suite in $suites; do
                echo "deb $signed$uri $suite main"
            done
        done
}

# fetch_lists: get the lists of packages; not again on the same day.
fetch_lists() {
    apt=$store/apt
    [ -z "$(find "$apt/fresh" -mtime -1 2>/dev/null)" ] || return 0
    mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial"
    : >"$apt/status"
    cat >"$apt/apt.conf" <<END
Dir::State "$apt/state";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "-";
APT::Sandbox::User "$(id -un)";
APT::Architecture "amd64";
END
    fetch_sources >"$apt/sources.list"
    if [ ! -s "$apt/sources.list" ]; then
        echo "tools/kernels: apt has no mirror of Debian here; run 'apt-get update', or name kernel files" >&2
        return 77
    fi
    echo "getting the lists of packages; a mirror does not have every suite" >&2
    fetch_apt apt-get -q update >"$store/log/update" 2>&1 || :
    touch "$apt/fresh"
}

# fetch_available: "SERIES PACKAGE VERSION", the newest of each series. The package with the kernel's image is
# linux-binary-..; before 6.19 it is linux-image-.., which is empty after that.
fetch_available() {
    fetch_apt apt-cache pkgnames linux- >"$store/names" || return
    grep -E '^linux-(binary-[0-9]|image-[0-9]+\.[0-9]+\.[0-9])[^ ]*-cloud-amd64$' "$store/names" |
        xargs env APT_CONFIG="$store/apt/apt.conf" apt-cache madison |
        sed -n 's/^ *\([^ ]*\) | *\([^ ]*\) .*/\2 \1/p' | sort -u |
        sed 's/^\([0-9]*\.[0-9]*\)\([^ ]*\) \(.*\)/\1 \3 \1\2/' |
        awk '{ print $1, $2 ~ /^linux-binary/, $3, $2 }' |
        sort -t ' ' -k 1,1V -k 2,2n -k 3,3V |
        awk '{ best[$1] = $4 " " $3; if (!seen[$1]++) order[++n] = $1 }
             END { for (i = 1; i <= n; i++) print order[i], best[order[i]] }'
}

# fetch_choose [KERNEL..]: the lines of fetch_available for these; "file PATH -" for a file; "SERIES - -" for a
# series that cannot be had.
fetch_choose() {
    [ $# -gt 0 ] || set -- all
    available=
    for wanted in "$@"; do
        case $wanted in
        /* | ./*)
            [ -r "$wanted" ] || fail "$wanted cannot be read"
            echo "file $wanted -"
            continue
            ;;
        esac
        if [ -z "$available" ]; then
            fetch_lists || return
            available=$(fetch_available)
        fi
        if [ "$wanted" = all ]; then
            echo "$available"
        else
            echo "$available" | grep "^$(echo "$wanted" | sed 's/\./\\./g') " || echo "$wanted - -"
        fi
    done
}

fetch_missing() {
    echo "$1" | sed -n 's/^\([^ ]*\) - -$/\1/p' | tr '\n' ' '
}

# fetch_images LINES: "NAME IMAGE" for each line of fetch_choose that can be had.
fetch_images() {
    echo "$1" | while read -r series package version; do
        case $series/$package in
        file/*)
            echo "$(basename "$package" | sed 's/^vmlinuz-//') $package"
            continue
            ;;
        */-) continue ;;
        esac
        home=$store/images.d/${package}_$version
        if [ ! -e "$home/done" ]; then
            echo "getting $package $version" >&2
            rm -rf "$home"
            mkdir -p "$home"
            (
                cd "$home"
                fetch_apt apt-get -q download "$package=$version" &&
                    for deb in *.deb; do
                        dpkg-deb --fsys-tarfile "$deb" | tar -x --wildcards '*/vmlinuz*' && rm "$deb"
                    done && touch "done"
            ) >"$store/log/get-$series" 2>&1 || :
        fi
        image=$(find "$home" -name 'vmlinuz*' -type f | head -n 1)
        if [ -z "$image" ]; then
            echo "tools/kernels: no image from $package $version; see build/kernels/log/get-$series" >&2
            continue
        fi
        echo "$version $image"
    done
}
