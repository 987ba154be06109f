# Each of the processes is killed in each of the states; nothing is lost. The states: how far a checkpoint in place had come.
# shellcheck shell=bash disable=SC2154,SC2015,SC2034

STATES="attached closed exported unloaded checkpointed restored"

# until_state STATE: everything up to it.
until_state() {
    attach
    [ "$1" = attached ] && return
    must close w 5000
    [ "$1" = closed ] && return
    must export w
    [ "$1" = exported ] && return
    must unload w
    [ "$1" = unloaded ] && return
    must detach w
    driver_out
    [ "$1" = checkpointed ] && return
    driver_in
}

# finish STATE: the rest, by whatever keeper there is; before anything was unloaded the program goes on by itself.
finish() {
    case $1 in
        attached | closed | exported) ;;
        *)
            [ "$1" != checkpointed ] || driver_in
            attach
            reload
            ;;
    esac
    right log 24
    attach # and a whole round works
    unload
    driver_out
    driver_in
    reload
    right log 24
}

promise_a_killed_keeper_loses_nothing_in_any_state() {
    node 1 256
    for state in $STATES; do
        rm -f "$work/log" "$work"/k*
        start log --mib 24
        keeper
        until_state $state
        end "$keeper"
        keeper # takes from the second holder what there is
        finish $state
        end "$pid"
        must drop w
        end "$keeper"
        end "$(holder_pid)"
    done
}

promise_a_killed_second_holder_is_replaced_in_any_state() {
    node 1 256
    for state in $STATES; do
        rm -f "$work/log" "$work"/k*
        start log --mib 24
        keeper
        until_state $state
        first=$(holder_pid)
        end "$first"
        another_holder "$first"
        end "$keeper" # the new one has everything as well
        keeper
        finish $state
        end "$pid"
        must drop w
        end "$keeper"
        end "$(holder_pid)"
    done
}

promise_a_killed_workload_frees_the_gpu_and_its_memory_can_be_saved() {
    node 1 256
    for state in $STATES; do
        rm -f "$work/log" "$work"/k* "$work"/saved*
        start log --mib 24
        keeper
        until_state $state
        end "$pid"
        case $state in
            attached | closed) ;;
            *) must save w "$work/saved" ;;
        esac
        refused . reload w
        must drop w
        must list
        [[ $answer != *' w='* ]] || fail "$state: $answer"
        start other --mib 220 # all is free again
        end "$pid"
        end "$keeper"
        end "$(holder_pid)"
    done
}

promise_a_keeper_that_is_killed_while_it_fills_loses_nothing() {
    node 1 256
    program many "$work/go"
    keeper
    for delay in 0 0.01 0.02 0.04 0.08 0.12 0.2; do
        attach
        unload
        ( "$T/stasis-keeper" tell "$work/k" reload w >"$work/told" 2>&1 ) &
        sleep $delay
        end "$keeper"
        wait $!
        keeper
        attach
        [[ $answer == *state=loaded* ]] || must reload w
        must open w
        must drop w
    done
    touch "$work/go"
    until_there "$work/log" good
}

promise_an_agent_that_goes_and_comes_finds_everything() {
    node 1 128
    start log --mib 24
    keeper
    until_state checkpointed
    for _ in 1 2 3; do must list; done # each is another connection
    [[ $answer == *w=pid:$pid,* ]] || fail "$answer"
    refused 'is held' quit
    finish checkpointed
}

promise_a_term_signal_does_not_end_a_keeper() {
    node 1 128
    start log --mib 24
    keeper
    until_state unloaded
    kill -TERM "$keeper" "$(holder_pid)"
    kill -INT "$keeper"
    kill -HUP "$keeper" "$(holder_pid)"
    holder_there
    finish unloaded
}

promise_without_a_second_holder_nothing_is_unloaded() {
    node 1 128
    start log --mib 24
    keeper
    until_state exported
    first=$(holder_pid)
    mkdir "$work/k.hold.d"
    mv "$work/k.hold" "$work/k.hold.d/" # no place for another one: a folder is in the way
    mkdir "$work/k.hold"
    touch "$work/k.hold/x"
    end "$first"
    until_gone "$first"
    refused 'no second holder' unload w
    rm -r "$work/k.hold"
    holder_there
    must drop w # meanwhile the gate may have opened by itself
    attach
    [[ $answer == *state=open* ]] || must open w
    unload
    reload
    right log 24
}

# many_ready: a program with 40 blocks, and a keeper.
many_ready() {
    node 1 256
    program many "$work/go"
    keeper
    attach
}

many_right() {
    must open w
    touch "$work/go"
    until_there "$work/log" good
}

promise_a_block_that_cannot_be_unmapped_is_kept_and_the_others_come_back() {
    many_ready
    must close w 5000
    must export w
    echo 'error 999' >"$STASIS_SIM_GPU/faults/unmap"
    refused 'result 999' unload w
    refused 'not in this state' open w # the others are away
    must reload w
    many_right
}

promise_memory_that_cannot_be_made_at_reload_is_asked_for_again() {
    many_ready
    unload
    driver_out
    driver_in
    echo 'error 2' >"$STASIS_SIM_GPU/faults/create"
    refused 'OUT_OF_MEMORY' reload w
    refused 'not in this state' open w
    must reload w
    many_right
}
