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
another_process_with_that_pid_is_refused() {
  container
  code=0; "$RT" addresses --pid "$P" --start 7 2>"$W/err" || code=$?; is $code 125; grep -q "expected start time 7, got $(start_of "$P")" "$W/err"
  code=0; "$RT" addresses --pid "$P" 2>"$W/err" || code=$?; is $code 2
}
for t in $(sed -n 's/^\([A-Za-z_0-9]*_[a-z0-9_]*\)() *{.*/\1/p' "$HERE/addresses_test.sh" | grep -v '^start_of'); do check "$t"; done
exit $failed
