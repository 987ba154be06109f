# A workload that is PID 1 of an unprivileged container without a shell, with one GPU bound into its /dev.
# shellcheck shell=bash disable=SC2154,SC2015,SC2034

bind() { printf '{"destination":"%s","type":"none","source":"%s","options":["bind","%s"]},' "$2" "$1" "$3"; }

# bundle SECCOMP: a root file system of the program and its libraries, and a runtime's config.
bundle() {
    local root=$work/bundle/rootfs file
    mkdir -p "$root"/{dev,proc,tmp,usr/lib}
    cp "$T/gpu-counter" "$root/"
    for file in $(ldd "$T/gpu-counter" "$T/libcuda.so.1" | grep -o '/[^ ]*\.so[^ ]*' | grep -v libcuda | sort -u); do
        mkdir -p "$root$(dirname "$file")"
        cp -n "$file" "$root$file"
    done
    : >"$root/usr/lib/libcuda.so.1"
    chmod -R a+rX "$work"
    cat >"$work/bundle/config.json" <<JSON
{"ociVersion": "1.0.2",
 "process": {"user": {"uid": 1000, "gid": 1000}, "args": ["/gpu-counter", "--mib", "32", "--interval-ms", "5"],
  "env": ["LD_LIBRARY_PATH=/usr/lib"], "cwd": "/", "noNewPrivileges": true, "capabilities": {}},
 "root": {"path": "rootfs", "readonly": true}, "hostname": "gpu",
 "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"},
  {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
  $(bind "$STASIS_SIM_GPU/nvidiactl" /dev/nvidiactl rw) $(bind "$STASIS_SIM_GPU/nvidia1" /dev/nvidia1 rw)
  $(bind "$T/libcuda.so.1" /usr/lib/libcuda.so.1 ro)
  {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs"}],
 "linux": {"namespaces": [{"type": "pid"}, {"type": "mount"}, {"type": "network"}, {"type": "ipc"}, {"type": "uts"}]$1}}
JSON
}

run_container() {
    command -v runc >/dev/null || { echo "no runc"; exit 77; }
    bundle "$1"
    name=sim-gpu-test-$$-$BASHPID
    runc --root "$work/runc" run --detach --bundle "$work/bundle" "$name" >"$work/log" 2>&1 </dev/null || fail "$(cat "$work/log")"
    pid=$(runc --root "$work/runc" state "$name" | sed -n 's/.*"pid": \([0-9]*\).*/\1/p')
    pids+=("$pid")
    trap 'kill -9 "$pid" 2>/dev/null; runc --root "$work/runc" delete --force "$name" 2>/dev/null; clean' EXIT
    steps_from "$work/log" 2
}

# The memory that the container is charged for, in MiB; on either version of cgroups.
charged() {
    local group
    group=$(sed -n 's/^[0-9]*:memory:\(.*\)/\/sys\/fs\/cgroup\/memory\1\/memory.usage_in_bytes/p' "/proc/$pid/cgroup")
    [ -n "$group" ] || group=$(sed -n 's/^0::\(.*\)/\/sys\/fs\/cgroup\1\/memory.current/p' "/proc/$pid/cgroup")
    echo $(($(cat "$group") >> 20))
}

promise_a_container_has_its_gpu_and_pays_for_the_region_alone() {
    node 2 64
    run_container ""
    "$T/nvml-look" | grep -q "process $pid on 1 has" || fail "$("$T/nvml-look")"
    before=$(charged)
    [ "$before" -lt 24 ] || fail "$before MiB charged while the data is on the device"
    expect 0 1 lock "$pid"
    expect 0 2 checkpoint "$pid"
    frozen=$(charged)
    [ $((frozen - before)) -ge 40 ] && [ $((frozen - before)) -le 60 ] || fail "from $before to $frozen MiB"
    expect 0 1 restore "$pid"
    expect 0 0 unlock "$pid"
    steps_from "$work/log" 60
    [ "$(charged)" -lt 24 ] || fail "still $(charged) MiB"
}

promise_a_strict_seccomp_profile_still_leaves_a_descriptor_that_criu_refuses() {
    need_criu
    node 2 64
    run_container ',"seccomp": {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"action": "SCMP_ACT_ERRNO",
        "names": ["landlock_create_ruleset", "userfaultfd", "io_uring_setup", "bpf", "perf_event_open"]}]}'
    descriptors "$pid" | grep -q '^socket:' || fail "$(ls -l "/proc/$pid/fd")"
    expect 0 1 lock "$pid"
    expect 0 2 checkpoint "$pid"
    ! descriptors "$pid" | grep '^socket:\|nvidia' || fail "still there"
    expect 0 1 restore "$pid"
    expect 0 0 unlock "$pid"
    steps_from "$work/log" 20
}
