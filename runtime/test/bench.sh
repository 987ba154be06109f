#!/bin/bash
# bench.sh TARGET_FOLDER [MIB [STAGE_FOLDER]]: throughput of move out and in, with so many threads as
# there are processors. A benchmark, never a test.
set -eu
RT="$1/stasis-runtime" MIB="${2:-2048}" W=$(mktemp -d "${3:-/dev/shm}/stasis-bench.XXXXXX")
trap 'kill -9 ${P:-} 2>/dev/null || true; rm -rf "$W"' EXIT
printf '%s processors, %s MiB, stage on %s\n' "$(nproc)" "$MIB" "$(df --output=fstype "$W" | tail -1)"
# Wall time, and processor time, which tells more on a machine that others use too.
timed() {
  local TIMEFORMAT="%R %U %S"
  { time "${@:2}" >/dev/null 2>&3; } 3>&2 2>"$W/time"
  awk -v n="$1" -v m="$MIB" '{ g = m * 1048576 / 1e9; printf "%-24s %6.2f s %6.2f GB/s   processor %5.2f s %6.2f GB/s\n", n, $1, g / $1, $2 + $3, g / ($2 + $3) }' "$W/time"
}
for huge in "" huge; do
  rm -f "$W/info"
  "$1/test-target" "$MIB" $huge >"$W/info" 2>/dev/null </dev/null &
  P=$!
  until [ -s "$W/info" ]; do sleep 0.05; done
  read -r P A L <"$W/info"; kill -STOP "$P"; echo "$A $L" >"$W/regions"
  S=$(sed 's/.*) //' /proc/"$P"/stat | cut -d' ' -f20)
  to() { rm -f "$W/stage" "$W/journal"; timed "$1" "$RT" move out --pid "$P" --start "$S" --regions "$W/regions" --stage "$W/stage" --journal "$W/journal" "${@:2}"; }
  from() { timed "$1" "$RT" move in --pid "$P" --start "$S" --journal "$W/journal" "${@:2}"; }
  for i in 1 2 3; do
    to "out $huge"; from "in $huge"
  done
  to "out without drop $huge" --no-drop
  to "out $huge"; from "in --punch $huge" --punch
  to "out $huge"; from "in --huge $huge" --huge
  kill -9 "$P"; wait "$P" 2>/dev/null || true
done
