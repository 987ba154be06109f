#!/bin/sh
. "$HERE/lib.sh"
# as_user COMMAND...: as a uid that owns nothing, with no capability.
as_user() { setpriv --reuid 65532 --regid 65532 --clear-groups --no-new-privs --bounding-set -all --inh-caps -all "$@"; }
# folder MODE: the shared folder, as an emptyDir is.
folder() { mkdir "$W/s"; chmod "$1" "$W/s"; chmod 711 "$W"; cp "$RT" "$W/rt"; chmod 755 "$W/rt"; }
only_the_program() { is "$(ls -A "$W/s")" stasis-runtime; cmp "$RT" "$W/s/stasis-runtime"; is "$(stat -c %a "$W/s/stasis-runtime")" 755; }

the_program_is_put_there_and_nothing_else() {
  folder 777; "$RT" install --dir "$W/s"; only_the_program
  touch "$W/s/restored"; "$W/s/stasis-runtime" probe --dir "$W/s"
}
another_file_of_the_image_is_put_there_under_its_own_name() {
  folder 777; printf library >"$W/libx.so"; chmod 744 "$W/libx.so"
  (umask 777; as_user "$W/rt" install --dir "$W/s" --file "$W/libx.so")
  is "$(ls -A "$W/s")" libx.so; is "$(cat "$W/s/libx.so")" library; is "$(stat -c %a "$W/s/libx.so")" 755
  code=0; "$RT" install --dir "$W/s" --file "$W/none.so" 2>"$W/err" || code=$?; is $code 125; grep -q "$W/none.so: No such file" "$W/err"
}
any_user_may_install_with_any_umask() { folder 777; (umask 777; as_user "$W/rt" install --dir "$W/s"); only_the_program; }
nothing_but_the_folder_is_written_to() {
  mkdir -p "$W/root/.stasis" "$W/root/proc"; cp "$RT" "$W/root/whatever-it-is-called"
  unshare -m sh -ec "mount --bind $W/root $W/root; mount -t proc proc $W/root/proc
    mount -t tmpfs -o mode=777 none $W/root/.stasis; mount -o remount,bind,ro $W/root
    cd $W/root
    chroot --userspec=1000:3000 . /whatever-it-is-called install
    chroot . /.stasis/stasis-runtime probe || [ \$? = 1 ]; cmp $RT .stasis/stasis-runtime"
}
a_second_run_replaces_what_is_there_also_while_it_runs() {
  folder 777; "$RT" install --dir "$W/s"
  mkdir "$W/h"; "$W/s/stasis-runtime" init --dir "$W/h" -- true & echo $! >>"$W/kill"
  until_true test -e "$W/h/started"
  "$RT" install --dir "$W/s"; only_the_program
  "$W/s/stasis-runtime" install --dir "$W/s"; only_the_program
}
what_a_killed_run_left_is_taken_away() {
  folder 777; printf torn >"$W/s/.stasis-runtime.new"; as_user "$W/rt" install --dir "$W/s"; only_the_program
}
nothing_is_written_through_a_link_that_lies_there() {
  folder 777; printf mine >"$W/other"; ln -s "$W/other" "$W/s/.stasis-runtime.new"; ln -s "$W/other" "$W/s/stasis-runtime"
  "$RT" install --dir "$W/s"; only_the_program; is "$(cat "$W/other")" mine
}
a_folder_without_room_keeps_what_it_had() {
  mkdir "$W/s"; printf old >"$W/old"
  unshare -m sh -c "mount -t tmpfs -o size=64k none $W/s; cp $W/old $W/s/stasis-runtime
    $RT install --dir $W/s 2>$W/err; echo \$? >$W/code; ls -A $W/s >$W/ls; cat $W/s/stasis-runtime >$W/now"
  is "$(cat "$W/code")" 125; is "$(cat "$W/ls")" stasis-runtime; cmp "$W/old" "$W/now"; grep -q "No space left" "$W/err"
}
a_missing_folder_and_one_that_is_not_ours_are_said() {
  folder 755
  code=0; "$RT" install --dir "$W/none" 2>"$W/err" || code=$?; is $code 125; grep -q "$W/none: No such file" "$W/err"
  code=0; as_user "$W/rt" install --dir "$W/s" 2>"$W/err" || code=$?; is $code 125; grep -q "Permission denied" "$W/err"
  is "$(ls -A "$W/s")" ""
  code=0; "$RT" install "$W/s" || code=$?; is $code 2
}
what_is_put_there_is_on_the_disk_before_it_has_its_name() {
  folder 777; "$OUT/test-calls" "$W/calls" "$RT" install --dir "$W/s"; only_the_program
  is "$(tr '\n' ' ' <"$W/calls")" "sync .stasis-runtime.new rename sync s "
}
a_guards_journal_is_on_the_disk_before_it_has_its_name() {
  sleep 60 & p=$!; echo $p >>"$W/kill"; kill -STOP $p
  until_true grep -q '^State:.T' /proc/$p/status
  "$OUT/test-calls" "$W/calls" "$RT" guard save --journal "$W/journal" --process "$p:$(sed 's/.*) //' /proc/$p/stat | cut -d' ' -f20)"
  is "$(tr '\n' ' ' <"$W/calls")" "sync journal.new rename "
}
for t in $(sed -n 's/^\([A-Za-z_0-9]*_[a-z0-9_]*\)() *{.*/\1/p' "$HERE/install_test.sh" | grep -v -e '^as_user' -e '^only_the'); do check "$t"; done
