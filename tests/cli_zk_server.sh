# A ZooKeeper server for a test of usher(1). The test starts with:
#     . cli_support.sh; . cli_zk_server.sh
# The server's port is $port, its process $server; pools are below $here. If no server can run, the
# test is skipped.
# shellcheck shell=sh disable=SC2034,SC2154 # the tests use what is set here, and set $build and $dir
if [ ! -e "$build/zk_serve" ]; then
    echo "SKIPPED: built without the ZooKeeper client; install libzookeeper-st-dev"
    exit 77
fi
: >"$dir/server" # must exist before the first poll
"$build/zk_serve" "$dir" >"$dir/server" 2>"$dir/server.err" &
serving=$!
until [ "$(wc -l <"$dir/server")" -eq 1 ]; do
    kill -0 $serving 2>/dev/null || break
    sleep 0.05 # between two polls
done
if ! read -r port server <"$dir/server" || [ "$port" = SKIPPED: ]; then
    cat "$dir/server"
    exit 77
fi
here=zk://127.0.0.1:$port/pools
USHER_ZK_TIMEOUT=30s # on a busy machine a client may be silent for seconds
export USHER_ZK_TIMEOUT
# From here on a silent session ends soon.
sessions_are_short() {
    USHER_ZK_TIMEOUT=2s
}
