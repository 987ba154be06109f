# A workload that lies to the keeper gains nothing, and the keeper goes on for the others.
# shellcheck shell=bash disable=SC2154,SC2015,SC2034

# lies HOW PATTERN COMMAND...: the keeper refuses, has let go of everything, and works as before.
lies() {
    local how=$1 pattern=$2 honest before
    shift 2
    node 2 128
    before=$(used 1)
    start log --mib 8
    honest=$pid
    "$T/program" liar "$how" >"$work/liar" 2>&1 &
    pids+=("$!")
    liar=$!
    until_there "$work/liar" ready
    keeper
    if [ "$1" = attach ]; then
        refused "$pattern" attach x "$liar" "$(start_time "$liar")"
    else
        must attach x "$liar" "$(start_time "$liar")"
        if [ "$1" = reload ]; then
            must export x
            must snapshot x 0
        fi
        refused "$pattern" "$@"
        must drop x
    fi
    [ "$(find "/proc/$keeper/fd" -lname '*nvidiactl' | wc -l)" -le 2 ] || fail "$how: descriptors are left: $(ls -l /proc/$keeper/fd)"
    [ "$(used 1)" = "$before" ] || fail "$how: expected $before blocks on another GPU, got $(used 1)"
    pid=$honest
    attach
    unload
    reload
    right log 8
}

promise_a_size_beyond_the_memory_is_refused() { lies size cuMemMap export x; }
promise_no_size_is_refused() { lies no-size 'makes no sense' export x; }
promise_an_odd_size_is_refused() { lies odd-size 'makes no sense' export x; }
promise_an_address_that_wraps_is_refused() { lies wrap 'makes no sense' export x; }
promise_a_gpu_that_is_not_there_is_refused() { lies gpu 'is not one of' export x; }
promise_the_gpu_of_another_workload_is_refused() { lies neighbor 'is not one of those that the agent has named' export x; }
promise_a_wild_block_is_refused() { lies block 'makes no sense' export x; }
promise_a_descriptor_of_something_else_is_refused() { lies fd cuMemImport export x; }
promise_a_missing_descriptor_is_refused() { lies no-fd 'makes no sense' export x; }
promise_an_endless_list_is_refused() { lies endless 'no end|expected 1 blocks' export x; }
promise_an_endless_list_of_nothing_is_refused() { lies nothing 'no end' export x; }
promise_memory_is_not_given_back_without_end() { lies again 'no end' reload x; }
promise_a_library_that_accepts_no_connection_is_given_up() { lies deaf 'cannot reach its library' attach; }
promise_a_wrong_count_is_refused() { lies count 'makes no sense' export x; }
promise_the_same_block_twice_is_refused() { lies twice 'makes no sense' export x; }
promise_overlapping_addresses_are_refused() { lies overlap 'makes no sense' export x; }
promise_too_many_descriptors_are_refused() { lies many-fds 'makes no sense' export x; }
promise_unwanted_descriptors_are_refused() { lies fds 'makes no sense' attach; }
promise_a_short_answer_is_refused() { lies short 'makes no sense' attach; }
promise_another_process_at_the_socket_is_found_out() { lies answer 'another process' attach; }
promise_another_version_is_refused() { lies version 'expected version' attach; }
promise_a_workload_that_ends_is_survived() { lies silent 'closed the connection' export x; }
