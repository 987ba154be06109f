# Where the bytes are, what criu may see, and what a stop does.
# shellcheck shell=bash disable=SC2154,SC2015,SC2034

frozen() { # a counter with its maps saved before Checkpoint
    start log "$@"
    expect 0 1 lock "$pid"
    cp "/proc/$pid/maps" "$work/maps"
    expect 0 2 checkpoint "$pid"
}

promise_a_checkpointed_process_comes_back_by_criu() {
    need_criu
    node 1 256
    frozen --mib 48 --threads 2 --busy-writer --deleted-file
    target=$pid
    criu_dump "$target" || fail "$(grep Error "$work/images/dump.log")"
    wait "$target" 2>/dev/null
    criu_restore
    expect 0 2 state "$target"
    expect 0 1 restore "$target"
    expect 0 0 unlock "$target"
    steps_from "$work/log" 60
    "$T/gpu-counter" --verify "$work/log" --mib 48 || fail "the log"
    expect 0 1 lock "$target" # a second generation
    expect 0 2 checkpoint "$target"
    expect 0 1 restore "$target"
    expect 0 0 unlock "$target"
    steps_from "$work/log" 60
}

promise_criu_refuses_a_running_and_a_locked_process() {
    need_criu
    node 1 64
    start log --mib 4
    criu_dump "$pid" && fail "running, and dumped"
    grep -q "Can't dump file\|Unsupported proto" "$work/images/dump.log" || fail "$(tail -5 "$work/images/dump.log")"
    expect 0 1 lock "$pid"
    criu_dump "$pid" && fail "locked, and dumped"
    expect 0 0 unlock "$pid"
    steps_from "$work/log" 5
}

promise_a_checkpointed_process_holds_nothing_of_the_device() {
    node 1 64
    start log --mib 4
    grep -q nvidiactl "/proc/$pid/maps" || fail "no mapping while running"
    descriptors "$pid" | grep -q /nvidia0 || fail "no descriptor while running"
    expect 0 1 lock "$pid"
    expect 0 2 checkpoint "$pid"
    ! grep nvidia "/proc/$pid/maps" || fail "a mapping"
    ! descriptors "$pid" | grep -E 'nvidia|landlock|userfault|socket' || fail "a descriptor"
}

promise_the_region_is_private_memory_of_the_right_size_and_gone_after_restore() {
    node 1 256
    frozen --mib 64
    "$T/look" new "$pid" "$work/maps" >"$work/new"
    # 64 MiB, a block for the set memory, 2 MiB for the context, 10 MiB of state
    [ "$(awk '{n += $2} END {print n}' "$work/new")" = $(((64 + 2 + 10) * 1048576 + 262144)) ] || fail "$(cat "$work/new")"
    [ "$(wc -l <"$work/new")" = 1 ] || fail "more than one: $(cat "$work/new")"
    expect 0 1 restore "$pid"
    [ -z "$("$T/look" new "$pid" "$work/maps")" ] || fail "still there"
    diff <(grep -c -- '---p' "$work/maps") <(grep -c -- '---p' "/proc/$pid/maps") || fail "reservations"
}

promise_the_region_merges_with_memory_of_the_program() {
    node 1 256
    frozen --mib 64
    read -r _ _ how < <("$T/look" new "$pid" "$work/maps")
    [ "$how" = merged ] || fail "$how"
    [ "$(grep -c -- '---p' "/proc/$pid/maps")" -gt "$(grep -c -- '---p' "$work/maps")" ] || fail "no reservation"
}

promise_zeros_in_the_region_are_restored_as_zeros() {
    node 1 256
    frozen --mib 16
    "$T/look" zero "$pid" "$work/maps" >/dev/null
    expect 0 1 restore "$pid"
    call unlock "$pid" # 0, or 304 when the program saw it and ended before the answer was read
    [ "$result" = 0 ] || [ "$result" = 304 ] || fail "unlock $result"
    for ((i = 0; i < 1200; i++)); do grep -q BAD "$work/log" && break; sleep 0.05; done
    grep -q BAD "$work/log" || fail "nobody saw it: $(tail -1 "$work/log")"
    wait "$pid"
    [ $? = 1 ] || fail "its exit code"
}

promise_a_device_holds_garbage_after_checkpoint() {
    node 1 64
    start log --mib 16
    expect 0 1 lock "$pid"
    cp "$STASIS_SIM_GPU/nvidia0" "$work/before"
    expect 0 2 checkpoint "$pid"
    # the first chunk, behind the 2 MiB of the context
    local differ
    differ=$(cmp -l -i $((2 << 20)) -n $((1 << 20)) "$work/before" "$STASIS_SIM_GPU/nvidia0" | wc -l)
    [ "$differ" -gt 1000000 ] || fail "only $differ bytes differ"
}

