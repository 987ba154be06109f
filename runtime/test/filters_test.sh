#!/bin/sh
. "$HERE/lib.sh"
. "$HERE/container.sh"

start_of() { sed 's/.*) //' /proc/"$1"/stat | cut -d' ' -f20; }
a_process_without_filters_has_none_and_keeps_running() {
  container
  is "$("$RT" filters --pid "$P" --start "$(start_of "$P")")" ""
  is "$(grep -c '^State:.*[tT] (' /proc/"$P"/status)" 0
  is "$(sed -n 's/^TracerPid:[^0-9]*//p' /proc/"$P"/status)" 0
}
another_process_with_that_pid_has_no_filters_read() {
  container
  code=0; "$RT" filters --pid "$P" --start 7 2>"$W/err" || code=$?; is $code 125; grep -q "expected start time 7, got $(start_of "$P")" "$W/err"
  code=0; "$RT" filters --pid "$P" 2>"$W/err" || code=$?; is $code 2
}
every_thread_is_read_and_stays_stopped() {
  container
  kill -STOP "$P"
  while ! grep -q "^State:.*T (" /proc/"$P"/status; do :; done
  is "$("$RT" filters --pid "$P" --start "$(start_of "$P")" --threads)" "thread $P"
  # A thread that was let go stops again by itself, a moment later.
  until_true grep -q '^State:.*T (' /proc/"$P"/status
  is "$(sed -n 's/^TracerPid:[^0-9]*//p' /proc/"$P"/status)" 0
  kill -CONT "$P"
}
for t in $(sed -n 's/^\([A-Za-z_0-9]*_[a-z0-9_]*\)() *{.*/\1/p' "$HERE/filters_test.sh" | grep -v '^start_of'); do check "$t"; done
