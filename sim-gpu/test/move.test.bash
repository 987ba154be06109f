# Restore on another GPU. A view is what a container sees: links to the node's table and to some of its device files.
# shellcheck shell=bash disable=SC2154,SC2015,SC2034

view() { # view MINOR...
    rm -rf "$work/view"
    mkdir "$work/view"
    ln "$STASIS_SIM_GPU/nvidiactl" "$work/view/"
    for minor in "$@"; do ln "$STASIS_SIM_GPU/nvidia$minor" "$work/view/"; done
}

viewer() { # a counter that sees only the view, checkpointed
    setsid env STASIS_SIM_GPU="$work/view" "$T/gpu-counter" --interval-ms 5 --mib 16 >"$work/log" 2>&1 &
    pid=$!
    pids+=("$pid")
    steps_from "$work/log" 2
    expect 0 1 lock "$pid"
    expect 0 2 checkpoint "$pid"
}

goes_on_at() { # goes_on_at GPU: unlocked, right, and its memory is there; a second round works
    expect 0 0 unlock "$pid"
    steps_from "$work/log" 40
    "$T/nvml-look" | grep -q "process $pid on $1 has" || fail "not on GPU $1: $("$T/nvml-look")"
    whole_round "$pid"
    steps_from "$work/log" 40
}

promise_restore_takes_the_gpu_that_the_process_now_sees() {
    node 2 64
    view 0
    viewer
    view 1
    expect 0 1 restore "$pid"
    goes_on_at 1
}

promise_a_map_names_the_gpu_that_the_process_now_sees() {
    node 2 64
    view 1
    viewer
    view 0
    expect 0 1 restore "$pid" --pair "$(uuid 1)=$(uuid 0)"
    goes_on_at 0
}

promise_a_missing_device_gives_801_and_loses_the_workload() {
    node 2 64
    view 0
    viewer
    expect 801 2 restore "$pid" --pair "$(uuid 0)=$(uuid 1)"
    expect 304 2 restore "$pid"
}

promise_a_map_must_hold_every_gpu_seen_at_checkpoint_and_only_those() {
    node 2 64
    view 0
    viewer
    view 0 1
    expect 1 2 restore "$pid" --pair "$(uuid 0)=$(uuid 0)" --pair "$(uuid 1)=$(uuid 1)"
    expect 1 2 restore "$pid" --pair "$(uuid 1)=$(uuid 0)"
    expect 0 1 restore "$pid" --pair "$(uuid 0)=$(uuid 1)" # still CHECKPOINTED, and a right map works
    goes_on_at 1
}

promise_two_gpus_are_swapped_by_a_whole_map_only() {
    node 2 64
    view 0 1
    viewer
    expect 1 2 restore "$pid" --pair "$(uuid 0)=$(uuid 1)"
    expect 1 2 restore "$pid" --pair "$(uuid 0)=$(uuid 1)" --pair "$(uuid 1)=$(uuid 1)"
    expect 0 1 restore "$pid" --pair "$(uuid 0)=$(uuid 1)" --pair "$(uuid 1)=$(uuid 0)"
    expect 0 0 unlock "$pid"
    steps_from "$work/log" 40
    "$T/nvml-look" | grep -q "process $pid on 1 has" || fail "not moved"
}

promise_a_driver_before_580_takes_no_map() {
    node 1 64 --cuda 12080 --driver 570.86.15
    view 0
    viewer
    expect 1 2 restore "$pid" --pair "$(uuid 0)=$(uuid 0)"
    expect 0 1 restore "$pid"
    goes_on_at 0
}
