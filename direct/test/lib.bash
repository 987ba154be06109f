# What the tests share. Each test has its own node, its own folder and its own processes.
# shellcheck shell=bash disable=SC2154,SC2015,SC2034

clean() {
    local pid
    for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null; done
    # Keepers and holders of this test: their sockets lie in its folder.
    for pid in $(pgrep -f "(stasis-keeper serve --socket|(exe|stasis-keeper) hold) $work/" 2>/dev/null); do kill -9 "$pid" 2>/dev/null; done
    rm -rf "$work"
}

fail() {
    echo "$*"
    exit 1
}

end() {
    [ -n "$1" ] || return 0
    kill -9 "$1"
    wait "$1" 2>/dev/null || true
}

node() { "$SIM/sim-gpu-node" "$STASIS_SIM_GPU" "$@" >"$work/gpus" || fail "no node"; }

steps_of() { grep -c '^step .* ok$' "$1"; }

# steps_from LOG N: waits for N more good steps.
steps_from() {
    local wanted=$(($(steps_of "$1") + $2)) i
    for ((i = 0; i < 3000; i++)); do
        [ "$(steps_of "$1")" -ge $wanted ] && return
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.02
    done
    fail "no $2 more good steps in $1: $(tail -2 "$1")"
}

start_time() { awk '{print $22}' "/proc/$1/stat"; }

# preloaded PROGRAM ARG...: runs it with the library before the simulated driver.
preloaded() { LD_PRELOAD=$T/libstasis-gate.so STASIS_REAL_LIBCUDA=$SIM/libcuda.so.1 exec setsid "$@"; }

# start LOG ARG...: a counter with the library, in the background; $pid is its process.
start() {
    local log=$work/$1
    shift
    preloaded "$SIM/gpu-counter" --interval-ms 5 "$@" >"$log" 2>&1 &
    pid=$!
    pids+=("$pid")
    steps_from "$log" 2
}

# program MODE ARG...: test/program.c with the library, until it is ready; $pid is its process, and its output is in $work/log.
program() {
    preloaded "$T/program" "$@" >"$work/log" 2>&1 &
    pid=$!
    pids+=("$pid")
    until_there "$work/log" ready
}

# keeper [GPU]: one begins to serve the workloads of that GPU; $keeper is its process.
keeper() {
    local i
    "$T/stasis-keeper" serve --socket "$work/k" --threads 2 2>>"$work/keeper.log" &
    keeper=$!
    pids+=("$keeper")
    for ((i = 0; i < 3000; i++)); do
        "$T/stasis-keeper" tell "$work/k" list >/dev/null 2>&1 && break
        kill -0 "$keeper" 2>/dev/null || fail "the keeper did not start: $(cat "$work/keeper.log")"
        sleep 0.02
    done
    must use "$(gpu "${1:-0}")"
}

# tell COMMAND...: its answer is in $answer; the exit code says whether it was done.
tell() {
    answer=$(timeout -s KILL 90 "$T/stasis-keeper" tell "$work/k" "$@" 2>&1)
}

# must COMMAND...: it is done.
must() { tell "$@" || fail "$*: $answer"; }

# refused PATTERN COMMAND...: it is not, and the answer says why.
refused() {
    local pattern=$1
    shift
    ! tell "$@" || fail "$*: done, expected a refusal: $answer"
    [[ $answer =~ $pattern ]] || fail "$*: expected '$pattern', got '$answer'"
}

# abandoned COMMAND...: its agent has died when the keeper reads it.
abandoned() {
    local asker i number
    kill -STOP "$keeper"
    "$T/stasis-keeper" tell "$work/k" "$@" >/dev/null 2>&1 &
    asker=$!
    pids+=("$asker")
    for ((i = 0; i < 500; i++)); do # until it reads the answer, so it has asked
        read -r number _ 2>/dev/null <"/proc/$asker/syscall" && [ "$number" = 0 ] && break
        sleep 0.02
    done
    end "$asker"
    kill -CONT "$keeper"
}

