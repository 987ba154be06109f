# The gate and the library in the process.
# shellcheck shell=bash disable=SC2154,SC2015,SC2034

promise_the_library_asks_for_nothing_newer_than_glibc_2_17() {
    local newest
    newest=$(objdump -T "$T/libstasis-gate.so" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -1)
    [ "$newest" = GLIBC_2.17 ] || fail "$newest"
}

promise_every_name_has_an_entry_and_nothing_else_is_exported() {
    diff <(nm -D --defined-only "$T/libstasis-gate.so" | awk '{print $3}' | LC_ALL=C sort) <(cut -d' ' -f1 src/names.txt | LC_ALL=C sort) || fail "other names"
}

promise_nothing_happens_before_the_first_context() {
    node 1 64
    ( preloaded "$T/program" before-context ) >"$work/log" || fail "$(cat "$work/log")"
}

promise_a_closed_gate_stops_the_program_and_opens_again() {
    node 1 64
    start log --mib 8
    keeper
    attach
    must close w 5000
    before=$(steps_of "$work/log")
    sleep 0.3
    [ "$(steps_of "$work/log")" -le $((before + 1)) ] || fail "it went through the gate"
    must open w
    right log 8
}

promise_a_call_that_does_not_end_opens_the_gate_again() {
    node 1 64
    start log --mib 8
    keeper
    attach
    driver 0 1 lock # whoever is inside the driver stays there
    for _ in {1..100}; do
        tell close w 300 || break
        must open w # it was not inside yet
        sleep 0.05
    done
    refused 'busy' close w 300
    driver 0 0 unlock
    right log 8
    must close w 5000
    must open w
    right log 8
}

promise_a_silent_keeper_opens_the_gate() {
    node 1 64
    start log --mib 8
    keeper
    attach
    began=$(date +%s%3N)
    must close w 5000
    kill -STOP "$keeper"
    before=$(steps_of "$work/log")
    sleep 8
    now=$(steps_of "$work/log")
    # A busy machine may have taken longer than the gate waits.
    [ "$now" -le $((before + 1)) ] || [ $(($(date +%s%3N) - began)) -gt 9500 ] || fail "it opened too early"
    steps_from "$work/log" 20
    kill -CONT "$keeper"
    must status w
    [[ $answer == *state=open* ]] || fail "$answer"
    refused 'not in this state' export w
    right log 8
}

promise_forks_go_on_while_the_gate_is_closed() {
    node 1 64
    program fork "$work/go" "$work/forked"
    keeper
    attach
    must close w 5000
    touch "$work/go" # now it forks; the child calls the driver, which answers as it does to any forked child
    until_there "$work/forked" "done"
    [ "$(cat "$work/forked")" = "done 3" ] || fail "$(cat "$work/forked")"
    must open w
}

promise_forking_and_mapping_all_the_time_is_survived() {
    node 1 128
    start log --mib 16 --churn --fork 2
    keeper
    attach
    for _ in 1 2 3 4; do
        unload
        driver_out
        driver_in
        reload
        steps_from "$work/log" 10
    done
    ! grep BAD "$work/log" || fail "wrong"
}

promise_a_program_that_shares_its_memory_is_refused_and_goes_on() {
    node 1 64
    start log --mib 8 --peer
    keeper
    attach
    # The driver refuses to share what came from the library; what it made itself it shares.
    [[ $answer == *notes=ipc* ]] || fail "$answer"
    refused 'refused: ipc' close w 5000
    right log 8
}

promise_managed_memory_is_refused_by_name() {
    node 1 64
    start log --mib 8 --managed
    keeper
    attach
    refused 'refused: managed' close w 5000
    right log 8
}

# noted CALL NOTE: a program that made the call is refused, and the note says why.
noted() {
    node 1 64
    program calls "$1"
    keeper
    attach
    refused "refused: $2" close w 5000
}

promise_sparse_arrays_are_refused_by_name() { noted cuMemMapArrayAsync sparse; }
promise_sparse_arrays_of_the_thread_s_stream_are_refused_by_name() { noted cuMemMapArrayAsync_ptsz sparse; }
promise_memory_that_a_network_card_may_use_is_refused_by_name() { noted cuMemGetHandleForAddressRange export; }

promise_a_hooked_function_is_hooked_in_every_variant() {
    local name variant
    while read -r name; do
        for variant in "${name}_ptsz" "${name}_ptds"; do
            ! grep -q "^$variant " src/names.txt || grep -q "(${variant}[,)]" src/*.c || fail "$variant has no hook"
        done
    done < <(grep -ohE '^[A-Z_]+\(cu\w+[,)]' src/*.c | grep -o 'cu\w*')
}

promise_a_profiler_is_refused_by_name() {
    node 1 64
    export CUDA_INJECTION64_PATH=/none
    start log --mib 8
    unset CUDA_INJECTION64_PATH
    keeper
    attach
    refused 'refused: tool' close w 5000
    right log 8
}

promise_memory_is_freed_with_its_context_and_by_free() {
    node 1 64
    for version in _v2 ""; do
        ( preloaded "$T/program" contexts "$version" ) >"$work/log" || fail "$(cat "$work/log")"
    done
}

promise_memory_that_is_older_than_the_first_context_is_counted() {
    node 1 64
    program early
    keeper
    attach
    unload
    reload
}

promise_handles_of_the_program_survive() {
    node 1 128
    program handles "$work/go"
    keeper
    attach
    unload
    driver_out
    driver_in
    reload
    touch "$work/go"
    until_there "$work/log" good
}

promise_a_graph_that_is_being_captured_is_not_disturbed() {
    node 1 64
    program captures "$work/go"
    keeper
    attach
    refused 'captured' close w 300
    touch "$work/go"
    until_there "$work/log" good
    must close w 5000
    must open w
}

promise_memory_freed_during_a_capture_goes_after_it() {
    node 1 64
    ( preloaded "$T/program" frees ) >"$work/log" || fail "$(cat "$work/log")"
}

# give_up_a_close: it waits for the GPU of the program, which does not answer.
give_up_a_close() {
    keeper
    attach
    echo hold >"$STASIS_SIM_GPU/faults/.synchronize" && mv "$STASIS_SIM_GPU/faults/.synchronize" "$STASIS_SIM_GPU/faults/synchronize.$pid"
    refused 'busy' close w 500
}

promise_who_gives_back_one_of_two_references_does_not_wait_for_a_close_that_was_given_up() {
    node 1 64
    program releases "$work/go"
    give_up_a_close
    touch "$work/go"
    until_there "$work/log" good
    rm "$STASIS_SIM_GPU/faults/synchronize.$pid.held"
    must close w 5000
    must open w
}

promise_no_context_goes_while_a_close_that_was_given_up_waits_for_it() {
    node 1 64
    program destroys "$work/go"
    give_up_a_close
    touch "$work/go"
    sleep 0.3 # it reaches the call that destroys the context
    rm "$STASIS_SIM_GPU/faults/synchronize.$pid.held"
    until_there "$work/log" good
    must close w 5000
    must open w
}

promise_who_does_not_know_the_token_is_sent_away() {
    node 1 64
    start log --mib 8
    keeper
    attach
    must close w 5000
    "$T/program" stranger "$pid" || fail "a stranger was heard"
    must open w # the keeper's own connection is as it was
    right log 8
}

promise_no_thread_is_inside_when_memory_goes() {
    node 1 256
    program threads "$work/stop"
    keeper
    attach
    # A thread that was inside unseen would find its memory gone.
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        unload
        reload
    done
    touch "$work/stop"
    until_there "$work/log" good
}
