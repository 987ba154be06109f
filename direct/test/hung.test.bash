# A store that does not respond: its users wait in the kernel, where nothing ends them.
# shellcheck shell=bash disable=SC2154,SC2015,SC2034

# disk: a small ext4 at $work/disk. While it is frozen, who writes to it is in state D.
disk() {
    [ -e /dev/loop-control ] || { echo "needs loop devices: load the kernel module loop"; exit 77; }
    truncate -s 200M "$work/image"
    mkfs.ext4 -q -F "$work/image" || exit 77
    mkdir "$work/disk"
    mount -o loop "$work/image" "$work/disk" || exit 77
    trap 'fsfreeze -u "$work/disk" 2>/dev/null; clean_keepers; umount "$work/disk" || umount -l "$work/disk"; clean' EXIT
}

# clean_keepers: those of this test have ended; then nothing uses the disk.
clean_keepers() {
    local pid
    for pid in "${pids[@]}"; do
        kill -9 "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
}

hang() { fsfreeze -f "$work/disk"; }

respond() { fsfreeze -u "$work/disk"; }

# threads STATE: how many threads of the keeper are in that state.
threads() { cat "/proc/$keeper"/task/*/stat 2>/dev/null | sed 's/.*) //' | grep -c "^$1"; }

# ask COMMAND...: as an agent, in the background; $asker is its process. With SIGUSR1 it gives up, and waits until the connection is closed.
ask() {
    python3 -c '
import signal, socket, sys
keeper = socket.socket(socket.AF_UNIX)
keeper.connect(sys.argv[1])
signal.signal(signal.SIGUSR1, lambda *_: keeper.shutdown(socket.SHUT_WR))
keeper.sendall((" ".join(sys.argv[2:]) + "\n").encode())
for line in keeper.makefile("r"): print(line, end="", flush=True)
print("closed")' "$work/k" "$@" >"$work/told" 2>&1 &
    asker=$!
    pids+=("$asker")
}

# until_hung N: so many threads of the keeper wait for the disk.
until_hung() {
    local i
    for ((i = 0; i < 3000; i++)); do
        [ "$(threads D)" -ge "$1" ] && return
        sleep 0.02
    done
    fail "expected $1 threads in state D, got $(threads D): $(cat "$work/told")"
}

# until_threads N
until_threads() {
    local i
    for ((i = 0; i < 3000; i++)); do
        [ "$(threads .)" -eq "$1" ] && return
        sleep 0.02
    done
    fail "expected $1 threads, got $(threads .)"
}

# given_up LOG MIB: the workload gets its memory back from the keeper while the disk does not respond.
given_up() {
    kill -USR1 "$asker"
    driver_in
    attach
    reload
    right "$1" "$2"
    [ "$(threads D)" -gt 0 ] || fail "the disk has responded meanwhile"
    ! grep -q closed "$work/told" || fail "the connection was closed: $(cat "$work/told")"
    must drop w
    must rest
}

# whole_round LOG MIB: a later checkpoint works, onto the disk too.
whole_round() {
    attach
    unload
    must save w "$work/later"
    must save w "$work/disk/later"
    cmp "$work/later.data" "$work/disk/later.data" || fail "another content"
    cmp "$work/later.chunks" "$work/disk/later.chunks" || fail "the digests differ"
    rm "$work"/later.* "$work"/disk/later.*
    reload
    must drop w
    must rest
    right "$1" "$2"
}

# nothing_on_disk: what was begun there is gone.
nothing_on_disk() { [ "$(ls "$work/disk")" = lost+found ] || fail "left behind: $(ls "$work/disk")"; }

# hung_save WHEN: the disk does not respond from then on. One thread makes the files, and two copy.
hung_save() {
    node 1 256
    disk
    start log --mib 40
    keeper
    before=$(threads .)
    attach
    unload
    driver_out
    case $1 in
        opened)
            hang
            ask save w "$work/disk/memory"
            until_hung 1
            ;;
        written)
            local copy="copyDtoH.$keeper"
            echo 'hold always' >"$STASIS_SIM_GPU/faults/$copy"
            ask save w "$work/disk/memory"
            until_there_is "$STASIS_SIM_GPU/faults/$copy.held"
            hang
            rm "$STASIS_SIM_GPU/faults/$copy"*
            until_hung 2
            ;;
    esac
    given_up log 40
    respond
    until_there "$work/told" closed
    nothing_on_disk
    until_threads $((before - 2)) # the next copy starts others
    right log 40
    whole_round log 40
}

promise_a_save_that_cannot_make_its_files_is_given_up() { hung_save opened; }
promise_a_save_that_cannot_write_is_given_up() { hung_save written; }

promise_a_keeper_that_ends_before_its_disk_responds_frees_the_gpu() {
    node 1 256
    disk
    start log --mib 40
    keeper
    attach
    unload
    driver_out
    hang
    ask save w "$work/disk/memory"
    until_hung 1
    given_up log 40
    end "$pid"
    local i
    for ((i = 0; i < 3000; i++)); do
        [ "$(used)" = 0 ] && break
        sleep 0.02
    done
    [ "$(used)" = 0 ] || fail "expected 0 blocks, got $(used)"
    [ "$(threads D)" -gt 0 ] || fail "the disk has responded meanwhile"
    start log --mib 40 # another one, with another keeper
    keeper
    attach
    unload
    reload
    right log 40
}

promise_a_program_gets_the_memory_of_a_snapshot_that_cannot_be_written() {
    node 1 128
    disk
    program more "$work/go"
    keeper
    attach
    unload
    must snapshot w 1
    must reload w
    must open w
    hang
    ask save w "$work/disk/memory"
    until_hung 1
    : >"$work/go"
    until_there "$work/log" full
    until_there "$work/told" 'fail the store does not respond'
    must drop w
}

# unreadable: a workload whose memory is in $work/memory alone. The kernel answers a read from a frozen file system, so reads hang in a
# library, while $work/hung exists.
unreadable() {
    node 1 256
    start log --mib 40
    export HUNG_DISK=$work/hung
    LD_PRELOAD=$T/libno-read.so keeper
    attach
    unload
    must save w "$work/memory"
    must drop w
    driver_out
    driver_in
    attach
    before=$(threads .)
    : >"$work/hung"
}

# reload_given_up: it holds nothing of the workload afterwards.
reload_given_up() {
    ask reload w "$work/memory"
    until_there_is "$work/hung.$((2 * $1))" # two threads read
    kill -USR1 "$asker"
    must list
    [[ $answer == *w=*blocks:0* ]] || fail "expected no memory, got $answer"
}

# reload_repeated: the disk responds.
reload_repeated() {
    rm "$work/hung"
    until_threads $((before - 2)) # the next command that copies starts others
    attach
    must reload w "$work/memory"
    must open w
    right log 40
}

promise_a_reload_that_cannot_read_is_given_up_and_repeated() {
    unreadable
    reload_given_up 1
    reload_repeated
}

promise_a_disk_that_does_not_respond_takes_the_threads_of_four_copies_at_most() {
    unreadable
    for i in 1 2 3 4; do
        attach
        reload_given_up $i
    done
    attach
    refused 'expected a store that responds' reload w "$work/memory"
    reload_repeated
}
