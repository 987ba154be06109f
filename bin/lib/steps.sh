# shellcheck shell=bash
# A list of steps that are run one after another, each with a limit and a log, and told in a table at the end.

STEPS=()
FAILED=0
SKIPPED=0
STEP_PID=""

# A step runs in a process group of its own (timeout makes one), so ending it ends all that it started.
stop_step() {
  if [ -n "$STEP_PID" ]; then
    kill -TERM "$STEP_PID" 2>/dev/null || true
    wait "$STEP_PID" 2>/dev/null || true
    STEP_PID=""
  fi
}
trap 'stop_step; exit 130' INT
trap 'stop_step; exit 143' TERM

# note STEP RESULT SECONDS WHAT
note() { STEPS+=("$(printf '%-28s %-8s %7s  %s' "$1" "$2" "$3" "$4")"); }

skip() {
  SKIPPED=$((SKIPPED + 1))
  note "$1" skipped - "$2"
  say "== $1: skipped: $2"
}

# seconds_left LIMIT: the step's own limit, or less when the run's end comes first.
seconds_left() {
  local left=$((DEADLINE - SECONDS))
  if [ "$left" -lt 1 ]; then left=1; fi
  if [ "$left" -lt "$1" ]; then printf '%s' "$left"; else printf '%s' "$1"; fi
}

# What the kernel last said of a time in which it gave no processor to anybody: limits that fall into it prove nothing.
standstill() { dmesg 2>/dev/null | grep 'BUG: workqueue lockup' | tail -n 1 || true; }

# step NAME LIMIT_SECONDS COUNTER COMMAND...: COUNTER is a function that says what was tested, given the log; or "-".
step() {
  local name="$1" limit counter="$3" log started=$SECONDS code=0 result=ok what="" still
  still="$(standstill)"
  limit="$(seconds_left "$2")"
  shift 3
  log="$LOGS/${name// /-}.log"
  say ""
  say "== $name (at most $limit s; log: ${log#"$STASIS_HOME"/})"
  # To a file, not to a pipe: whatever a test leaves behind could keep a pipe open for ever.
  : >"$log"
  timeout --kill-after=20 "$limit" "$@" >>"$log" 2>&1 </dev/null &
  STEP_PID=$!
  tail -n +1 -f --pid="$STEP_PID" "$log" &
  local follower=$!
  wait "$STEP_PID" || code=$?
  STEP_PID=""
  wait "$follower" || true
  if [ "$counter" != - ]; then what="$("$counter" "$log")"; fi
  if [ "$code" -ne 0 ]; then
    result=FAILED
    FAILED=$((FAILED + 1))
    if [ "$code" = 124 ] || [ "$code" = 137 ]; then what="$what stopped after $limit s"; fi
    what="$what; see ${log#"$STASIS_HOME"/}"
    what="${what#; }"
  fi
  if [ "$(standstill)" != "$still" ]; then what="$what; the machine stood still meanwhile: $(standstill)"; fi
  note "$name" "$result" "$((SECONDS - started))" "${what#; }"
  return "$code"
}

# failed STEP COMMAND...: keeps what COMMAND tells of the failure for the summary's end.
WHY=()
failed() {
  local line name="$1"
  shift
  while IFS= read -r line; do WHY+=("$name: $line"); done < <("$@")
}

print_summary() {
  say ""
  printf '%-28s %-8s %7s  %s\n' STEP RESULT SECONDS WHAT
  printf '%s\n' "${STEPS[@]}"
  say ""
  local skipped=""
  if [ "$SKIPPED" -gt 0 ]; then skipped=", $SKIPPED steps skipped"; fi
  # Last, where somebody who sees only the end finds it.
  if [ "${#WHY[@]}" -gt 0 ]; then printf '%s\n' "${WHY[@]:0:40}"; say ""; fi
  if [ "$FAILED" -gt 0 ]; then say "FAILED: $FAILED of ${#STEPS[@]} steps in $SECONDS s$skipped"; else say "OK in $SECONDS s$skipped"; fi
}
