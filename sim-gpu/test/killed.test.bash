# A caller that is killed inside a call, what others see meanwhile, and faults on demand.
# shellcheck shell=bash disable=SC2154,SC2015,SC2034

fault() { echo "${*:2}" >"$STASIS_SIM_GPU/faults/$1"; }

held() { # held CALL PID MOMENT: the call is in its hold, as $caller
    fault "$1" hold "at=$3"
    "$T/cuda-call" "$1" "$2" >"$work/answer" 2>&1 &
    caller=$!
    pids+=("$caller")
    until_there "$STASIS_SIM_GPU/faults/$1.held"
}

release() { rm "$STASIS_SIM_GPU/faults/$1.held"; }

# killed_inside CALL [MOMENT]: its caller is killed while the call is held, then the call continues.
killed_inside() {
    held "$1" "$pid" "${2:-middle}"
    end "$caller"
    release "$1"
}

promise_checkpoint_finishes_when_its_caller_is_killed() {
    node 1 64
    start log --mib 8
    expect 0 1 lock "$pid"
    for moment in populate middle; do
        killed_inside checkpoint $moment
        until_not_busy restore "$pid"
        expect 0 1 state "$pid"
    done
    expect 0 0 unlock "$pid"
    steps_from "$work/log" 40
    expect 0 1 lock "$pid"
    expect 0 2 checkpoint "$pid"
}

promise_restore_finishes_when_its_caller_is_killed() {
    node 1 64
    start log --mib 8
    expect 0 1 lock "$pid"
    expect 0 2 checkpoint "$pid"
    held restore "$pid" middle
    expect 0 1 state "$pid" # said at once, though the copy runs
    expect 401 1 unlock "$pid"
    end "$caller"
    expect 401 1 unlock "$pid"
    release restore
    until_not_busy unlock "$pid"
    steps_from "$work/log" 40
}

promise_state_hangs_while_the_region_is_populated_then_runs_ahead_of_the_copy() {
    node 1 64
    start log --mib 8
    expect 0 1 lock "$pid"
    held checkpoint "$pid" populate
    timeout -s KILL 0.5 "$T/cuda-call" state "$pid" && fail "it answered"
    release checkpoint
    answers 0 2
    expect 0 1 restore "$pid"
    held checkpoint "$pid" middle
    expect 0 2 state "$pid"
    kill -0 "$caller" || fail "the copy is over"
    expect 401 2 unlock "$pid"
    release checkpoint
    answers 0 2
}

promise_a_slow_node_takes_as_long_as_it_is_told() {
    node 1 128 --slow-us-per-mib 10000
    start log --mib 32
    expect 0 1 lock "$pid"
    expect 0 2 checkpoint "$pid"
    [ "${ms%.*}" -ge 600 ] || fail "$ms ms" # populated, then copied, each at 10 ms a MiB
    expect 0 1 restore "$pid"
    [ "${ms%.*}" -ge 300 ] || fail "$ms ms"
}

promise_a_killed_caller_can_leave_the_target_failed() {
    node 1 64 --killed-caller failed
    start log --mib 8
    expect 0 1 lock "$pid"
    killed_inside checkpoint
    for ((i = 0; i < 600; i++)); do
        call state "$pid"
        [ "$state" = 2 ] || break # the copy still runs
    done
    [ "$result $state" = "0 3" ] || fail "expected 0 3, got $result $state"
    expect 304 3 restore "$pid"
    expect 304 3 unlock "$pid"
}

promise_a_killed_caller_can_leave_the_target_stuck() {
    node 1 64 --killed-caller hang
    start log --mib 8
    expect 0 1 lock "$pid"
    killed_inside checkpoint
    for ((i = 0; i < 600; i++)); do # while the copy runs it answers
        timeout -s KILL 0.5 "$T/cuda-call" state "$pid" >/dev/null || break
    done
    hangs state "$pid"
}

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
        until_not_busy restore "$pid"
        expect 0 1 state "$pid"
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

promise_a_held_call_waits_where_it_was_asked_to_until_its_file_is_removed() {
    node 1 64
    start log --mib 8
    held lock "$pid" before
    [ ! -e "$STASIS_SIM_GPU/faults/lock" ] || fail "the fault is not taken"
    expect 0 0 state "$pid"
    expect 401 0 lock "$pid"
    release lock
    answers 0 1
    held checkpoint "$pid" middle
    expect 0 2 state "$pid"
    expect 401 2 unlock "$pid"
    kill -0 "$caller" 2>/dev/null || fail "it did not wait: $(cat "$work/answer")"
    release checkpoint
    answers 0 2
    held restore "$pid" after
    expect 0 1 state "$pid"
    release restore
    answers 0 1
    held unlock "$pid" after
    expect 0 0 state "$pid"
    release unlock
    answers 0 0
    steps_from "$work/log" 20
}

promise_a_held_call_ends_with_its_target_and_holds_no_other() {
    node 1 64
    start log --mib 8
    held lock "$pid" before
    end "$pid"
    answers 304 -1
    release lock
    start log2 --mib 8
    whole_round "$pid"
    held lock "$pid" before
    rm -r "$STASIS_SIM_GPU" # a test that ends takes its node along, so the state is unknown
    answers 0 -1
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
    start log --mib 4 --kernel-ms 1500
    for i in 1 2 3 4 5 6 7 8; do
        "$T/cuda-call" lock "$pid" >"$work/answer" 2>&1 &
        caller=$!
        pids+=("$caller")
        sleep 0.2
        call state "$pid"
        told="$result $state"
        call lock "$pid"
        if kill -0 "$caller" 2>/dev/null; then
            [ "$told; $result $state" = "0 0; 401 0" ] || fail "$told; $result $state"
            answers 0 1
            return
        fi
        call unlock "$pid" # it found no kernel, or the machine was busy
    done
    fail "lock never waited"
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
