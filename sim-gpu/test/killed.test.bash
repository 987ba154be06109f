# A caller that is killed inside a call, what others see meanwhile, and faults on demand.
# shellcheck shell=bash disable=SC2154,SC2015,SC2034

slowly() { # a counter on a slow node
    node 1 128 --slow-us-per-mib "$1" "${@:2}"
    start log --mib 32
}

begin() { # begin CALL PID: under way in $caller
    local i
    echo slow 0 >"$STASIS_SIM_GPU/faults/$1" # changes nothing, and is taken when the call is made
    "$T/cuda-call" "$@" >"$work/answer" 2>&1 &
    caller=$!
    pids+=("$caller")
    for ((i = 0; i < 6000; i++)); do [ -e "$STASIS_SIM_GPU/faults/$1" ] || break; sleep 0.01; done
    sleep 0.15
    kill -0 "$caller" 2>/dev/null || fail "$1 is over already: $(cat "$work/answer")"
}

idle() { # until the hidden thread has used no CPU time for a second
    local tid before=-1 now i
    tid=$(grep -l cuda-EvtHandlr "/proc/$pid"/task/*/comm)
    for ((i = 0; i < 100; i++)); do
        now=$(awk '{print $14 + $15}' "${tid%comm}stat")
        [ "$now" = "$before" ] && return
        before=$now
        sleep 1
    done
    fail "never idle"
}

promise_checkpoint_goes_on_when_its_caller_is_killed() {
    slowly 30000
    expect 0 1 lock "$pid"
    begin checkpoint "$pid"
    end "$caller"
    idle
    expect 0 2 state "$pid"
    expect 0 1 restore "$pid"
    expect 0 0 unlock "$pid"
    steps_from "$work/log" 40
    expect 0 1 lock "$pid"
    expect 0 2 checkpoint "$pid"
}

promise_restore_goes_on_when_its_caller_is_killed() {
    slowly 80000
    expect 0 1 lock "$pid"
    expect 0 2 checkpoint "$pid"
    begin restore "$pid"
    expect 0 1 state "$pid" # said at once, though the copy runs
    expect 401 1 unlock "$pid"
    end "$caller"
    idle
    expect 0 0 unlock "$pid"
    steps_from "$work/log" 40
}

promise_state_hangs_while_the_region_is_populated_then_runs_ahead_of_the_copy() {
    slowly 60000
    expect 0 1 lock "$pid"
    begin checkpoint "$pid"
    timeout -s KILL 0.5 "$T/cuda-call" state "$pid" && fail "it answered"
    expect 0 2 state "$pid"
    kill -0 "$caller" || fail "the copy is over"
    expect 401 2 unlock "$pid"
    answers 0 2
}

promise_a_killed_caller_can_leave_the_target_failed() {
    slowly 25000 --killed-caller failed
    expect 0 1 lock "$pid"
    begin checkpoint "$pid"
    end "$caller"
    idle
    expect 0 3 state "$pid"
    expect 304 3 restore "$pid"
    expect 304 3 unlock "$pid"
}

promise_a_killed_caller_can_leave_the_target_stuck() {
    slowly 25000 --killed-caller hang
    expect 0 1 lock "$pid"
    begin checkpoint "$pid"
    end "$caller"
    idle
    hangs state "$pid"
}

fault() { echo "${*:2}" >"$STASIS_SIM_GPU/faults/$1"; }

promise_an_error_comes_once_and_says_when() {
    node 1 64
    start log --mib 8
    fault lock error 999
    expect 999 0 lock "$pid"
    [ ! -e "$STASIS_SIM_GPU/faults/lock" ] || fail "still there"
    fault "lock.$((pid + 1))" error 999 # another's
    expect 0 1 lock "$pid"
    fault "checkpoint.$pid" error 304 at=before
    expect 304 1 checkpoint "$pid"
    fault checkpoint error 304 at=middle
    expect 304 1 checkpoint "$pid"
    fault checkpoint error 304 at=after
    expect 304 2 checkpoint "$pid"
    fault restore error 2 at=middle
    expect 2 2 restore "$pid"
    fault restore error 304 at=after
    expect 304 1 restore "$pid"
    fault unlock error 304 at=after always
    expect 304 0 unlock "$pid"
    [ -e "$STASIS_SIM_GPU/faults/unlock" ] || fail "used up"
    fault state error 304
    expect 304 -1 state "$pid"
    fault restoreThread error 304
    expect 304 -1 restoreThread "$pid"
    steps_from "$work/log" 20
}

promise_a_call_that_hangs_ends_with_its_caller() {
    node 1 64
    start log --mib 8
    fault lock hang at=before
    hangs lock "$pid"
    end "$caller"
    expect 0 0 state "$pid"
    expect 0 1 lock "$pid"
    for moment in middle after; do
        fault checkpoint hang at=$moment
        hangs checkpoint "$pid"
        end "$caller"
        sleep 0.2
        idle
        expect 0 2 state "$pid"
        expect 0 1 restore "$pid"
    done
    expect 0 0 unlock "$pid"
    steps_from "$work/log" 20
}

promise_failed_slow_out_of_step_and_stuck() {
    node 1 128
    start log --mib 8
    fault lock slow 400
    expect 0 1 lock "$pid"
    [ "${ms%.*}" -ge 350 ] || fail "$ms ms"
    fault checkpoint failed
    expect 999 3 checkpoint "$pid"
    expect 401 3 unlock "$pid"
    start second --mib 8
    fault lock outofstep at=after
    expect 304 3 lock "$pid"
    expect 304 3 unlock "$pid"
    start third --mib 8
    fault lock stuck
    hangs lock "$pid"
    end "$caller"
    hangs state "$pid"
}

promise_a_busy_program_survives_many_rounds() {
    node 1 256
    start log --mib 24 --churn --busy-writer --threads 2 --shm --deleted-file
    for i in 1 2 3 4 5 6; do
        whole_round "$pid"
        steps_from "$work/log" 5
    done
    steps_from "$work/log" 40
    kill "$pid" # it takes its file in /dev/shm along
    wait "$pid" || fail "its code"
    "$T/gpu-counter" --verify "$work/log" --mib 24 || fail "the log"
}

promise_state_is_told_while_lock_waits() {
    node 1 64
    start log --mib 4 --kernel-ms 2000
    sleep 0.3 # into a kernel
    begin lock "$pid"
    expect 0 0 state "$pid"
    expect 401 0 lock "$pid"
    answers 0 1
}

promise_a_call_of_an_earlier_life_ends_after_the_restore() {
    need_criu
    node 1 64
    start log --mib 8
    expect 0 1 lock "$pid"
    fault checkpoint hang at=after
    hangs checkpoint "$pid" # the thread waits in the driver while criu sees it
    criu_dump "$pid" || fail "$(grep Error "$work/images/dump.log")"
    wait "$pid" 2>/dev/null
    answers 304 -1
    criu_restore
    expect 0 2 state "$pid"
    expect 0 1 restore "$pid"
    expect 0 0 unlock "$pid"
    steps_from "$work/log" 40
}

promise_a_tree_of_two_processes_comes_back_by_criu() {
    need_criu
    node 2 64
    start log --mib 8 --fork 1 --churn --listen 0
    child=$(pgrep -P "$pid" -x gpu-counter | head -1)
    for each in "$pid" "$child"; do expect 0 1 lock "$each"; done
    for each in "$pid" "$child"; do expect 0 2 checkpoint "$each"; done
    criu_dump "$pid" || fail "$(grep Error "$work/images/dump.log")"
    wait "$pid" 2>/dev/null
    until_gone "$child" # the system's init reaps it in its own time
    criu_restore
    pids+=("$child")
    for each in "$pid" "$child"; do expect 0 1 restore "$each"; done
    for each in "$pid" "$child"; do expect 0 0 unlock "$each"; done
    steps_from "$work/log" 40
    "$T/gpu-counter" --verify "$work/log" --mib 8 || fail "the log"
    sed -n 's/^child 1 //p' "$work/log" >"$work/log1"
    "$T/gpu-counter" --verify "$work/log1" --mib 8 || fail "the child's log"
}
