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
