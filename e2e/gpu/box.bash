# Containers for the GPU scenarios, by runc alone. Sourced; wants: WORK (a scratch folder), RUNC, HOLDER_RUNTIME (stasis-runtime).
# shellcheck shell=bash

# box_start NAME GPUS KIND COMMAND...   GPUS: numbers with commas, or "none"; KIND: workload or holder
# Prints nothing; the container's id is in $WORK/NAME/id, its first pid in pid, its output in log.
box_start() {
  local name="$1" gpus="$2" kind="$3" box="$WORK/$1"
  shift 3
  mkdir -p "$box/image" "$box/upper" "$box/work" "$box/rootfs"
  # 64 hexadecimal digits, as a container runtime names its containers.
  od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"$box/id"
  (cd "$box/image" && mkdir -p proc dev sys tmp run etc data usr opt var root && chmod 1777 tmp data &&
    ln -sf usr/bin bin && ln -sf usr/sbin sbin && ln -sf usr/lib lib && ln -sf usr/lib64 lib64 &&
    cp /etc/passwd /etc/group /etc/nsswitch.conf etc/ 2>/dev/null && cp -L /etc/ld.so.cache etc/ 2>/dev/null || true)
  mount -t overlay overlay -o "lowerdir=$box/image,upperdir=$box/upper,workdir=$box/work" "$box/rootfs"
  if [ "$kind" = holder ]; then
    mkdir -p "$box/stasis"/{criu,ckpt,root,work}
    cp "$HOLDER_RUNTIME" "$box/stasis/stasis-runtime"
    set -- /.stasis/stasis-runtime init -- "$@"
  fi
  BOX_KIND="$kind" BOX_GPUS="$gpus" python3 "$(dirname "${BASH_SOURCE[0]}")/box-config.py" "$box" "$@" >"$box/config.json"
  # The output is a pipe, as under a shim; whoever reads it lives until the last writer has gone.
  setsid sh -c '"$1" --root "$2/runc" --log "$2/runc.err" run -d --bundle "$2" --pid-file "$2/pid" "$3" 2>&1 </dev/null |
    cat >>"$2/log"' sh "$RUNC" "$box" "$(cat "$box/id")" >/dev/null 2>&1 &
  local i
  for i in $(seq 200); do
    [ -s "$box/pid" ] && return 0
    [ -s "$box/runc.err" ] && grep -q error "$box/runc.err" && break
    sleep 0.05
  done
  echo "box $name did not start: $(cat "$box/runc.err" 2>/dev/null)" >&2
  return 1
}

box_id() { cat "$WORK/$1/id"; }
box_pid() { cat "$WORK/$1/pid"; }
box_log() { cat "$WORK/$1/log" 2>/dev/null; }

# Whether the container's first process is there.
box_runs() { [ -d "/proc/$(box_pid "$1")" ] && ! grep -q '^State:.*Z' "/proc/$(box_pid "$1")/status"; }

# How many right lines were printed.
box_count() { box_log "$1" | grep -c ' ok' || true; }

# box_steps NAME MORE SECONDS: waits until so many further right lines were printed.
box_steps() {
  local name="$1" wanted end
  wanted=$(($(box_count "$name") + $2))
  end=$((SECONDS + $3))
  while [ "$(box_count "$name")" -lt "$wanted" ]; do
    if [ $SECONDS -ge $end ]; then
      echo "box $name: no further steps within $3 s; last lines: $(box_log "$name" | tail -3 | tr '\n' '|')" >&2
      return 1
    fi
    sleep 0.05
  done
  if box_log "$name" | grep BAD; then return 1; fi
}

box_end() {
  local box="$WORK/$1"
  [ -d "$box" ] || return 0
  "$RUNC" --root "$box/runc" delete --force "$(cat "$box/id" 2>/dev/null)" >/dev/null 2>&1 || true
  umount -l "$box/rootfs" 2>/dev/null || true
  rm -rf "$box"
}
