# Results and states of the calls, as measured on an H200.
# shellcheck shell=bash disable=SC2154,SC2015,SC2034

promise_each_call_in_each_state_gives_what_the_chip_gives() {
    node 1 128
    start log --mib 16
    expect 0 0 state "$pid"
    for c in checkpoint restore unlock; do expect 401 0 $c "$pid"; done
    expect 0 1 lock "$pid"
    expect 401 1 lock "$pid"
    expect 401 1 restore "$pid"
    expect 0 2 checkpoint "$pid"
    for c in lock checkpoint unlock; do expect 401 2 $c "$pid"; done
    expect 0 1 restore "$pid"
    expect 401 1 restore "$pid"
    expect 0 0 unlock "$pid"
    expect 401 0 unlock "$pid"
    steps_from "$work/log" 20
}

promise_the_restore_thread_is_a_thread_of_the_process() {
    node 1 64
    start log --mib 4
    call restoreThread "$pid"
    [ "$result" = 0 ] && [ -d "/proc/$pid/task/$state" ] || fail "$result $state"
    [ "$(cat "/proc/$pid/task/$state/comm")" = cuda-EvtHandlr ] || fail "its name"
}

promise_a_process_without_cuda_gives_3_and_no_process_304() {
    node 1 64
    sleep 100 &
    pids+=("$!")
    expect 3 -1 state $!
    expect 3 -1 lock $!
    end $!
    expect 304 -1 state $!
    expect 1 -1 state 0
}

promise_lock_waits_for_work_under_way_and_gives_up_in_time() {
    node 1 64
    start log --mib 4 --kernel-ms 700
    call lock "$pid" --timeout 100
    while [ "$result" = 0 ]; do # it landed between two kernels
        expect 0 0 unlock "$pid"
        call lock "$pid" --timeout 100
    done
    [ "$result $state" = "600 0" ] || fail "$result $state"
    expect 0 1 lock "$pid" --timeout 5000
    before=$(steps_of "$work/log")
    sleep 0.3
    [ "$(steps_of "$work/log")" -le $((before + 1)) ] || fail "a locked process went on"
    expect 0 0 unlock "$pid"
    steps_from "$work/log" 2
}

promise_managed_memory_is_refused_late_and_undone_by_unlock() {
    node 1 64
    start log --mib 4 --managed
    expect 0 1 lock "$pid"
    expect 801 1 checkpoint "$pid"
    expect 0 0 unlock "$pid"
    steps_from "$work/log" 20
}

promise_memory_shared_with_a_peer_is_lost_in_restore() {
    node 1 64
    start log --mib 4 --peer
    expect 0 1 lock "$pid"
    expect 0 2 checkpoint "$pid"
    expect 801 2 restore "$pid"
    expect 304 2 restore "$pid"
}

promise_nccl_with_peer_to_peer_is_lost_and_without_it_is_not() {
    node 1 64
    start log --mib 4 --nccl --fork 1
    grep -q libnccl.so.2 "/proc/$pid/maps" || fail "not in the maps"
    expect 0 1 lock "$pid"
    expect 0 2 checkpoint "$pid"
    expect 801 2 restore "$pid"
    export NCCL_P2P_DISABLE=1
    start second --mib 4 --nccl --fork 1
    whole_round "$pid"
    steps_from "$work/second" 20
    unset NCCL_P2P_DISABLE
    start alone --mib 4 --nccl
    whole_round "$pid"
}

promise_driver_610_loses_memory_shared_with_a_peer_too() {
    node 1 64 --driver 610.43.02 --cuda 13030
    start log --mib 4 --peer
    expect 0 1 lock "$pid"
    expect 0 2 checkpoint "$pid"
    expect 801 2 restore "$pid"
}

promise_reserved_bytes_must_be_zero() {
    node 1 64
    start log --mib 4
    expect 1 0 lock "$pid" --byte 4
    expect 0 1 lock "$pid"
    expect 1 1 checkpoint "$pid" --byte 0
    expect 0 2 checkpoint "$pid"
    expect 1 2 restore "$pid" --byte 12
    expect 1 2 restore "$pid" --byte 63
    expect 0 1 restore "$pid"
    expect 1 1 unlock "$pid" --byte 63
    expect 0 0 unlock "$pid"
}

promise_two_processes_are_checkpointed_in_parallel() {
    node 2 128
    start one --mib 16
    first=$pid
    start two --mib 16 --device 1
    expect 0 1 lock "$first"
    expect 0 1 lock "$pid"
    for c in checkpoint restore unlock; do
        "$T/cuda-call" $c "$first" >"$work/answer1" &
        one=$!
        "$T/cuda-call" $c "$pid" >"$work/answer2"
        [ "$(cut -d' ' -f1 "$work/answer2")" = 0 ] && wait $one || fail "$c: $(cat "$work"/answer?)"
    done
    steps_from "$work/two" 20
    pid=$first
    steps_from "$work/one" 20
}

promise_device_memory_short_at_restore_loses_the_workload() {
    node 1 128
    start log --mib 64
    victim=$pid
    expect 0 1 lock "$victim"
    expect 0 2 checkpoint "$victim"
    start other --mib 100
    expect 2 2 restore "$victim"
    expect 304 2 restore "$victim"
    end "$pid"
    expect 304 2 restore "$victim"
    expect 401 2 unlock "$victim"
}

promise_memory_of_a_killed_process_is_free_again() {
    node 1 64
    for i in 1 2 3; do
        start log$i --mib 50
        end "$pid"
    done
}

promise_memory_of_a_checkpointed_process_is_free_for_others() {
    node 1 64
    start log --mib 40
    first=$pid
    expect 0 1 lock "$first"
    expect 0 2 checkpoint "$first"
    start other --mib 50
    end "$pid"
    expect 0 1 restore "$first"
    expect 0 0 unlock "$first"
    pid=$first
    steps_from "$work/log" 40
}
