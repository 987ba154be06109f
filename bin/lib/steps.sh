# shellcheck shell=bash
# Steps with a time limit and a log each, in lanes that run side by side; one table at the end.
# The script that sources this file sets LOGS (a folder) and DEADLINE (a value of SECONDS).

LANE=""
STEP_PID=""
LANE_PIDS=()

# One line a step: start, name, result, seconds, what. Lanes are processes of their own, so results are kept in files.
# begin_steps KIND RESUME: if RESUME is not empty, steps that succeeded in earlier runs of the same kind and commit are not repeated.
begin_steps() {
  local run
  mkdir -p "$LOGS"
  run="$1 $(git -C "$STASIS_HOME" rev-parse HEAD 2>/dev/null || true)"
  if [ -n "$2" ]; then
    if ! git -C "$STASIS_HOME" diff --quiet HEAD; then die "--resume: expected a git checkout without changes"; fi
    [ "$(cat "$LOGS/run" 2>/dev/null)" = "$run" ] || die "--resume: expected an earlier run of \"$run\", got \"$(cat "$LOGS/run" 2>/dev/null)\""
    # What is installed may have gone with the machine.
    awk -F '\t' '$3 == "ok" && $2 != "setup"' "$LOGS/steps.tsv" >>"$LOGS/done.tsv"
  else
    : >"$LOGS/done.tsv"
    printf '%s\n' "$run" >"$LOGS/run"
  fi
  : >"$LOGS/steps.tsv"
  : >"$LOGS/why"
  rm -f "$LOGS"/skipped* "$LOGS"/*.mark
}

# A step runs in a process group of its own (timeout makes one), so ending it ends all that it started.
stop_step() {
  if [ -n "$STEP_PID" ]; then
    kill -TERM "$STEP_PID" 2>/dev/null || true
    wait "$STEP_PID" 2>/dev/null || true
    STEP_PID=""
  fi
}

stop_all() {
  local pid
  stop_step
  for pid in "${LANE_PIDS[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
  for pid in "${LANE_PIDS[@]}"; do wait "$pid" 2>/dev/null || true; done
  LANE_PIDS=()
}
trap 'stop_all; exit 130' INT
trap 'stop_all; exit 143' TERM

# lane NAME FUNCTION: runs FUNCTION, which calls steps, beside the other lanes.
lane() {
  (
    LANE="$1"
    LANE_PIDS=()
    # Bash resets traps in a subshell.
    trap 'stop_step; exit 143' TERM
    "$2"
  ) </dev/null &
  LANE_PIDS+=($!)
}

# Waits for all lanes. A lane that ended before its last step is a failure of its own.
wait_lanes() {
  local pid
  for pid in "${LANE_PIDS[@]}"; do
    wait "$pid" || note "lane" FAILED - "a lane ended with exit code $? before its last step"
  done
  LANE_PIDS=()
}

# note STEP RESULT SECONDS WHAT [IDLE]
note() { printf '%s\t%s\t%s\t%s\t%s\t%s\n' "${STARTED:-$SECONDS}" "$1" "$2" "$3" "$4" "${5:--}" >>"$LOGS/steps.tsv"; }

# The time that all processors of this machine were idle, and all of their time, since the boot.
processors() { awk '/^cpu / { for (i = 2; i <= 9; i++) all += $i; print $5 + $6, all }' /proc/stat; }

# idle_since BEFORE: the idle share of the processors' time since BEFORE (see processors), in percent.
idle_since() { awk -v before="$1" -v now="$(processors)" 'BEGIN { split(before, b); split(now, n); all = n[2] - b[2]; printf "%d %%", all ? 100 * (n[1] - b[1]) / all : 0 }'; }

# skip STEP WHAT_IS_MISSING_AND_HOW_TO_GET_IT
skip() {
  note "$1" skipped - "$2"
  say "== $1: SKIPPED: $2"
}

# seconds_left LIMIT: the step's own limit, or less when the run's end comes first.
seconds_left() {
  local left=$((DEADLINE - SECONDS))
  if [ "$left" -lt 1 ]; then left=1; fi
  if [ "$left" -lt "$1" ]; then printf '%s' "$left"; else printf '%s' "$1"; fi
}

# The kernel's last report of a time in which no process got a processor: a limit that passed then proves nothing.
standstill() { dmesg 2>/dev/null | grep 'BUG: workqueue lockup' | tail -n 1 || true; }

log_of() { printf '%s/%s.log' "$LOGS" "$(tr -c 'A-Za-z0-9\n' - <<<"$1" | tr -s -)"; }

# done_before STEP: its line, if it succeeded in an earlier run that this one resumes.
done_before() { awk -F '\t' -v step="$1" '$2 == step && !seen++ { print; found = 1 } END { exit !found }' "$LOGS/done.tsv"; }

# step NAME LIMIT_SECONDS COUNTER COMMAND...: COUNTER is a function that summarizes what was tested, given the log; or "-".
step() {
  local name="$1" limit counter="$3" log code=0 result=ok what="" still before STARTED=$SECONDS
  if done_before "$name" >>"$LOGS/steps.tsv"; then
    say "== $name: ok in an earlier run"
    return 0
  fi
  still="$(standstill)"
  before="$(processors)"
  limit="$(seconds_left "$2")"
  shift 3
  log="$(log_of "$name")"
  say "== $name: started (at most $limit s; log: ${log#"$STASIS_HOME"/})"
  # To a file, not to a pipe: a process that a test leaves behind could keep a pipe open for ever.
  : >"$log"
  timeout --kill-after=20 "$limit" "$@" >>"$log" 2>&1 </dev/null &
  STEP_PID=$!
  tail -n +1 -f --pid="$STEP_PID" "$log" | sed -u "s/^/${LANE:+[$LANE] }/" &
  local follower=$!
  wait "$STEP_PID" || code=$?
  STEP_PID=""
  wait "$follower" || true
  if [ "$counter" != - ]; then what="$("$counter" "$log")"; fi
  # A runner may count a failure, or find no test, and end well all the same.
  if [ "$code" = 0 ] && [[ "$what" =~ [1-9][0-9]*\ failed|^0\ tests ]]; then code=1; fi
  if [ "$code" -ne 0 ]; then
    result=FAILED
    if [ "$code" = 124 ] || [ "$code" = 137 ]; then what="$what stopped after $limit s"; fi
    what="$what; see ${log#"$STASIS_HOME"/}"
    what="${what#; }"
  fi
  if [ "$(standstill)" != "$still" ]; then what="$what; the kernel reported a standstill meanwhile: $(standstill)"; fi
  note "$name" "$result" "$((SECONDS - STARTED))" "${what#; }" "$(idle_since "$before")"
  say "== $name: $result after $((SECONDS - STARTED)) s${what:+: $what}"
  return "$code"
}

# failed STEP COMMAND...: keeps what COMMAND prints about the failure for the end of the summary.
failed() {
  local line name="$1"
  shift
  while IFS= read -r line; do printf '%s: %s\n' "$name" "$line" >>"$LOGS/why"; done < <("$@")
}

# result_of STEP: ok, FAILED or skipped; nothing before its end.
result_of() { awk -F '\t' -v step="$1" '$2 == step { print $3 }' "$LOGS/steps.tsv"; }

# steps_that RESULT: how many.
steps_that() { awk -F '\t' -v r="$1" '$3 == r { n++ } END { print n + 0 }' "$LOGS/steps.tsv"; }

print_summary() {
  local failed skipped
  failed="$(steps_that FAILED)"
  skipped="$(steps_that skipped)"
  say ""
  # IDLE: of the time of all processors while the step ran, beside the other lanes.
  printf '%-30s %-8s %6s %8s %5s  %s\n' STEP RESULT BEGIN SECONDS IDLE WHAT
  sort -n -s "$LOGS/steps.tsv" | awk -F '\t' '{ printf "%-30s %-8s %6d %8s %5s  %s\n", $2, $3, $1, $4, $6, $5 }'
  say ""
  # Last, where it is found in a log of which only the end is kept.
  if [ -s "$LOGS/why" ]; then
    head -n 40 "$LOGS/why"
    say ""
  fi
  awk -F '\t' '{
      if (match($5, /[0-9]+ tests, [0-9]+ failed, [0-9]+ skipped/)) {
        split(substr($5, RSTART, RLENGTH), n, /[^0-9]+/); all += n[1]; bad += n[2]; left += n[3]
      } }
    END { printf "%d passed, %d failed, %d skipped\n", all - bad - left, bad, left }' "$LOGS/steps.tsv"
  local steps earlier
  steps="$(wc -l <"$LOGS/steps.tsv")"
  earlier="$(cut -f 2 "$LOGS/done.tsv" | sort -u | wc -l)"
  skipped=", $skipped steps skipped"
  if [ "$earlier" -gt 0 ]; then skipped="$skipped, $earlier steps taken from earlier runs of the same commit"; fi
  if [ "$failed" -gt 0 ]; then say "FAILED: $failed of $steps steps in $SECONDS s$skipped"; else say "OK: $steps steps in $SECONDS s$skipped"; fi
  [ "$failed" = 0 ]
}
