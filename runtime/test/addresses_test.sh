#!/bin/sh
. "$HERE/lib.sh"
. "$HERE/container.sh"

start_of() { sed 's/.*) //' /proc/"$1"/stat | cut -d' ' -f20; }
the_addresses_of_the_container_are_printed_and_no_other() {
  container
  is "$("$RT" addresses --pid "$P" --start "$(start_of "$P")")" ""
  for words in "link set lo up" "link add eth7 type veth peer name peer0" "addr add 10.9.0.5/24 dev eth7" "-6 addr add fd00:9::5/64 dev eth7 nodad"; do
    # shellcheck disable=SC2086 # words
    nsenter --net=/proc/"$P"/ns/net ip $words
  done
  is "$("$RT" addresses --pid "$P" --start "$(start_of "$P")" | tr '\n' ' ')" "eth7 10.9.0.5 eth7 fd00:9::5 "
}
unix_sockets_are_printed_with_their_peers() {
  container; mkfifo "$W/fifo"
  # One end in the container's namespace, and its peer as the same number in the other line.
  nsenter --net=/proc/"$P"/ns/net python3 -c "
import os, socket, sys
a, b = socket.socketpair(); n = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); n.bind('\\0stasis-$$')
print(os.fstat(a.fileno()).st_ino, os.fstat(b.fileno()).st_ino, os.fstat(n.fileno()).st_ino, flush=True); sys.stdin.read()" >"$W/inodes" <"$W/fifo" &
  helper=$!
  exec 9>"$W/fifo"
  for _ in $(seq 200); do [ -s "$W/inodes" ] && break; sleep 0.05; done
  read -r a b n <"$W/inodes"
  "$RT" connections --pid "$P" --start "$(start_of "$P")" >"$W/out"
  exec 9>&-; wait "$helper"
  grep -qx "$a $b 1 0" "$W/out"; grep -qx "$b $a 1 0" "$W/out"; grep -qx "$n 0 2 1" "$W/out"
}
the_system_v_objects_of_the_container_are_printed_and_no_other() {
  container
  outside="$(ipcmk -S 1 | grep -o '[0-9]*$')"
  is "$("$RT" ipc --pid "$P" --start "$(start_of "$P")")" ""
  # shellcheck disable=SC2046 # ids
  set -- $(nsenter --ipc=/proc/"$P"/ns/ipc sh -c 'ipcmk -S 2; ipcmk -Q; ipcmk -M 4096' | grep -o '[0-9]*$')
  found="$("$RT" ipc --pid "$P" --start "$(start_of "$P")" | tr '\n' ' ')"
  ipcrm -s "$outside"
  is "$found" "sem $1 msg $2 shm $3 "
}
another_process_with_that_pid_is_refused() {
  container
  code=0; "$RT" addresses --pid "$P" --start 7 2>"$W/err" || code=$?; is $code 125; grep -q "expected start time 7, got $(start_of "$P")" "$W/err"
  for question in connections ipc; do
    code=0; "$RT" "$question" --pid "$P" --start 7 2>"$W/err" || code=$?; is $code 125
  done
  code=0; "$RT" addresses --pid "$P" 2>"$W/err" || code=$?; is $code 2
}
for t in $(sed -n 's/^\([A-Za-z_0-9]*_[a-z0-9_]*\)() *{.*/\1/p' "$HERE/addresses_test.sh" | grep -v '^start_of'); do check "$t"; done
