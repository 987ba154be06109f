# The path itself: memory leaves a process and returns, and the program notices nothing.
# shellcheck shell=bash disable=SC2154,SC2015,SC2034

promise_three_generations_in_place_and_every_value_is_right() {
    node 1 256
    start log --mib 40 --threads 2 --busy-writer
    keeper
    attach
    for _ in 1 2 3; do
        unload
        driver_out
        must detach w
        driver_in
        attach
        reload
        steps_from "$work/log" 40
    done
    right log 40
}

promise_an_evicted_process_comes_back_by_criu_three_times() {
    need_criu
    node 1 256
    start log --mib 40 --threads 2 --deleted-file
    keeper
    for generation in 1 2 3; do
        attach
        unload
        must save w "$work/memory$generation"
        must drop w # nothing but the file has the content
        driver_out
        criu_dump $generation
        wait "$pid" 2>/dev/null
        until_gone "$pid"
        criu_restore $generation
        driver_in
        attach
        must reload w "$work/memory$generation"
        must open w
        must drop w
        right log 40 60
    done
}

promise_a_snapshot_is_the_content_at_the_checkpoint() {
    node 1 256
    start log --mib 20
    keeper
    attach
    unload
    must save w "$work/before"
    must snapshot w 8
    reload
    steps_from "$work/log" 60
    must save w "$work/after" # of the snapshot: the program has changed its memory meanwhile
    cmp "$work/before.data" "$work/after.data" || fail "the snapshot changed"
    cmp "$work/before.chunks" "$work/after.chunks" || fail "the digests differ"
    right log 20
}

promise_a_program_gets_the_memory_of_its_snapshot() {
    for when in before during; do
        node 1 128
        rm -f "$work/go" "$work/log" "$work"/k*
        program more "$work/go"
        keeper
        attach
        unload
        must snapshot w 1
        must reload w
        must open w
        : >"$work/go"
        if [ $when = before ]; then
            until_there "$work/log" full
            refused 'not here' save w "$work/memory"
        else
            tell save w "$work/memory" || [[ $answer =~ "needs the device memory"|"not here" ]] || fail "$answer"
            until_there "$work/log" full
        fi
        must drop w
        end "$pid"
        end "$keeper"
        end "$(holder_pid)"
    done
}

promise_staged_memory_is_written_after_the_thaw() {
    node 1 128
    start log --mib 20
    keeper
    attach
    room "$work/staged"
    unload
    must save w "$work/device"
    must stage w "$work/staged"
    reload
    steps_from "$work/log" 60
    must save w "$work/staged"
    cmp "$work/device.data" "$work/staged.data" || fail "another content"
    cmp "$work/device.chunks" "$work/staged.chunks" || fail "the digests differ"
    must drop w
    must rest
    [ -e "$work/staged.data" ] || fail "a written file is gone"
    right log 20
}

promise_memory_is_saved_into_room_that_was_made_before() {
    node 1 128
    start log --mib 20
    keeper
    attach
    room "$work/memory"
    unload
    must save w "$work/memory"
    must save w "$work/device"
    cmp "$work/device.data" "$work/memory.data" || fail "another content"
    cmp "$work/device.chunks" "$work/memory.chunks" || fail "the digests differ"
    must drop w
    must quit
    driver_out
    driver_in
    keeper
    attach
    must reload w "$work/memory"
    must open w
    right log 20
}

promise_a_workload_that_has_grown_needs_no_room() {
    node 1 128
    start log --mib 20
    keeper
    attach
    must room "$(gpu)" $((4 << 20)) "$work/memory"
    unload
    refused 'expected room for' stage w "$work/memory"
    must save w "$work/memory"
    must save w "$work/device"
    cmp "$work/device.data" "$work/memory.data" || fail "another content"
    reload
    right log 20
}

promise_room_without_content_leaves_nothing_behind() {
    node 1 128
    start log --mib 20
    keeper
    attach
    room "$work/unused"
    refused 'has room already' room "$(gpu)" $((4 << 20)) "$work/unused"
    mkdir "$work/small"
    mount -t tmpfs -o size=2m none "$work/small" || exit 77
    refused 'No space' room "$(gpu)" $((8 << 20)) "$work/small/memory"
    files=$(ls "$work/small")
    umount "$work/small"
    [ -z "$files" ] || fail "left behind: $files"
    [ "$(stat -f -c %T "$T")" = tmpfs ] || refused 'not on a tmpfs' room "$(gpu)" $((4 << 20)) "$T/room.$$"
    [ ! -e "$T/room.$$.data" ] || fail "left behind: $T/room.$$.data"
    must drop w
    must rest
    [ ! -e "$work/unused.data" ] || fail "unused room is still there"
    right log 20
}