# gpu [N]: the UUID of a GPU.
gpu() { sed -n "$((${1:-0} + 1))p" "$work/gpus" | awk '{print $2}'; }

# room PATH: makes room for what the library has, by the last answer.
room() {
    local bytes=${answer#* bytes=}
    must room "$(gpu)" "${bytes%% *}" "$1"
}

attach() { must attach w "$pid" "$(start_time "$pid")"; }

# driver RESULT STATE CALL: the driver's own checkpoint call on $pid.
driver() {
    local found
    found=$(timeout -s KILL 60 "$SIM/cuda-call" "$3" "$pid" | awk '{print $1, $3}')
    [ "$found" = "$1 $2" ] || fail "$3: expected result and state $1 $2, got $found"
}

unload() {
    must close w 5000
    must export w
    must unload w
}

driver_out() {
    driver 0 1 lock
    driver 0 2 checkpoint
}

driver_in() {
    driver 0 1 restore
    driver 0 0 unlock
}

reload() {
    must reload w
    must open w
}

# right LOG MIB [STEPS]: more steps, all of them right, none lost or twice.
right() {
    steps_from "$work/$1" "${3:-40}"
    "$SIM/gpu-counter" --verify "$work/$1" --mib "$2" >/dev/null || fail "wrong: $(grep -n BAD "$work/$1" | head -3)"
}

# used [GPU]: the device memory that is taken on it, in blocks of 256 KiB.
used() { "$SIM/nvml-look" | sed -n "s/^gpu ${1:-0} .* used=//p"; }

holder_pid() { pgrep -f "stasis-keeper hold $work/k.hold|/proc/self/exe hold $work/k.hold" | head -1; }

# another_holder PID: the keeper has a second holder that is not this one, which was killed.
another_holder() {
    local i
    until_gone "$1"
    for ((i = 0; i < 1000; i++)); do
        [ -n "$(holder_pid)" ] && tell list && [[ $answer == *holder=yes* ]] && return
        sleep 0.02
    done
    fail "no other second holder: $answer"
}

# holder_there: the keeper has a second holder (again).
holder_there() {
    local i
    for ((i = 0; i < 500; i++)); do
        tell list && [[ $answer == *holder=yes* ]] && return
        sleep 0.02
    done
    fail "no second holder: $answer"
}

need_criu() { [ -x "$CRIU" ] || { echo "no criu"; exit 77; }; }

until_gone() {
    local i
    for ((i = 0; i < 3000; i++)); do
        [ -d "/proc/$1" ] || return 0
        sleep 0.02
    done
    fail "$1 is still there"
}

criu_dump() {
    mkdir -p "$work/images$1"
    timeout 60 "$CRIU" dump --no-default-config -t "$pid" -D "$work/images$1" -o dump.log --shell-job --ext-unix-sk --file-locks \
        --link-remap --ghost-limit 512M >/dev/null 2>&1 || fail "$(grep Error "$work/images$1/dump.log")"
}

criu_restore() {
    timeout 60 "$CRIU" restore --no-default-config -D "$work/images$1" -o restore.log --shell-job --ext-unix-sk --file-locks \
        --link-remap --restore-detached >/dev/null 2>&1 || fail "$(grep Error "$work/images$1/restore.log")"
}

# until_there FILE WORD: the file has a line that begins so.
until_there() {
    local i
    for ((i = 0; i < 3000; i++)); do
        grep -q "^$2" "$1" 2>/dev/null && return
        sleep 0.01
    done
    fail "expected '$2' in $1, got '$(tail -3 "$1" 2>/dev/null)'"
}

# until_there_is PATH
until_there_is() {
    local i
    for ((i = 0; i < 3000; i++)); do
        [ -e "$1" ] && return
        sleep 0.01
    done
    fail "expected $1"
}
