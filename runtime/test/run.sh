#!/bin/sh
# run.sh TARGET_FOLDER: every test; names are promises. Needs root.
set -u
here=$(dirname "$(realpath "$0")")
export OUT="$1" RT="$1/stasis-runtime" HERE="$here"
bad=0
for t in "$here"/*_test.sh; do
  sh "$t" || bad=1
done
for t in "$1"/test-*_test; do
  [ -x "$t" ] || continue
  "$t" "$1" || bad=1
done
[ $bad = 0 ] && echo "all promises kept"
exit $bad
