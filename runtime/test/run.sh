#!/bin/sh
# run.sh TARGET_FOLDER: every test; names are promises. Needs root. They wait more than they work, so as many as there
# are processors run side by side, twice. STASIS_TEST_ALL=yes: kills at every
# point, and three times as often.
set -u
here=$(dirname "$(realpath "$0")")
# The checkout may have a space in its path; the tests pass paths through shells.
links=$(mktemp -d /tmp/stasis-runtime-test.XXXXXX)
trap 'rm -rf "$links"' EXIT
ln -s "$1" "$links/target"
ln -s "$here" "$links/test"
export OUT="$links/target" RT="$links/target/stasis-runtime" HERE="$links/test"
one() { echo "out=\$(mktemp); $1 >\"\$out\" 2>&1; code=\$?; cat \"\$out\"; rm -f \"\$out\"; [ \$code = 0 ]"; }
{
  # Those of harness.h have many promises: each takes every third.
  for t in crash guard move; do
    for part in 0 1 2; do one "env STASIS_TEST_PART=$part $OUT/test-${t}_test $OUT"; done
  done
  for t in "$1"/test-*_test; do
    case ${t##*/} in test-crash_test | test-guard_test | test-move_test) ;; *) one "$OUT/${t##*/} $OUT" ;; esac
  done
  for t in "$here"/*_test.sh; do one "sh $HERE/${t##*/}"; done
} >"$links/all"
if tr '\n' '\0' <"$links/all" | xargs -0 -n 1 -P $(($(nproc) * 2)) sh -c; then
  echo "all promises kept"
else
  exit 1
fi
