#!/bin/sh
. "$HERE/lib.sh"
. "$HERE/container.sh"

every_namespace_is_entered() {
  container
  "$RT" enter --pid "$P" --ns $ALL --fresh-proc -- /bin/inside ns >"$W/got"
  for n in net uts ipc cgroup pid; do grep -qF "$n $(readlink /proc/"$P"/ns/$n)" "$W/got" || { echo "not in $n"; cat "$W/got"; return 1; }; done
  ! grep -qF "mnt $(readlink /proc/"$P"/ns/mnt)" "$W/got"
}
only_the_named_namespaces_are_entered() {
  container
  is "$("$RT" enter --pid "$P" --ns uts -- hostname)" "container-$$"
  is "$("$RT" enter --pid "$P" --ns uts -- readlink /proc/self/ns/pid)" "$(readlink /proc/self/ns/pid)"
}
a_brought_folder_is_seen_inside_and_not_by_the_container() {
  container; mkdir "$W/host"; echo secret >"$W/host/f"
  is "$("$RT" enter --pid "$P" --ns $ALL --bring "$W/host=/.stasis/criu" -- /bin/inside cat /.stasis/criu/f)" secret
  [ ! -e "/proc/$P/root/.stasis/criu/f" ]
}
a_missing_folder_to_bring_to_is_made() {
  container; mkdir "$W/host"; echo x >"$W/host/f"
  is "$("$RT" enter --pid "$P" --ns $ALL --bring "$W/host=/.stasis/new" -- /bin/inside cat /.stasis/new/f)" x
}
a_program_below_a_brought_folder_is_run_from_there() {
  container; mkdir "$W/host"; cp "$OUT/test-inside" "$W/host/prog"
  "$RT" enter --pid "$P" --ns $ALL --bring "$W/host=/.stasis/criu" -- /.stasis/criu/prog exit 5 || is $? 5
}
a_link_in_the_container_is_not_followed() {
  container; mkdir "$W/host"; ln -s /bin "$R/link"; rmdir "$R/.stasis/criu"; ln -s /bin "$R/.stasis/criu"
  for at in /.stasis/criu /link/new; do
    "$RT" enter --pid "$P" --ns $ALL --bring "$W/host=$at" -- /bin/inside exit 0 2>"$W/e" && return 1 || is $? 125
    grep -q "mounting on $at" "$W/e"
  done
  rmdir "$R/proc"; ln -s /bin "$R/proc"
  "$RT" enter --pid "$P" --ns $ALL --fresh-proc -- /bin/inside exit 0 || is $? 125
}
the_root_is_bound_without_what_is_mounted_below() {
  container; mkdir "$W/host"; echo x >"$W/host/f"
  "$RT" enter --pid "$P" --ns $ALL --bring "$W/host=/.stasis/criu" --root-bind /.stasis/root -- /bin/inside cat /.stasis/root/.stasis/criu/f && return 1
  "$RT" enter --pid "$P" --ns $ALL --root-bind /.stasis/root -- /bin/inside cat /.stasis/root/bin/inside >/dev/null
}
a_fresh_proc_shows_the_pid_namespace_of_the_container() {
  container
  is "$("$RT" enter --pid "$P" --ns $ALL --fresh-proc -- /bin/inside cat /proc/1/comm)" inside
}
no_mount_stays_behind() {
  container; mkdir "$W/host"; a=$(wc -l </proc/"$P"/mountinfo); b=$(wc -l </proc/self/mountinfo)
  "$RT" enter --pid "$P" --ns $ALL --bring "$W/host=/.stasis/criu" --root-bind /.stasis/root --fresh-proc -- /bin/inside exit 0
  is "$(wc -l </proc/"$P"/mountinfo)" "$a"; is "$(grep -c "$W" /proc/self/mountinfo || true)" 0; : "$b"
}
descriptors_are_opened_on_the_host_and_handed_over() {
  container; echo from-host >"$W/in"; : >"$W/out2"
  is "$("$RT" enter --pid "$P" --ns $ALL --fd "7=r:$W/in" --fd "8=a:$W/out2" --fresh-proc -- /bin/inside cat /proc/self/fd/7)" from-host
}
nothing_else_is_handed_over() {
  # 3 is ls's own.
  is "$("$RT" enter --fd "9=r:/dev/null" -- ls /proc/self/fd 8</dev/null 6</dev/null | tr '\n' ' ')" "0 1 2 3 9 "
}
a_pipe_without_a_reader_is_an_error_not_a_hang() {
  mkfifo "$W/p"; timeout 60 "$RT" enter --fd "3=w:$W/p" -- true || is $? 125
}
a_folder_can_be_handed_over_as_a_descriptor() {
  mkdir "$W/d"; echo y >"$W/d/f"; is "$("$RT" enter --fd "5=r:$W/d" -- cat /proc/self/fd/5/f)" y
}
real_ids_are_the_targets_and_effective_ids_are_root() {
  is "$("$RT" enter --real-uid 1000 --real-gid 1001 -- grep -E '^(Uid|Gid|CapEff)' /proc/self/status | tr '\t\n' '  ')" \
    "Uid: 1000 0 0 0 Gid: 1001 0 0 0 $(grep CapEff /proc/self/status | tr '\t\n' '  ')"
}
a_cgroup_is_joined() {
  base=$(for d in /sys/fs/cgroup /sys/fs/cgroup/pids /sys/fs/cgroup/memory /sys/fs/cgroup/unified; do [ -w $d/cgroup.procs ] && echo $d && break; done)
  [ -n "$base" ] || { echo "skipped: no cgroup can be written"; return 0; }
  c="$base/stasis-test-$$"; mkdir "$c"
  "$RT" enter --cgroup "$c" -- cat /proc/self/cgroup >"$W/cg" || { rmdir "$c"; return 1; }
  rmdir "$c"; grep -q "stasis-test-$$" "$W/cg"
}
a_cgroup_that_is_only_tried_is_joined_where_that_is_possible() {
  base=$(for d in /sys/fs/cgroup /sys/fs/cgroup/pids /sys/fs/cgroup/memory /sys/fs/cgroup/unified; do [ -w $d/cgroup.procs ] && echo $d && break; done)
  [ -n "$base" ] || { echo "skipped: no cgroup can be written"; return 0; }
  c="$base/stasis-test-$$"; mkdir "$c"
  "$RT" enter --try-cgroup "$W/none" --try-cgroup "$c" -- cat /proc/self/cgroup >"$W/cg" || { rmdir "$c"; return 1; }
  rmdir "$c"; grep -q "stasis-test-$$" "$W/cg"
}
an_oom_score_is_changed_where_that_is_permitted() {
  is "$("$RT" enter --try-oom-score-adj 500 -- cat /proc/self/oom_score_adj)" 500
  "$RT" enter --try-oom-score-adj -900 -- true
  "$RT" enter --try-oom-score-adj nonsense -- true
}
its_code_is_the_programs() {
  container
  "$RT" enter --pid "$P" --ns $ALL -- /bin/inside exit 42 || is $? 42
  "$RT" enter --pid "$P" --ns pid -- sh -c 'kill -9 $$' || is $? 137
  "$RT" enter --pid "$P" --ns $ALL -- /bin/none || is $? 125
}
TERM_is_handed_to_the_program() {
  container
  "$RT" enter --pid "$P" --ns pid -- sh -c "trap 'exit 33' TERM; echo up >$W/up; while :; do sleep 0.05; done" & E=$!
  until_true test -e "$W/up"; kill -TERM $E; wait $E || is $? 33
}
killed_it_leaves_a_program_that_its_pid_file_names() {
  container
  "$RT" enter --pid "$P" --ns pid --pid-file "$W/pf" -- sleep 30 & E=$!
  until_true test -s "$W/pf"; kill -9 $E; wait $E || true
  read -r p start <"$W/pf"; echo "$p" >>"$W/kill"
  is "$(sed 's/.*) //' /proc/"$p"/stat | cut -d' ' -f20)" "$start"
}
a_log_of_the_host_takes_the_output() {
  container
  "$RT" enter --pid "$P" --ns $ALL --log "$W/log" -- /bin/inside say hello
  is "$(cat "$W/log")" hello
}
another_start_time_is_refused() {
  container; "$RT" enter --pid "$P" --start 1 --ns uts -- true || is $? 125
}
a_container_of_runc_is_entered() {
  command -v runc >/dev/null || { echo "skipped: no runc"; return 0; }
  mkdir -p "$W/b/rootfs/bin" "$W/b/rootfs/proc" "$W/b/rootfs/.stasis" "$W/host"; echo z >"$W/host/f"; cp "$OUT/test-inside" "$W/b/rootfs/bin/inside"
  (cd "$W/b" && runc spec && sed -i 's/"terminal": true/"terminal": false/; s/"readonly": true/"readonly": false/; s/^\([[:space:]]*\)"sh"/\1"\/bin\/inside","sleep"/' config.json)
  id="stasis-test-$$"
  runc --root "$W/runc" run -d --bundle "$W/b" --pid-file "$W/rp" $id </dev/null >"$W/ro" 2>&1 || { cat "$W/ro"; case $(cat "$W/ro") in *oom_score*|*ermission*) echo "skipped: runc cannot run here"; return 0 ;; esac; return 1; }
  P=$(cat "$W/rp"); r=0
  got=$("$RT" enter --pid "$P" --ns $ALL --cgroup "/proc/$P/root/sys/fs/cgroup/none" --bring "$W/host=/.stasis/c" -- /bin/inside exit 0 2>&1) && r=1
  got=$("$RT" enter --pid "$P" --ns $ALL --bring "$W/host=/.stasis/c" --root-bind /.stasis/root --fresh-proc -- /bin/inside cat /.stasis/c/f) || r=1
  runc --root "$W/runc" delete -f $id; [ $r = 0 ]; is "$got" z
}
for t in $(sed -n 's/^\([A-Za-z_0-9]*_[a-z0-9_]*\)() *{.*/\1/p' "$HERE/enter_test.sh"); do check "$t"; done
