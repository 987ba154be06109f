# Processes that a program forks.
# shellcheck shell=bash disable=SC2154,SC2015,SC2034

# hold CALL: the simulated driver holds the next such call of the program.
hold() { echo hold >"$STASIS_SIM_GPU/faults/.$1" && mv "$STASIS_SIM_GPU/faults/.$1" "$STASIS_SIM_GPU/faults/$1.$pid"; }

# held CALL: waits until it does.
held() {
    local i
    for ((i = 0; i < 3000; i++)); do
        [ -e "$STASIS_SIM_GPU/faults/$1.$pid" ] || [ ! -e "$STASIS_SIM_GPU/faults/$1.$pid.held" ] || return 0
        sleep 0.01
    done
    fail "$1 is not held"
}

# release CALL
release() { rm "$STASIS_SIM_GPU/faults/$1.$pid.held"; }

promise_forked_processes_have_no_memory_of_the_program() {
    node 1 64
    ( preloaded "$T/program" fork-memory ) >"$work/log" || fail "$(cat "$work/log")"
}

promise_forked_processes_wait_for_no_lock_of_another_thread() {
    node 1 64
    ( preloaded "$T/program" fork-locked ) >"$work/log" || fail "$(cat "$work/log")"
}

promise_forked_processes_do_not_wait_for_a_close_that_was_given_up() {
    node 1 64
    program fork-waiting "$work/go"
    keeper
    attach
    hold synchronize
    refused 'busy' close w 500
    touch "$work/go"
    until_there "$work/log" good
    release synchronize
    must close w 5000
    must open w
}

promise_forked_processes_keep_no_memory_that_is_being_exported() {
    local exported
    node 1 64
    program fork-exporting "$work/go"
    keeper
    attach
    must close w 5000
    hold export
    "$T/stasis-keeper" tell "$work/k" export w >"$work/exported" &
    exported=$!
    held export
    hold export # the second allocation, too
    release export
    held export
    touch "$work/go"
    until_there "$work/log" good
    release export
    wait "$exported" || fail "$(cat "$work/exported")"
    must unload w
    reload
}

promise_a_forked_process_can_be_the_first_with_a_context() {
    node 1 64
    program fork-first "$work/go"
    keeper
    pid=$(awk '/^worker / {print $2}' "$work/log")
    pids+=("$pid")
    attach
    unload
    driver_out
    driver_in
    reload
    touch "$work/go"
    until_there "$work/log" good
    unload
    reload
}