promise_a_snapshot_leaves_the_reserve_to_the_workload() {
    node 1 160
    start log --mib 50
    keeper
    attach
    unload
    refused 'expected .* MiB free' snapshot w 40
    must snapshot w 4
    reload
    right log 50
}

promise_the_device_is_free_while_the_file_alone_has_the_content() {
    node 1 128
    start log --mib 60
    keeper
    attach
    unload
    must save w "$work/memory"
    must drop w
    driver_out
    start other --mib 100 # there is room for it only because all else is gone
    end "$pid"
    pid=$(head -1 <<<"${pids[0]}")
    driver_in
    attach
    must reload w "$work/memory"
    must open w
    right log 60
}

promise_a_damaged_file_is_refused_and_the_right_one_works() {
    node 1 128
    start log --mib 20
    keeper
    attach
    unload
    must save w "$work/memory"
    must drop w
    cp "$work/memory.data" "$work/bad.data"
    cp "$work/memory.chunks" "$work/bad.chunks"
    printf 'x' | dd of="$work/bad.data" bs=1 seek=5000000 conv=notrunc 2>/dev/null
    attach
    refused 'wrong digest' reload w "$work/bad"
    truncate -s 1M "$work/bad.data"
    refused 'too short' reload w "$work/bad"
    cp "$work/memory.data" "$work/bad.data"
    for wrong in 's/^C 1 0 8388608 8388608 8388608/C 1 0 8388608 8388608 0/' '/^C 2 /d' 's/^R 0 \(.*\) 20971520$/R 0 \1 23068672/' '/^end/d'; do
        sed "$wrong" "$work/memory.chunks" >"$work/bad.chunks"
        ! cmp -s "$work/memory.chunks" "$work/bad.chunks" || fail "nothing changed: $(head -4 "$work/memory.chunks")"
        refused 'not complete' reload w "$work/bad"
    done
    must reload w "$work/memory"
    must open w
    right log 20
}

promise_device_memory_short_at_reload_loses_nothing() {
    node 1 128
    start log --mib 60
    victim=$pid
    keeper
    attach
    unload
    must save w "$work/memory"
    must drop w
    driver_out
    driver_in
    start other --mib 70
    other=$pid
    pid=$victim
    attach
    refused 'OUT_OF_MEMORY' reload w "$work/memory"
    end "$other"
    must reload w "$work/memory"
    must open w
    right log 60
}

promise_two_processes_are_kept_and_staged_at_once() {
    node 1 256
    start one --mib 20
    first=$pid
    start two --mib 20
    second=$pid
    keeper
    must attach a "$first" "$(start_time "$first")"
    must attach b "$second" "$(start_time "$second")"
    local said=$answer
    for w in a b; do
        answer=$said
        room "$work/later-$w"
    done
    for c in 'close %s 5000' 'export %s' 'unload %s' "save %s $work/%s" "stage %s $work/later-%s"; do
        # shellcheck disable=SC2059 # the commands are formats
        for w in a b; do must $(printf "${c//%s/$w}"); done
    done
    for pid in "$first" "$second"; do driver_out; done
    for pid in "$first" "$second"; do driver_in; done
    for w in a b; do must reload $w; done
    for w in a b; do must open $w; done
    for w in a b; do # what is staged is what was there while they were frozen
        must save $w "$work/later-$w"
        cmp "$work/$w.data" "$work/later-$w.data" || fail "another content"
    done
    pid=$first
    right one 20
    pid=$second
    right two 20
}

promise_files_are_new_and_their_names_may_have_blanks() {
    node 1 128
    start log --mib 20
    keeper
    attach
    unload
    must save w "$work/with a blank"
    must save w "$work/plain"
    cmp "$work/with a blank.data" "$work/plain.data" || fail "another content"
    refused 'exists' save w "$work/plain" # nothing is replaced
    must drop w
    attach
    must reload w "$work/with a blank"
    must open w
    right log 20
}

