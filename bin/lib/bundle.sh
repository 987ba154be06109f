# shellcheck shell=bash
# Makes runc containers with a GPU for the demo: a root file system that holds the workload and the C
# library and no shell, an overlay over it, own namespaces, the output in a pipe that ends in a log.
# Sourced. The one who sources it has filled GPU_LIBRARY, GPU_DEVICES and MIB.

# Where an overlay's upper folder may lie: a disk, or the memory where the disk is an overlay itself.
overlay_place() {
  if [ "$(stat -f -c %T /var/tmp)" = overlayfs ]; then echo /dev/shm; else echo /var/tmp; fi
}

# make_image FOLDER
make_image() {
  local name
  mkdir -p "$1"/{bin,proc,dev,sys,tmp,run,etc,lib64,lib/x86_64-linux-gnu,usr/lib/x86_64-linux-gnu}
  cp "$STASIS_HOME/sim-gpu/target/gpu-counter" "$1/bin/"
  # What the workload and a real driver's library need.
  for name in libc.so.6 libdl.so.2 libpthread.so.0 libm.so.6 librt.so.1; do
    if [ -e "/lib/x86_64-linux-gnu/$name" ]; then cp -L "/lib/x86_64-linux-gnu/$name" "$1/lib/x86_64-linux-gnu/"; fi
  done
  cp -L /lib64/ld-linux-x86-64.so.2 "$1/lib64/"
}

bind_mount() { printf ',\n  {"destination": "%s", "type": "bind", "source": "%s", "options": ["bind", "%s"]}' "$2" "$1" "$3"; }

gpu_mounts() {
  local pair
  bind_mount "$(readlink -f "$GPU_LIBRARY")" /usr/lib/x86_64-linux-gnu/libcuda.so.1 ro
  for pair in "${GPU_DEVICES[@]}"; do bind_mount "${pair%%=*}" "${pair##*=}" rw; done
}

# write_config FOLDER HOLDER: the runtime's configuration; with HOLDER its first process waits for a restore.
write_config() {
  local holder="" mount=""
  if [ -n "$2" ]; then
    holder='"/.stasis/stasis-runtime", "init", "--", '
    mount="$(bind_mount "$1/stasis" /.stasis rw)"
  fi
  cat >"$1/config.json" <<JSON
{"ociVersion": "1.0.2",
 "process": {"terminal": false, "user": {"uid": 1000, "gid": 1000}, "cwd": "/", "noNewPrivileges": true, "capabilities": {},
  "args": [$holder"/bin/gpu-counter", "--mib", "$MIB", "--interval-ms", "100"],
  "env": ["PATH=/bin", "LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu"]},
 "root": {"path": "$1/rootfs"}, "hostname": "demo",
 "mounts": [
  {"destination": "/proc", "type": "proc", "source": "proc"},
  {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "strictatime", "mode=755", "size=65536k"]},
  {"destination": "/dev/pts", "type": "devpts", "source": "devpts", "options": ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"]},
  {"destination": "/dev/shm", "type": "tmpfs", "source": "shm", "options": ["nosuid", "noexec", "nodev", "mode=1777", "size=65536k"]},
  {"destination": "/dev/mqueue", "type": "mqueue", "source": "mqueue", "options": ["nosuid", "noexec", "nodev"]},
  {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["nosuid", "noexec", "nodev", "ro"]}$(gpu_mounts)$mount],
 "linux": {"cgroupsPath": "/stasis-demo/$(cat "$1/id")",
  "resources": {"devices": [{"allow": true, "access": "rwm"}]},
  "namespaces": [{"type": "pid"}, {"type": "network"}, {"type": "ipc"}, {"type": "uts"}, {"type": "mount"}],
  "maskedPaths": ["/proc/acpi", "/proc/keys", "/proc/timer_list", "/sys/firmware"],
  "readonlyPaths": ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys"]}}
JSON
}

# make_container FOLDER HOLDER: makes and starts it; its id, pid and log are files in the folder.
make_container() {
  mkdir -p "$1"/{image,upper,work,rootfs,runc} "$1"/stasis/{criu,ckpt,root,work}
  chmod 755 "$1"
  # 64 hex digits, as a container runtime names its containers.
  od -An -N 32 -tx1 /dev/urandom | tr -d ' \n' >"$1/id"
  make_image "$1/image"
  cp "${STASIS_RUNTIME:-$STASIS_HOME/runtime/target/stasis-runtime}" "$1/stasis/stasis-runtime"
  # The holder is a user of the container's, and writes here.
  chown 1000:1000 "$1/stasis"
  mount -t overlay overlay -o "lowerdir=$1/image,upperdir=$1/upper,workdir=$1/work" "$1/rootfs"
  write_config "$1" "$2"
  # The output is a pipe, as under a container runtime's shim; its reader lives as long as a writer.
  # shellcheck disable=SC2016 # the inner shell's own arguments
  setsid sh -c 'timeout 60 runc --root "$1/runc" --log "$1/runc.err" run -d --bundle "$1" --pid-file "$1/pid" "$2" 2>&1 </dev/null |
    cat >>"$1/log"' sh "$1" "$(cat "$1/id")" >/dev/null 2>&1 &
  local until=$((SECONDS + 30)) # runc takes a tenth of a second
  while [ ! -s "$1/pid" ]; do
    [ "$SECONDS" -lt "$until" ] && [ ! -s "$1/runc.err" ] || die "runc did not start the container" "$(tail -n 3 "$1/runc.err" "$1/log" 2>/dev/null)"
    sleep 0.05
  done
}

# remove_container FOLDER: kills it; the folder's log stays.
remove_container() {
  if [ -s "$1/id" ]; then
    timeout 60 runc --root "$1/runc" delete --force "$(cat "$1/id")" >/dev/null 2>&1 || true
  fi
  if mountpoint -q "$1/rootfs"; then umount -l "$1/rootfs"; fi
}
