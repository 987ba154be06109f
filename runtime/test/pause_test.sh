#!/bin/sh
. "$HERE/lib.sh"
# The kernel drops a signal that comes to PID 1 before it waits for it.
ends() { kill -TERM "$1" || true; ! kill -0 "$1"; }

it_waits_as_pid_1_until_it_is_told_to_end() {
  # The checkout may be below a folder that only root enters.
  cp -L "$RT" "$W/program"; chmod 755 "$W" "$W/program"; RT=$W/program
  setpriv --reuid 65532 --regid 65532 --clear-groups unshare -Urpf --kill-child "$RT" pause & echo $! >"$W/kill"
  until_true pgrep -P "$(cat "$W/kill")" -f "$RT pause"
  child=$(pgrep -P "$(cat "$W/kill")" -f "$RT pause")
  until_true ends "$child"
  code=0; wait "$(cat "$W/kill")" || code=$?; is $code 0
}
arguments_are_refused() { code=0; "$RT" pause more 2>"$W/err" || code=$?; is $code 2; grep -q 'usage: pause' "$W/err"; }

check it_waits_as_pid_1_until_it_is_told_to_end
check arguments_are_refused
