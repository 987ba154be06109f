# Calls that fail, and commands in the wrong order: as long as the workload has not got its memory back, another copy exists.
# shellcheck shell=bash disable=SC2154,SC2015,SC2034

# fault CALL PID RESULT [always]: the driver's next such call of that process fails.
fault() { echo "error $3 ${4:-}" >"$STASIS_SIM_GPU/faults/$1.$2"; }

# one_block: a counter with a single large allocation, and a keeper.
one_block() {
    node 1 128
    start log --mib 20
    keeper
    attach
}

promise_a_call_that_fails_at_reload_loses_nothing() {
    one_block
    for call in create map export; do
        unload
        fault $call "$pid" 2
        refused 'OUT_OF_MEMORY' reload w
        refused 'not in this state' open w
        reload
        right log 20
    done
    for call in import map copyDtoD; do
        unload
        fault $call "$keeper" 2
        refused 'OUT_OF_MEMORY' reload w
        refused 'not in this state' open w
        reload
        right log 20
    done
}

promise_a_batch_that_was_not_filled_is_filled_in_smaller_ones() {
    node 1 64
    program many "$work/go" 4
    keeper
    attach
    unload
    fault copyDtoD "$keeper" 700
    refused 'cuMemcpyDtoDAsync' reload w # all four have memory again, and none its content
    start other --mib $(((256 - $(used)) / 4 - 5)) # what is free now is enough for one at a time
    reload
    touch "$work/go"
    until_there "$work/log" good
}

promise_a_copy_that_fails_at_reload_from_files_loses_nothing() {
    one_block
    for call in import map copyHtoD; do
        unload
        rm -f "$work"/memory*
        must save w "$work/memory"
        must drop w
        attach
        fault $call "$keeper" 2
        refused 'OUT_OF_MEMORY' reload w "$work/memory"
        must reload w "$work/memory"
        must open w
        right log 20
    done
}

promise_a_failed_export_is_not_followed_by_an_unload() {
    one_block
    must close w 5000
    fault export "$pid" 304
    refused 'result 304' export w
    refused 'expected 1 blocks, got 0' unload w
    must open w
    right log 20
}

promise_memory_that_was_unmapped_but_cannot_be_released_is_reloaded() {
    one_block
    must close w 5000
    must export w
    fault release "$pid" 999
    refused 'result 999' unload w
    reload
    right log 20
}

promise_a_failed_snapshot_takes_no_device_memory() {
    one_block
    unload
    before=$(used)
    fault copyDtoD "$keeper" 700
    refused 'cuMemcpyDtoDAsync' snapshot w 0
    [ "$(used)" = "$before" ] || fail "expected $before blocks, got $(used)"
    must snapshot w 0
    before=$(used)
    must snapshot w 0
    [ "$(used)" = "$before" ] || fail "a second snapshot: expected $before blocks, got $(used)"
    reload
    right log 20
}

promise_another_process_cannot_take_the_place_of_one_whose_memory_is_held() {
    one_block
    unload
    first=$pid
    start other --mib 8
    refused "holds the memory of process $first" attach w "$pid" "$(start_time "$pid")"
    pid=$first
    attach
    reload
    right log 20
}

promise_a_full_second_holder_refuses_instead_of_losing() {
    python3 - "$T/stasis-keeper" "$work/h" <<'PYTHON' || fail "a descriptor was dropped unseen"
import os, socket, struct, subprocess, sys
listener, holder = (socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(2))
listener.bind(sys.argv[2])
listener.listen()
holder.connect(sys.argv[2])
subprocess.Popen([sys.argv[1], "hold", sys.argv[2]], stdin=listener)
null = os.open("/dev/null", os.O_RDONLY)
PUT, DROP, END, REFUSED = 1, 2, 4, 5
def ask(op, block, descriptors):
    socket.send_fds(holder, [struct.pack("II32siIQQQ16s", op, block, b"w", 1, 0, 1, 0, 1, b"")], descriptors)
    return struct.unpack_from("II", holder.recv(4096) or sys.exit(f"closed at {block}"))
held = 0
while (answer := ask(PUT, held, [null])) == (END, held + 1): held += 1
assert held and answer == (REFUSED, held), (held, answer)  # its table is full, or it may have no more descriptors
assert ask(DROP, 0, []) == (END, held - 1)
assert ask(PUT, held, [null]) == (END, held)
PYTHON
}

promise_a_reload_from_files_touches_no_other_gpu() {
    node 2 128
    start log --mib 20 --device 1
    before=$(used 0)
    keeper 1
    attach
    unload
    must save w "$work/memory"
    must drop w
    must quit
    until_gone "$keeper"
    keeper 1
    attach
    must reload w "$work/memory"
    must open w
    [ "$(used 0)" = "$before" ] || fail "expected $before blocks, got $(used 0)"
    right log 20
}

promise_a_gpu_that_was_not_named_gets_no_context_and_is_named_later() {
    node 2 128
    start log --mib 20 --device 1
    keeper 1
    attach
    unload
    must save w "$work/memory"
    must drop w
    must quit
    until_gone "$keeper"
    keeper 0
    attach
    refused "$(gpu 1) is not one of those that the agent has named" reload w "$work/memory"
    before=$(used 1)
    must use "$(gpu 1)"
    [ "$(used 1)" -gt "$before" ] || fail "there was a context before"
    must reload w "$work/memory"
    must open w
    right log 20
}

promise_a_second_holder_that_is_about_to_end_is_replaced() {
    # It ends when a keeper has connected, and answers nothing.
    python3 - "$work/k.hold" <<'PYTHON' &
import select, socket, sys
listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listener.bind(sys.argv[1])
listener.listen()
select.select([listener], [], [])
PYTHON
    pids+=("$!")
    until_there_is "$work/k.hold"
    one_block
    unload
    end "$keeper"
    keeper
    attach
    reload
    right log 20
}

promise_a_second_holder_that_starts_late_takes_no_place() {
    one_block
    unload
    "$T/stasis-keeper" hold "$work/k.hold" </dev/null & # of a keeper that was not patient enough
    pids+=("$!")
    for ((i = 0; i < 3000; i++)); do # until it has ended, or waits for a keeper
        grep -q '^[17] ' "/proc/$!/syscall" 2>/dev/null || [ ! -d "/proc/$!" ] && break
        sleep 0.01
    done
    end "$keeper"
    keeper
    attach
    reload
    right log 20
}

promise_a_second_holder_that_has_not_everything_prevents_the_unload() {
    # It acknowledges everything and keeps nothing.
    python3 - "$work/k.hold" <<'PYTHON' &
import socket, struct, sys
listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listener.bind(sys.argv[1])
listener.listen()
keeper, _ = listener.accept()
while keeper.recv(4096):
    keeper.send(struct.pack("II32siIQQQ16s", 4, 0, b"", 0, 0, 0, 0, 0, b""))
PYTHON
    pids+=("$!")
    until_there_is "$work/k.hold"
    one_block
    must close w 5000
    must export w
    refused 'expected 1 allocations in the second holder, got 0' unload w
    must open w
    right log 20
}
