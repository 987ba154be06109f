# Helpers of the tests of "enter".
# A process in namespaces of its own with a root file system of its own, as a container has it.
container() {
  R="$W/root"; mkdir -p "$R/proc" "$R/.stasis/criu" "$R/.stasis/root" "$R/bin" "$R/sub"
  cp "$OUT/test-inside" "$R/bin/inside"
  setsid unshare --pid --net --uts --ipc --cgroup --mount --fork --kill-child sh -c "
    hostname container-$$; mount --make-rprivate /; mount --bind $R $R; cd $R; pivot_root . sub
    exec /bin/inside sleep" 2>"$W/container.err" &
  echo $! >>"$W/kill"
  until_true inner; P=$(inner)
}
inner() { pgrep -f "^/bin/inside sleep" | while read -r p; do [ "$(stat -Lc %i /proc/"$p"/root/.stasis 2>/dev/null)" = "$(stat -c %i "$R/.stasis")" ] && echo "$p"; done | head -1 | grep .; }
ALL=net,uts,ipc,cgroup,pid,mnt
