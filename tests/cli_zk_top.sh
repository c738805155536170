#!/bin/sh
# usher top of a pool on ZooKeeper, in a real terminal (tmux): guests with their machines, and a screen that keeps
# working while the servers are silent. usage: cli_zk_top.sh BUILD
# shellcheck source=tests/cli_support.sh disable=SC1091
# shellcheck disable=SC2154
. "$(dirname "$0")/cli_support.sh"
command -v tmux >/dev/null || { echo "SKIPPED: no tmux here" && exit 77; }
. "$(dirname "$0")/cli_zk_server.sh"
export TMUX_TMPDIR="$dir" LC_ALL=C.UTF-8
unset TMUX NO_COLOR

terminal() {
    tmux -L zk -f /dev/null -u "$@"
}
screen_has() {
    terminal capture-pane -p | grep -qE -- "$1"
}
shows() {
    eventually screen_has "$1"
}

p=$here/gpu
hold first "$p" --labels left,right
is_in first
hold second "$p" --labels left,right
is_in second
hold third "$p"
eventually line_has "$p" 1
status 66 usher top "$here/none"
status 64 usher top "$p" # not a terminal
says "not a terminal"

terminal new-session -d -x 110 -y 30 "usher top $p; echo over \$?; read -r line"
shows "^> $p +2 +0 +1 "
shows "SEAT +.*PID@MACHINE"
shows "^  0 .*[0-9]+@.* sh -c"
shows "^  1 .*[0-9]+@.* sh -c"
shows "^  1 next .*[0-9]+@"
let_go first
shows "no waiters"
kill -STOP "$server"
shows "the servers have not answered for [0-9]"
terminal send-keys '?' # keys still work
shows "any other key: close this help"
terminal send-keys x
shows "the servers have not answered for|do not answer"
kill -CONT "$server"
eventually pool_is "$p" '.seats == 2'
shows "^> $p +2 "
kill -STOP "$server"
shows "the servers have not answered for"
terminal send-keys q
shows "over 0"
kill -CONT "$server"
terminal kill-server
echo "$checks checks passed"
