#!/bin/sh
. "$HERE/lib.sh"
# holder starts one in a pid namespace of its own; $HOLDER is its host pid, $W/code its exit code.
# The fifo $W/go carries shell lines that run as its "criu": a process that enters the namespace.
holder() {
  mkdir -p "$W/s"
  (set +e; unshare --pid --fork --kill-child "$RT" init --dir "$W/s" -- "${@:-true}" 2>"$W/err"; echo $? >"$W/code.new"; mv "$W/code.new" "$W/code") &
  echo $! >>"$W/kill"
  until_true test -e "$W/s/started"
  until_true holder_pid
  HOLDER=$(holder_pid)
  echo "$HOLDER" >>"$W/kill"
}
holder_pid() { pgrep -f "^$RT init --dir $W/s " | head -1 | grep .; }
# As criu does: a process of the namespace forks the workload, writes its pid and goes.
restore() {
  "$RT" enter --pid "$HOLDER" --ns pid -- /bin/sh -c "( $1 ) & printf %s \$! >$W/s/tmp; mv $W/s/tmp $W/s/workload.pid"
}
code() { until_true test -e "$W/code"; is "$(cat "$W/code")" "$1"; }

the_holder_ends_with_the_code_of_the_workload() { holder; restore "sleep 0.1; exit 7"; code 7; }
a_workload_that_ended_before_its_pid_file_was_there_is_still_seen() {
  holder
  "$RT" enter --pid "$HOLDER" --ns pid -- /bin/sh -c "(sleep 0.1; exit 9) & echo \$! >$W/p"
  sleep 0.4; mv "$W/p" "$W/s/workload.pid"; code 9
}
a_killed_workload_gives_137() { holder; restore "sleep 0.1; kill -9 \$(sh -c 'echo \$PPID')"; code 137; }
other_children_mean_nothing() {
  holder
  "$RT" enter --pid "$HOLDER" --ns pid -- /bin/sh -c "for i in 1 2 3; do (exit 5) & done; exit 3" || is $? 3
  restore "sleep 0.2; exit 11"; code 11
}
a_thousand_orphans_are_reaped() {
  holder
  "$RT" enter --pid "$HOLDER" --ns pid -- /bin/sh -c 'i=0; while [ $i -lt 1000 ]; do (:) & i=$((i+1)); done'
  no_children() { [ -z "$(cat /proc/"$HOLDER"/task/*/children)" ]; }
  until_true no_children
  restore "sleep 0.1; exit 0"; code 0
}
TERM_before_a_restore_ends_it_with_143() { holder; kill -TERM "$HOLDER"; code 143; }
other_signals_before_a_restore_do_nothing() {
  # On a busy machine it may otherwise read them after the restore, and hand them on.
  has_read_them() { grep -q '^ShdPnd:.0*$' "/proc/$HOLDER/status" && grep -q '^State:.S' "/proc/$HOLDER/status"; }
  holder; kill -HUP "$HOLDER"; kill -USR1 "$HOLDER"; until_true has_read_them; restore "sleep 0.1; exit 4"; code 4
}
signals_reach_the_workload() {
  holder
  restore "trap 'echo usr1 >>$W/got' USR1; trap 'echo term >>$W/got; exit 21' TERM; echo up >$W/up; while :; do sleep 0.05; done"
  until_true test -e "$W/up"
  kill -USR1 "$HOLDER"; until_true grep -q usr1 "$W/got"; kill -TERM "$HOLDER"; code 21
}
CONT_stays_with_the_holder() {
  holder
  restore "trap 'echo cont >$W/cont' CONT; trap 'exit 6' USR2; echo up >$W/up; while :; do sleep 0.05; done"
  until_true test -e "$W/up"
  kill -STOP "$HOLDER"; kill -CONT "$HOLDER"; sleep 0.2; kill -USR2 "$HOLDER"; code 6
  [ ! -e "$W/cont" ]
}
a_half_made_workload_is_not_signalled() {
  # The pid file is there while the workload is still the child of criu.
  holder
  "$RT" enter --pid "$HOLDER" --ns pid -- /bin/sh -c "trap '' TERM; (trap 'echo hit >$W/hit' TERM; sleep 60) & echo \$! >$W/s/workload.pid; sleep 60" &
  until_true test -s "$W/s/workload.pid"
  kill -TERM "$HOLDER"; code 143; [ ! -e "$W/hit" ]
}
started_again_after_a_restore_it_is_the_program() {
  mkdir "$W/s"; touch "$W/s/started" "$W/s/restored"
  is "$("$RT" init --dir "$W/s" -- echo hello there)" "hello there"
}
started_again_without_a_restore_it_ends_with_78() {
  mkdir "$W/s"; touch "$W/s/started"
  "$RT" init --dir "$W/s" -- true || is $? 78
}
a_missing_folder_is_said() { "$RT" init --dir "$W/none" -- true || is $? 125; }
probe_says_whether_restored_is_there() {
  mkdir "$W/s"; ! "$RT" probe --dir "$W/s"; touch "$W/s/restored"; "$RT" probe --dir "$W/s"
}
nothing_but_the_program_itself_is_needed() {
  mkdir -p "$W/root/.stasis"; cp "$RT" "$W/root/s"
  chroot "$W/root" /s probe || is $? 1
  touch "$W/root/.stasis/started" "$W/root/.stasis/restored"
  chroot "$W/root" /s init -- /s probe
}
for t in $(sed -n 's/^\([A-Za-z_0-9]*_[a-z0-9_]*\)() *{.*/\1/p' "$HERE/init_test.sh" | grep -v '^holder'); do check "$t"; done
