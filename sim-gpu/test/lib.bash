# What the tests share. Each test has its own node, its own folder and its own processes.
# shellcheck shell=bash disable=SC2154,SC2015,SC2034

clean() {
    local pid
    for pid in "${pids[@]}"; do
        kill -9 "$pid" 2>/dev/null
    done
    rm -rf "$work"
}

fail() {
    echo "$*"
    exit 1
}

end() {
    kill -9 "$1"
    wait "$1" 2>/dev/null || true
}

until_gone() {
    local i
    for ((i = 0; i < 3000; i++)); do
        [ -d "/proc/$1" ] || return
        sleep 0.02
    done
    fail "$1 is still there"
}

until_there() {
    local i
    for ((i = 0; i < 3000; i++)); do
        [ -e "$1" ] && return
        sleep 0.01
    done
    fail "expected $1, got none"
}

# until_not_busy CALL PID: the call is made again while it gives 401; then its result must be 0.
until_not_busy() {
    local i
    for ((i = 0; i < 600; i++)); do
        call "$@"
        [ "$result" = 401 ] || break
        sleep 0.05
    done
    [ "$result" = 0 ] || fail "$*: expected result 0, got $result"
}

node() { "$T/sim-gpu-node" "$STASIS_SIM_GPU" "$@" >"$work/gpus" || fail "no node"; }

uuid() { sed -n "s/^nvidia$1 \(GPU-[0-9a-f-]*\) .*/\1/p" "$work/gpus"; }

# start LOG ARG...: a counter in the background; $! and $pid are its process.
start() {
    local log=$work/$1
    shift
    setsid "$T/gpu-counter" --interval-ms 5 "$@" >"$log" 2>&1 &
    pid=$!
    pids+=("$pid")
    steps_from "$log" 2
}

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

# call CALL PID ARG...: result, name, state, milliseconds in $result and $state.
call() {
    local answer
    answer=$(timeout -s KILL 60 "$T/cuda-call" "$@")
    read -r result _ state ms <<<"$answer"
    [ -n "$result" ] || fail "$*: no answer"
}

# expect RESULT STATE CALL PID ARG...
expect() {
    local wanted="$1 $2"
    shift 2
    call "$@"
    [ "$result $state" = "$wanted" ] || fail "$*: wanted result and state $wanted, found $result $state"
}

whole_round() {
    expect 0 1 lock "$1"
    expect 0 2 checkpoint "$1"
    expect 0 1 restore "$1"
    expect 0 0 unlock "$1"
}

# hangs CALL PID: the call is still under way after 0.6 s; it is left running as $caller, its answer in $work/answer.
hangs() {
    "$T/cuda-call" "$@" >"$work/answer" 2>&1 &
    caller=$!
    pids+=("$caller")
    sleep 0.6
    kill -0 "$caller" 2>/dev/null || fail "$*: returned $(cat "$work/answer")"
}

# answers RESULT STATE: the call that hung returns now.
answers() {
    local found i
    for ((i = 0; i < 3000; i++)); do
        kill -0 "$caller" 2>/dev/null || break
        sleep 0.02
    done
    found=$(awk '{print $1, $3}' "$work/answer")
    [ "$found" = "$1 $2" ] || fail "wanted $1 $2, found '$found'"
}

descriptors() { find "/proc/$1/fd" -type l -printf '%l\n'; }

need_criu() { [ -x "$CRIU" ] || { echo "no criu"; exit 77; }; }

criu_dump() {
    mkdir -p "$work/images"
    timeout 60 "$CRIU" dump --no-default-config -t "$1" -D "$work/images" -o dump.log --shell-job --ext-unix-sk --file-locks \
        --link-remap --ghost-limit 512M "${@:2}" >/dev/null 2>&1
}

criu_restore() {
    timeout 60 "$CRIU" restore --no-default-config -D "$work/images" -o restore.log --shell-job --ext-unix-sk --file-locks \
        --link-remap --restore-detached >/dev/null 2>&1 || fail "$(grep Error "$work/images/restore.log")"
}