# file_system SIZE KIND: a small one at $work/small, for as long as the test runs. On an overlay files are written, not mapped.
file_system() {
    local at=$work/small
    mkdir -p "$at"
    mount -t tmpfs -o "size=$1" none "$at" || exit 77
    trap 'umount -l "$work/small" "$work/small" 2>/dev/null; clean' EXIT
    if [ "$2" = overlay ]; then
        mkdir "$at/upper" "$at/work" "$at/lower"
        mount -t overlay -o "lowerdir=$at/lower,upperdir=$at/upper,workdir=$at/work" overlay "$at" || exit 77
    fi
}

# saved_later KIND PATTERN: a save into a full file system leaves nothing behind, and works once there is space.
saved_later() {
    node 1 128
    start log --mib 20
    keeper
    attach
    unload
    file_system 24m "$1"
    head -c 12M /dev/zero >"$work/small/other"
    must save w "$work/memory"
    for _ in 1 2; do
        refused "$2" save w "$work/small/memory"
        [ "$(ls "$work/small")" = other ] || fail "left behind: $(ls "$work/small")"
    done
    rm "$work/small/other"
    must save w "$work/small/memory"
    cmp "$work/memory.data" "$work/small/memory.data" || fail "another content"
    cmp "$work/memory.chunks" "$work/small/memory.chunks" || fail "the digests differ"
    must drop w
    attach
    must reload w "$work/small/memory"
    must open w
    right log 20
}

promise_a_save_into_a_full_tmpfs_is_repeated() { saved_later tmpfs 'no room for the data file'; }
promise_a_save_onto_a_full_disk_is_repeated() { saved_later overlay 'write: No space'; }

promise_a_save_ends_with_the_agent_that_asked_for_it() {
    node 1 256
    start log --mib 40
    keeper
    attach
    unload
    abandoned save w "$work/memory"
    must list # it has ended
    [ ! -e "$work/memory.data" ] && [ ! -e "$work/memory.chunks" ] || fail "it was written: $(ls "$work")"
    must snapshot w 8
    reload
    abandoned save w "$work/memory" # no thaw waits for this one
    must list
    [ -e "$work/memory.data" ] && [ -e "$work/memory.chunks" ] || fail "it was not written: $(ls "$work")"
    right log 40
}

promise_a_save_reports_what_is_final() {
    node 1 320
    start log --mib 120
    keeper
    attach
    unload
    python3 - "$work/k" "$work/memory" "$keeper" <<'PYTHON' || fail "wrong reports"
import os, signal, socket, sys
keeper = socket.socket(socket.AF_UNIX)
keeper.settimeout(60)
keeper.connect(sys.argv[1])
answers = keeper.makefile("r")
def ask(command):
    keeper.sendall(f"{command}\n".encode())
    lines = [answers.readline()]
    if lines[0].startswith("at "):  # another node finds the regions in what is sent before the rest
        os.kill(int(sys.argv[3]), signal.SIGSTOP)
        table = open(f"{path}1.chunks").read().splitlines()
        os.kill(int(sys.argv[3]), signal.SIGCONT)
        assert table and sum(int(line.split()[4]) for line in table if line.startswith("R ")) >= 120 << 20, table
    while lines[-1].startswith("at "): lines.append(answers.readline())
    assert lines[-1].startswith("ok "), lines
    return [int(line.split()[1]) for line in lines[:-1]]
path = sys.argv[2]
ask("follow")
final = ask(f"save w {path}1")
assert final and final == sorted(set(final)) and 64 << 20 <= final[0] and final[-1] < 120 << 20, final
assert ask(f"save w {path}2") == []  # an older agent does not know the lines
PYTHON
    reload
    right log 120 10
}

promise_a_save_does_not_wait_for_the_disk() {
    node 1 128
    start log --mib 20
    LD_PRELOAD=$T/libno-sync.so keeper
    attach
    unload
    must save w "$work/memory"
    reload
    right log 20
}

promise_a_save_that_fails_removes_only_its_own_files() {
    node 1 128
    start log --mib 20
    keeper
    attach
    room "$work/memory"
    unload
    echo theirs >"$work/other.chunks"
    refused 'other.chunks: File exists' save w "$work/other"
    [ ! -e "$work/other.data" ] || fail "left behind: other.data"
    [ "$(cat "$work/other.chunks")" = theirs ] || fail "another content: $(cat "$work/other.chunks")"
    echo 'error 700' >"$STASIS_SIM_GPU/faults/copyDtoH.$keeper"
    refused 'cuMemcpyDtoHAsync' save w "$work/memory"
    [ -e "$work/memory.data" ] || fail "its room is gone"
    must save w "$work/memory"
    refused 'memory.chunks: File exists' save w "$work/memory"
    must drop w
    attach
    must reload w "$work/memory"
    must open w
    right log 20
}

