# What libnvidia-ml says of the node.
# shellcheck shell=bash disable=SC2154,SC2015,SC2034

says() { grep -q -- "$1" "$work/nvml" || fail "no '$1' in: $(cat "$work/nvml")"; }
look() { "$T/nvml-look" >"$work/nvml" || fail "$(cat "$work/nvml")"; }

promise_nvml_tells_the_gpus_as_they_were_made() {
    node 2 64 --model "NVIDIA B200" --driver 610.1 --links 9
    look
    says "driver 610.1 gpus 2"
    says "gpu 0 wrong=0 $(uuid 0) 00000000:10:00.0 NVIDIA B200 cc=9.0 mig=0 persistence=1 total=64 used=0"
    says "gpu 1 wrong=0 $(uuid 1) 00000000:20:00.0"
    says "pair 0 1 level=40 p2p=0"
    says "link 0 8 00000000:20:00.0"
    [ "$(grep -c '^link 0' "$work/nvml")" = 9 ] || fail "links"
    says "room 0 gives 0"
}

promise_nvml_tells_mig_and_persistence() {
    node 1 64 --mig --no-persistence
    look
    says "mig=1 persistence=0"
}

promise_nvml_tells_the_memory_of_each_process_by_its_host_pid() {
    node 2 64
    start log --mib 16 --device 1
    setsid unshare --pid --mount --fork --mount-proc --kill-child "$T/gpu-counter" --interval-ms 5 --mib 8 >"$work/inner" 2>&1 &
    outer=$!
    pids+=("$outer")
    pid=$outer steps_from "$work/inner" 2
    inner=$(cat "/proc/$outer/task/$outer/children")
    look
    # in blocks of 256 KiB: the data, the set memory, the context
    says "process $pid on 1 has $((16 * 4 + 1 + 8))\$"
    says "process ${inner% } on 0 has $((8 * 4 + 1 + 8))\$"
    says "gpu 1 .* used=$((16 * 4 + 1 + 8))\$"
    says "room 1 gives 7"
    expect 0 1 lock "$pid"
    expect 0 2 checkpoint "$pid"
    look
    says "gpu 1 .* used=0\$"
    says "room 1 gives 0"
    end "$inner"
    wait "$outer"
    look
    says "gpu 0 .* used=0\$"
}

promise_nvml_without_a_node_says_that_no_driver_is_loaded() {
    STASIS_SIM_GPU=$work/nothing "$T/nvml-look" >"$work/nvml"
    says "init 9"
}
