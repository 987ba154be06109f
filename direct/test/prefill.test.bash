# Content that waits on the GPU for a process that is still being restored.
# shellcheck shell=bash disable=SC2154,SC2015,SC2034

# saved MIB: a process whose memory is in $work/memory alone, as before a restore.
saved() {
    start log --mib "$1"
    keeper
    attach
    unload
    must save w "$work/memory"
    must drop w
    driver_out
}

# restored MIB: the driver and the keeper give the process its memory back, and every value is right.
restored() {
    driver_in
    attach
    must reload w "$work/memory"
    must open w
    right log "$1"
}

promise_prefilled_memory_is_given_to_the_process_without_its_file() {
    node 1 256
    saved 40
    must reserve "$(gpu)" 16 "$work/memory"
    must prefill "$work/memory"
    [[ $answer == *bytes=4* ]] || fail "expected 40 MiB, got $answer"
    : >"$work/memory.data" # what is read from here on is wrong
    restored 40
    must drop w
    refused other reserve "$(gpu)" 16 "$work/other"
    must quit
}

promise_prefill_takes_only_what_leaves_the_reserve_free() {
    node 1 128
    saved 40
    must reserve "$(gpu)" 110 "$work/memory"
    [[ $answer == *bytes=0* ]] || fail "expected nothing, got $answer"
    must prefill "$work/memory"
    restored 40
}

promise_prefilled_memory_gives_way_to_the_process() {
    node 1 128
    saved 60
    victim=$pid
    must reserve "$(gpu)" 0 "$work/memory"
    [[ $answer == *bytes=6* ]] || fail "expected 60 MiB, got $answer"
    must prefill "$work/memory"
    driver_in
    start other --mib 24
    pid=$victim
    attach
    must reload w "$work/memory"
    must open w
    right log 60
}

promise_memory_prefilled_on_another_gpu_is_loaded_from_the_file() {
    node 2 128
    saved 40
    must use "$(gpu 1)"
    before=$(used 1) # of the keeper's context
    must reserve "$(gpu 1)" 0 "$work/memory"
    must prefill "$work/memory"
    echo 'error 700 always' >"$STASIS_SIM_GPU/faults/copyDtoD.$keeper" # what is prefilled there is of no use
    restored 40
    must drop w
    [ "$(used 1)" = "$before" ] || fail "expected $before blocks, got $(used 1)"
}

promise_memory_that_was_reserved_but_not_prefilled_comes_from_the_file() {
    node 1 128
    saved 40
    must reserve "$(gpu)" 0 "$work/memory"
    restored 40
}

promise_reserved_memory_is_replaced_by_the_next_for_that_file() {
    node 1 256
    saved 40
    must reserve "$(gpu)" 0 "$work/memory"
    before=$(used)
    must reserve "$(gpu)" 0 "$work/memory"
    [ "$(used)" = "$before" ] || fail "expected $before blocks, got $(used)"
    must prefill "$work/memory"
    restored 40
}

promise_a_resting_keeper_has_no_prefilled_memory() {
    node 1 256
    saved 40
    driver_in
    attach
    before=$(used)
    must reserve "$(gpu)" 0 "$work/memory"
    must prefill "$work/memory"
    must rest
    [ "$(used)" = "$before" ] || fail "expected $before blocks, got $(used)"
    refused 'nothing is reserved' prefill "$work/memory"
    attach
    must reload w "$work/memory"
    must open w
    right log 40
}

promise_a_damaged_file_is_not_prefilled() {
    node 1 128
    saved 40
    cp "$work/memory.data" "$work/bad.data"
    cp "$work/memory.chunks" "$work/bad.chunks"
    printf 'x' | dd of="$work/bad.data" bs=1 seek=5000000 conv=notrunc 2>/dev/null
    must reserve "$(gpu)" 0 "$work/bad"
    refused 'wrong digest' prefill "$work/bad"
    refused 'nothing is reserved' prefill "$work/bad"
    must reserve "$(gpu)" 60 "$work/memory" # the memory of the damaged one is free again
    [[ $answer == *bytes=4* ]] || fail "expected 40 MiB, got $answer"
    must prefill "$work/memory"
    restored 40
}

promise_a_file_that_shrinks_while_it_is_prefilled_is_refused() {
    node 1 128
    saved 40
    cp "$work/memory.data" "$work/bad.data"
    cp "$work/memory.chunks" "$work/bad.chunks"
    must reserve "$(gpu)" 0 "$work/bad"
    truncate -s 21M "$work/bad.data" # in the middle of a chunk
    refused 'read: the file is too short' prefill "$work/bad"
    restored 40
}

