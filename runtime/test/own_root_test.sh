#!/bin/sh
# --own-root: a program with the container's rights to nothing but what it was given.
. "$HERE/lib.sh"
. "$HERE/container.sh"

hosts() { mkdir -p "$W/prog" "$W/host"; cp "$OUT/test-inside" "$W/prog/prog"; echo "the agent's" >"$W/host/f"; }
# own ARG...: runs the program of the host in a root of its own.
own() {
  "$RT" enter --pid "$P" --ns $ALL --own-root --fresh-proc --bring-ro "$W/prog=/prog" --bring "$W/host=/work" \
    --root-bind /root "$@"
}

nothing_of_the_container_is_seen_but_below_root() {
  container; hosts
  is "$(own -- /prog/prog cat /work/f)" "the agent's"
  own -- /prog/prog cat /bin/inside >/dev/null && return 1
  own -- /prog/prog cat /root/bin/inside >/dev/null
  own -- /prog/prog cat /root/proc/1/comm && return 1
  is "$(own -- /prog/prog cat /proc/1/comm)" inside
}
no_program_of_the_container_is_found_by_its_name() {
  container; hosts; mkdir -p "$R/usr/bin"; cp "$OUT/test-inside" "$R/usr/bin/iptables"; cp "$OUT/test-inside" "$R/bin/sh"
  PATH=/usr/bin:/bin own -- /prog/prog exec iptables || is $? 3
  PATH=/usr/bin:/bin own -- /prog/prog exec sh || is $? 3
}
what_is_brought_for_reading_cannot_be_written() {
  container; hosts
  own -- /prog/prog write /work/new
  own -- /prog/prog write /prog/new && return 1
  [ -e "$W/host/new" ] && [ ! -e "$W/prog/new" ]
}
folders_that_are_exchanged_ten_thousand_times_are_never_read() {
  container; hosts; mkdir "$R/work" "$R/work2"; echo evil >"$R/work/f"; echo evil >"$R/work2/f"
  "$RT" enter --pid "$P" --ns mnt -- /bin/inside exchange /work /work2 10000 & s=$!
  echo $s >>"$W/kill"
  n=0
  while kill -0 $s 2>/dev/null || [ $n -lt 20 ]; do is "$(own -- /prog/prog cat /work/f)" "the agent's" || return 1; n=$((n + 1)); done
  echo "$n runs"; wait $s
}
a_mount_of_the_container_is_taken_without_following_links() {
  container; hosts
  "$RT" enter --pid "$P" --ns mnt --bring "$W/host=/.stasis/criu" -- /bin/inside exit 0
  is "$(own --take /.stasis=/mounts/0 --take /bin/inside=/mounts/1 -- /prog/prog cat /mounts/1 | cmp - "$OUT/test-inside" && echo same)" same
  ln -s /bin "$R/link"
  own --take /link/inside=/mounts/0 -- /prog/prog exit 0 2>"$W/e" && return 1 || is $? 125
  grep -q "/link/inside" "$W/e"
}
the_container_sees_none_of_it() {
  container; hosts; a=$(cat /proc/"$P"/mountinfo)
  own -- /prog/prog exit 0
  is "$(cat /proc/"$P"/mountinfo)" "$a"; is "$(ls -A "$R/.stasis")" "criu
root"
}
for t in $(sed -n 's/^\([a-z_]*\)() {$/\1/p' "$0"); do [ "$t" = own ] || check "$t"; done