promise_a_call_on_a_stopped_process_hangs_until_it_goes_on() {
    node 1 64
    frozen --mib 4
    kill -STOP "$pid"
    hangs restore "$pid"
    kill -CONT "$pid"
    answers 0 1
    kill -STOP "$pid"
    hangs state "$pid"
    kill -CONT "$pid"
    answers 0 1
    expect 0 0 unlock "$pid"
    steps_from "$work/log" 20
}

promise_a_call_on_a_traced_process_hangs_until_it_goes_on() {
    node 1 64
    start log --mib 4
    "$T/look" hold "$pid" >"$work/held" 2>&1 &
    holder=$!
    pids+=("$holder")
    for ((i = 0; i < 3000; i++)); do grep -q held "$work/held" && break; sleep 0.02; done
    hangs lock "$pid"
    kill -9 $holder
    answers 0 1
    expect 0 0 unlock "$pid"
    steps_from "$work/log" 20
}

promise_a_call_on_a_frozen_cgroup_hangs_until_it_goes_on() {
    local group=/sys/fs/cgroup/freezer/sim-gpu-test.$$.$BASHPID freeze=FROZEN thaw=THAWED file=freezer.state
    if ! mkdir "$group" 2>/dev/null; then
        group=/sys/fs/cgroup/sim-gpu-test.$$.$BASHPID freeze=1 thaw=0 file=cgroup.freeze
        mkdir "$group" 2>/dev/null || { echo "no freezer"; exit 77; }
    fi
    node 1 64
    start log --mib 4
    echo "$pid" >"$group/cgroup.procs"
    echo $freeze >"$group/$file"
    hangs lock "$pid"
    echo $thaw >"$group/$file"
    answers 0 1
    expect 0 0 unlock "$pid"
    steps_from "$work/log" 20
    end "$pid"
    rmdir "$group"
}

promise_a_call_given_up_on_a_stopped_process_is_never_carried_out() {
    node 1 64
    frozen --mib 4
    kill -STOP "$pid"
    hangs restore "$pid"
    end "$caller"
    kill -CONT "$pid"
    expect 0 2 state "$pid"
    expect 0 1 restore "$pid"
    expect 0 0 unlock "$pid"
    steps_from "$work/log" 20
}

promise_a_process_in_other_namespaces_is_reached_by_its_host_pid() {
    node 1 64
    setsid unshare --pid --mount --net --ipc --uts --fork --mount-proc --kill-child \
        "$T/gpu-counter" --interval-ms 5 --mib 4 >"$work/log" 2>&1 &
    pid=$!
    pids+=("$pid")
    steps_from "$work/log" 2
    target=$(cat "/proc/$pid/task/$pid/children")
    target=${target% }
    expect 0 0 state "$target"
    call restoreThread "$target"
    [ -d "/proc/$target/task/$state" ] || fail "thread $state"
    whole_round "$target"
    steps_from "$work/log" 20
}

promise_uid_1000_without_capabilities_works_the_same() {
    need_criu
    node 1 64
    chmod 755 "$work"
    # uid 1000 may not reach the checkout: it can lie in a home folder of mode 0700.
    cp "$T/gpu-counter" "$T/libcuda.so.1" "$work"
    LD_LIBRARY_PATH=$work setsid setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs \
        "$work/gpu-counter" --interval-ms 5 --mib 4 >"$work/log" 2>&1 &
    pid=$!
    pids+=("$pid")
    steps_from "$work/log" 2
    criu_dump "$pid" && fail "running, and dumped"
    whole_round "$pid"
    steps_from "$work/log" 20
}

# long_kernels ARG...: a counter with kernels of 1.5 s, after that command.
long_kernels() {
    node 1 256 --switch-ms 200
    start log --mib 4 --kernel-ms 1500
    "$@"
}

# another_starts: another process makes a context on the GPU.
another_starts() {
    "$T/gpu-counter" --mib 1 --interval-ms 5 >"$work/other" 2>&1 &
    local other=$!
    pids+=("$other")
    while ! grep -q '^step 2 ' "$work/other"; do
        kill -0 "$other" 2>/dev/null || fail "$(cat "$work/other")"
        sleep 0.01
    done
    end "$other"
}

resumed() {
    local each
    for each in lock checkpoint restore unlock; do until_not_busy $each "$pid"; done
}

promise_a_kernel_of_a_resumed_process_cannot_be_preempted() {
    long_kernels resumed
    local i
    # One that starts just before a kernel ends does no harm.
    for ((i = 0; i < 50; i++)); do
        another_starts
        kill -0 "$pid" 2>/dev/null || break
    done
    grep -q '719' "$work/log" || fail "it continues: $(tail -2 "$work/log")"
}

promise_a_kernel_of_a_process_that_was_never_checkpointed_can_be_preempted() {
    long_kernels true
    local i before
    before=$(steps_of "$work/log")
    for ((i = 0; i < 10; i++)); do another_starts; done
    while [ "$(steps_of "$work/log")" -lt $((before + 2)) ]; do
        kill -0 "$pid" 2>/dev/null || fail "it has ended: $(tail -2 "$work/log")"
        sleep 0.02
    done
}