promise_prefill_ends_with_the_agent_that_asked_for_it() {
    node 1 128
    saved 40
    must reserve "$(gpu)" 60 "$work/memory"
    abandoned prefill "$work/memory"
    refused 'nothing is reserved' prefill "$work/memory"
    must reserve "$(gpu)" 60 "$work/memory"
    [[ $answer == *bytes=4* ]] || fail "expected 40 MiB, got $answer"
    must prefill "$work/memory"
    restored 40
}

# arriving MIB: what a node has of a file of the process when that much of its data has arrived and everything else is missing.
arriving() {
    rm -f "$work"/here.*
    grep -v '^C\|^end' "$work/memory.chunks" >"$work/here.chunks"
    dd if="$work/memory.data" of="$work/here.data" bs=1M count="$1" 2>/dev/null
    truncate -r "$work/memory.data" "$work/here.data"
}

# arrives: the rest of it; then it has its place. $work/memory is only there.
arrives() {
    dd if="$work/memory.data" of="$work/here.data" bs=1M conv=notrunc 2>/dev/null
    cp "$work/memory.chunks" "$work/here.chunks"
    mv "$work/here.data" "$work/memory.data"
    mv "$work/here.chunks" "$work/memory.chunks"
}

mib() { echo $(($1 << 20)); }

promise_what_arrives_is_loaded_and_not_read_again() {
    node 1 256
    saved 40
    arriving 24
    before=$(used)
    must reserve "$(gpu)" 16 "$work/here"
    [[ $answer == *bytes=4* ]] || fail "expected 40 MiB, got $answer"
    must arrived "$(mib 8)" "$(mib 24)" "$work/here"
    must arrived 0 "$(mib 24)" "$work/here"
    taken=$(used)
    arrives
    dd if=/dev/zero of="$work/memory.data" bs=1M count=16 conv=notrunc 2>/dev/null # what is read from here on is wrong
    must reserve "$(gpu)" 16 "$work/memory"
    [[ $answer == *bytes=4* ]] || fail "expected 40 MiB, got $answer"
    [ "$(used)" = "$taken" ] || fail "expected $taken blocks, got $(used)"
    must prefill "$work/memory"
    : >"$work/memory.data"
    restored 40
    must drop w
    refused other reserve "$(gpu)" 16 "$work/other"
    must quit
}

promise_a_table_that_ends_within_its_digests_has_its_regions() {
    node 1 256
    saved 40
    arriving 24
    head -c -30 "$work/memory.chunks" >"$work/here.chunks"
    must reserve "$(gpu)" 16 "$work/here"
    must arrived 0 "$(mib 24)" "$work/here"
    taken=$(used)
    arrives
    must reserve "$(gpu)" 16 "$work/memory"
    [ "$(used)" = "$taken" ] || fail "expected $taken blocks, got $(used)"
    must prefill "$work/memory"
    restored 40
}

promise_a_table_without_its_end_is_not_used() {
    node 1 256
    saved 40
    arriving 40
    # All of it zeros, if these digests were used.
    sed 's/ [0-9a-f]* 16x/ zero 16x/; /^end/d' "$work/memory.chunks" >"$work/here.chunks"
    driver_in
    attach
    refused 'not complete' reload w "$work/here"
    must reload w "$work/memory"
    must open w
    right log 40
}

promise_a_byte_that_arrives_damaged_is_loaded_again() {
    node 1 256
    saved 40
    arriving 40
    printf 'x' | dd of="$work/here.data" bs=1 seek=5000000 conv=notrunc 2>/dev/null
    must reserve "$(gpu)" 16 "$work/here"
    must arrived 0 "$(mib 40)" "$work/here"
    arrives # its block was sent a second time
    must reserve "$(gpu)" 16 "$work/memory"
    must prefill "$work/memory"
    restored 40
}

promise_a_byte_that_stays_damaged_is_refused() {
    node 1 256
    saved 40
    arriving 40
    printf 'x' | dd of="$work/here.data" bs=1 seek=5000000 conv=notrunc 2>/dev/null
    must reserve "$(gpu)" 16 "$work/here"
    must arrived 0 "$(mib 40)" "$work/here"
    cp "$work/memory.chunks" "$work/here.chunks"
    must reserve "$(gpu)" 16 "$work/here"
    refused 'wrong digest' prefill "$work/here"
    refused 'nothing is reserved' prefill "$work/here"
    driver_in
    attach
    refused 'wrong digest' reload w "$work/here"
    refused 'not in this state' open w
    must reload w "$work/memory"
    must open w
    right log 40
}

promise_what_has_arrived_is_not_used_without_its_digests() {
    node 1 256
    saved 40
    arriving 40
    must reserve "$(gpu)" 16 "$work/here"
    must arrived 0 "$(mib 40)" "$work/here"
    refused 'before its table was complete' prefill "$work/here"
    driver_in
    attach
    refused 'not complete' reload w "$work/here"
    refused 'not in this state' open w
    must reserve "$(gpu)" 16 "$work/memory"
    must prefill "$work/memory"
    refused 'and loaded' arrived 0 "$(mib 40)" "$work/memory"
    must reload w "$work/memory"
    must open w
    right log 40
}

