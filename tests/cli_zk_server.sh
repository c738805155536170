# A ZooKeeper server for a test of usher(1), which starts with: . cli_support.sh, . cli_zk_server.sh. Its port is
# $port, its process $server; pools are below $here. Without ZooKeeper the test is skipped.
# shellcheck shell=sh disable=SC2034,SC2154 # the tests use what is set here, and set $build and $dir
if [ ! -e "$build/zk_serve" ]; then
    echo "SKIPPED: built without the ZooKeeper client; install libzookeeper-st-dev"
    exit 77
fi
: >"$dir/server" # wc needs a file
"$build/zk_serve" "$dir" >"$dir/server" 2>"$dir/server.err" &
serving=$!
until [ "$(wc -l <"$dir/server")" -eq 1 ]; do
    kill -0 $serving 2>/dev/null || break
    sleep 0.05
done
if ! read -r port server <"$dir/server" || [ "$port" = SKIPPED: ]; then
    cat "$dir/server"
    exit 77
fi
here=zk://127.0.0.1:$port/pools
USHER_ZK_TIMEOUT=30s # on a busy machine clients are silent for seconds
export USHER_ZK_TIMEOUT
# From here on sessions of silent clients end soon.
sessions_are_short() {
    USHER_ZK_TIMEOUT=2s
}