promise_all_workloads_are_listed() {
    local i name
    node 1 64
    start log --mib 8
    keeper
    for i in {1..64}; do
        printf -v name 'p%030d' "$i" # as long as a name may be
        must attach "$name" "$pid" "$(start_time "$pid")"
    done
    must list
    [ "$(grep -o ' p[0-9]*=pid:[0-9]*,start:[0-9]*,blocks:0,bytes:0' <<<"$answer" | wc -l)" = 64 ] || fail "$answer"
    refused 'no room' attach another "$pid" "$(start_time "$pid")"
}

promise_the_largest_block_is_reported() {
    node 1 128
    start log --mib 20 --ballast 30
    keeper
    attach
    must close w 5000
    case "$answer" in *" bytes=52428800 largest=31457280 "*) ;; *) fail "expected largest=31457280, got $answer" ;; esac
    must open w
    right log 20
}

# rests: the keeper holds no memory, and still has its contexts.
rests() {
    must list
    [[ $answer == *arena=none* && $answer != *pid:* ]] || fail "it does not rest: $answer"
}

promise_a_resting_keeper_has_only_its_contexts_and_serves_again() {
    node 1 256
    start log --mib 40
    keeper
    local generation before after
    for generation in 1 2; do
        attach
        unload
        must save w "$work/memory$generation"
        reload
        must drop w
        before=$(awk '/^VmRSS/ {print $2}' "/proc/$keeper/status")
        must rest
        rests
        after=$(awk '/^VmRSS/ {print $2}' "/proc/$keeper/status")
        [ $((before - after)) -gt 6000 ] || fail "the host memory was $before KiB, and at rest $after KiB"
    done
    right log 40
    refused 'no workload' unload w
}

promise_a_resting_keeper_ends_with_its_workload() {
    node 1 256
    start log --mib 40
    keeper
    attach
    must drop w
    must rest
    rests
    end "$pid"
    until_gone "$keeper"
}

promise_a_keeper_without_a_workload_ends_instead_of_resting() {
    node 1 256
    start log --mib 40
    keeper
    attach
    must drop w
    end "$pid"
    must rest
    until_gone "$keeper"
}

promise_a_resting_keeper_does_not_wait_for_another_process_with_that_pid() {
    node 1 256
    start log --mib 40
    keeper
    refused 'expected 1$' attach w "$pid" 1
    must rest
    until_gone "$keeper"
}

promise_memory_is_not_forgotten_by_rest() {
    node 1 256
    start log --mib 40
    keeper
    attach
    unload
    refused 'is held' rest
    reload
    right log 40
}

promise_the_anchor_stays_as_long_as_an_agent_is_there_and_a_while() {
    node 1 256
    # An agent is a connection: this one stays for longer than the grace. It starts first, for a Python may need longer than that.
    python3 -c '
import os, socket, sys, time
agent = socket.socket(socket.AF_UNIX)
while agent.connect_ex(sys.argv[1]): time.sleep(0.02)
time.sleep(1.5); agent.send(b"x"); time.sleep(0.2)
os.kill(int(open(sys.argv[2]).read()), 0)' "$work/a" "$work/pid" &
    local agent=$!
    pids+=("$agent")
    until grep -q python "/proc/$agent/comm" && [ "$(awk '{print $3}' "/proc/$agent/stat")" = S ]; do sleep 0.02; done
    "$T/stasis-keeper" anchor "$work/a" 1000 2>"$work/anchor.log" &
    keeper=$!
    pids+=("$keeper")
    echo "$keeper" >"$work/pid"
    wait "$agent" || fail "it has ended while an agent was connected: $(cat "$work/anchor.log")"
    until_gone "$keeper"
}

promise_the_anchor_says_why_it_cannot_start() {
    STASIS_LIBCUDA=$work/none "$T/stasis-keeper" anchor "$work/a" 1000 2>"$work/anchor.log" && fail "it started without a driver"
    grep -q 'none' "$work/anchor.log" || fail "$(cat "$work/anchor.log")"
}