promise_digests_of_a_table_that_may_change_are_not_trusted() {
    node 1 256
    saved 40
    arriving 40
    # Complete, but of other content: all of it zeros, with the right digests.
    sed 's/ [0-9a-f]* 16x/ zero 16x/' "$work/memory.chunks" >"$work/here.chunks"
    must reserve "$(gpu)" 16 "$work/here"
    must arrived 0 "$(mib 40)" "$work/here"
    refused 'before its table was complete' prefill "$work/here"
    arrives
    must reserve "$(gpu)" 16 "$work/memory"
    must prefill "$work/memory"
    restored 40
}

promise_regions_of_another_size_are_loaded_again() {
    node 1 256
    saved 40
    arriving 40
    sed -i '2s/[0-9]*$/2097152/' "$work/here.chunks"
    must reserve "$(gpu)" 16 "$work/here"
    must arrived 0 "$(mib 40)" "$work/here"
    arrives
    must reserve "$(gpu)" 16 "$work/memory"
    [[ $answer == *bytes=4* ]] || fail "expected 40 MiB, got $answer"
    must prefill "$work/memory"
    restored 40
}

promise_what_arrived_on_another_gpu_is_loaded_again() {
    node 2 256
    saved 40
    arriving 40
    must use "$(gpu 1)"
    before=$(used 1) # of the keeper's context
    must reserve "$(gpu 1)" 16 "$work/here"
    must arrived 0 "$(mib 40)" "$work/here"
    arrives
    must reserve "$(gpu)" 16 "$work/memory"
    [ "$(used 1)" = "$before" ] || fail "expected $before blocks, got $(used 1)"
    must prefill "$work/memory"
    restored 40
}

promise_what_has_arrived_is_given_up_when_its_room_is_needed() {
    node 1 256
    saved 40
    arriving 40
    must reserve "$(gpu)" 16 "$work/here"
    must arrived 0 "$(mib 40)" "$work/here"
    arrives
    must reserve "$(gpu)" 240 "$work/memory"
    [[ $answer == *bytes=0* ]] || fail "expected nothing, got $answer"
    must prefill "$work/memory"
    restored 40
}

promise_an_agent_that_goes_while_memory_arrives_loses_only_time() {
    node 1 256
    saved 40
    arriving 40
    must reserve "$(gpu)" 16 "$work/here"
    abandoned arrived 0 "$(mib 40)" "$work/here"
    arrives
    must reserve "$(gpu)" 16 "$work/memory"
    must prefill "$work/memory"
    restored 40
}

promise_a_keeper_ends_with_the_container_for_which_memory_arrives() {
    node 1 256
    saved 40
    before=$(used)
    setsid sleep 1000 &
    container=$!
    pids+=("$container")
    refused 'has ended' until "$container" 1
    arriving 40
    must until "$container" "$(start_time "$container")"
    must reserve "$(gpu)" 16 "$work/here"
    must arrived 0 "$(mib 40)" "$work/here"
    end "$pid" # which it has seen, too
    must list
    end "$container"
    until_gone "$keeper"
    [ "$(used)" -lt "$before" ] || fail "expected less than $before blocks, got $(used)"
}

promise_a_keeper_ends_with_a_container_that_has_ended_while_its_agent_was_there() {
    node 1 256
    saved 40
    setsid sleep 1000 &
    container=$!
    pids+=("$container")
    arriving 40
    must until "$container" "$(start_time "$container")"
    must reserve "$(gpu)" 16 "$work/here"
    echo hold >"$work/hold" && mv "$work/hold" "$STASIS_SIM_GPU/faults/copyHtoD.$keeper"
    "$T/stasis-keeper" tell "$work/k" arrived 0 "$(mib 40)" "$work/here" >/dev/null &
    agent=$!
    pids+=("$agent")
    until_there_is "$STASIS_SIM_GPU/faults/copyHtoD.$keeper.held"
    end "$pid"
    end "$container"
    rm "$STASIS_SIM_GPU/faults/copyHtoD.$keeper.held"
    wait "$agent" || fail "expected the keeper's answer"
    until_gone "$keeper"
}

promise_a_reservation_without_a_gpu_closes_no_other_descriptor() {
    node 1 256
    saved 40
    before=$(readlink "/proc/$keeper/fd/0")
    refused 'not one of those that the keeper sees' reserve GPU-0 16 "$work/memory"
    [ "$(readlink "/proc/$keeper/fd/0")" = "$before" ] || fail "expected $before as descriptor 0, got $(readlink "/proc/$keeper/fd/0")"
    restored 40
}
