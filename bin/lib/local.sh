# shellcheck shell=bash
# Builds, starts and takes away the single-machine mode for bin/demo. Sourced.
# start_local needs GPU_LIBRARY and, for simulated GPUs, SIM_GPUS (their folder).

OPERATOR_APP="$STASIS_HOME/operator/target/quarkus-app/quarkus-run.jar"
# bin/demo --pack leaves this: all is built and in place, nothing is fetched.
PACKED="$STASIS_HOME/packed"

# Where an overlay's upper folder may lie: a disk, or the memory where the disk is an overlay itself.
overlay_place() {
  if [ "$(stat -f -c %T /var/tmp)" = overlayfs ]; then echo /dev/shm; else echo /var/tmp; fi
}

find_library() {
  local folder
  ldconfig -p 2>/dev/null | sed -n "s/^\t$1 (libc6,x86-64.*) => //p" | head -n 1 | grep . && return 0
  for folder in /usr/local/nvidia/lib64 /usr/lib/x86_64-linux-gnu /usr/lib64; do
    if [ -e "$folder/$1" ]; then
      printf '%s\n' "$folder/$1"
      return 0
    fi
  done
  return 1
}

# choose_gpu NAME: fills GPU_LIBRARY for a real GPU, or sets SIMULATED; says which. NAME is the program that asks.
choose_gpu() {
  if [ -z "$SIMULATED" ] && [ -e /dev/nvidiactl ] && GPU_LIBRARY="$(find_library libcuda.so.1)"; then
    say "$1: on the REAL GPU of this machine, driver library $GPU_LIBRARY"
    return 0
  fi
  say "$1: on a SIMULATED GPU${SIMULATED:+, as asked}; criu, containers, operator and agent are the real ones"
  SIMULATED=yes
}

# make_simulated_gpus FOLDER COUNT
make_simulated_gpus() {
  SIM_GPUS="$1"
  GPU_LIBRARY="$STASIS_HOME/sim-gpu/target/libcuda.so.1"
  "$STASIS_HOME/sim-gpu/target/sim-gpu-node" "$SIM_GPUS" "$2" 256 >/dev/null
  export STASIS_SIM_GPU="$SIM_GPUS" STASIS_LIBCUDA="$GPU_LIBRARY" STASIS_LIBNVML="$STASIS_HOME/sim-gpu/target/libnvidia-ml.so.1"
}

local_jar() { find "$STASIS_HOME/local/target" -maxdepth 1 -name 'stasis-local-*.jar' ! -name '*-sources.jar' 2>/dev/null | head -n 1; }

local_java() {
  if [ -e "$PACKED" ]; then echo "$STASIS_HOME/jre/bin/java"; else printf '%s/bin/java' "$(find_build_jdk)"; fi
}

local_criu() { if [ -e "$PACKED" ]; then echo "$TOOLS/bin/criu"; else find_criu; fi; }

is_built() {
  local jar
  jar="$(local_jar)"
  [ -n "$jar" ] && [ -d "$STASIS_HOME/local/target/lib" ] && [ -e "$OPERATOR_APP" ] && [ -z "$(find \
    "$STASIS_HOME"/{local,operator,node-agent,store,crds,artifact,compat}/src/main -type f -newer "$jar" -print -quit)" ]
}

# Installs and builds what is missing, or older than its sources.
prepare_local() {
  local part
  if [ -e "$PACKED" ]; then
    export PATH="$TOOLS/bin:$PATH"
    return 0
  fi
  "$STASIS_HOME/bin/setup" --quiet
  mkdir -p "$TOOLS/log"
  for part in runtime sim-gpu; do
    # 300 s each: some seconds are usual.
    timeout 300 make -C "$STASIS_HOME/$part" >"$TOOLS/log/$part.log" 2>&1 </dev/null || die "$part could not be built" "see $TOOLS/log/$part.log"
  done
  if is_built; then return 0; fi
  say "building (once, a minute or two; log: $TOOLS/log/local.log)"
  # 1800 s: the first build fetches the libraries.
  (cd "$STASIS_HOME" && JAVA_HOME="$(find_build_jdk)" timeout 1800 "$(find_maven)" -B -ntp -pl local,operator -am -Dmaven.test.skip=true \
    -Dspotless.check.skip=true package) >"$TOOLS/log/local.log" 2>&1 </dev/null || die "the single-machine mode could not be built" "see $TOOLS/log/local.log"
  touch "$(local_jar)"
}

# start_local FOLDER SHM: returns when kubectl is answered; FOLDER/program has its process, FOLDER/local.log its words.
# It ends by itself when this shell does, unless KEEP is set.
start_local() {
  local criu options=() until log="$1/local.log" pid
  criu="$(local_criu)"
  [ -n "$criu" ] || die "no criu that works on this kernel" "run: bin/setup"
  if [ -n "${SIM_GPUS:-}" ]; then options+=(--simulated-gpus "$SIM_GPUS"); fi
  mkfifo -m 600 "$1/life"
  # Both ends, so that opening does not wait; the program's own end is for reading only.
  exec 9<>"$1/life"
  if [ -z "$KEEP" ]; then options+=(--until-input-ends); fi
  setsid "$(local_java)" -XX:+UseSerialGC -Xmx512m -Xshare:auto \
    -cp "$(local_jar):$STASIS_HOME/local/target/lib/*" dev.stasis.local.StasisLocal \
    --folder "$1" --libcuda "$GPU_LIBRARY" --criu "$criu" --operator "$OPERATOR_APP" \
    --runtime "${STASIS_RUNTIME:-$STASIS_HOME/runtime/target/stasis-runtime}" \
    --program-image "stasis/gpu-counter:local=$STASIS_HOME/sim-gpu/target/gpu-counter" \
    --state-dir "$2/state" --memory-stage "$2/stage" "${options[@]}" >"$log" 2>&1 <"$1/life" 9>&- &
  pid=$!
  printf '%s\n' "$pid" >"$1/program"
  until=$((SECONDS + 300)) # ten seconds are usual
  while ! grep -qs '^stasis-local: ready' "$log"; do
    kill -0 "$pid" 2>/dev/null || die "the single-machine mode has ended" "$(tail -n 5 "$log")"
    [ "$SECONDS" -lt "$until" ] || die "the single-machine mode does not answer" "see $log"
    # Bash has no other way to wait for a line of another's file.
    sleep 0.2
  done
}

# Becomes kubectl, or as much of it as the demo needs; without the descriptor that keeps the program alive.
become_kube() {
  exec 9>&-
  if have kubectl; then exec kubectl "$@"; fi
  local LC_ALL=C body port status line gate # a length is one of bytes
  port="$(sed -n 's/.*server: "http:.*:\([0-9]*\)".*/\1/p' "$KUBECONFIG")"
  body="$(printf '%s\n' "$@")"
  exec {gate}<>"/dev/tcp/127.0.0.1/$port"
  printf 'POST /client HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s' "${#body}" "$body" >&"$gate"
  IFS= read -r status <&"$gate"
  while IFS= read -r line <&"$gate" && [ "$line" != $'\r' ]; do :; done
  if [[ "$status" == *" 200 "* ]]; then exec cat <&"$gate"; fi
  cat <&"$gate" >&2
  exit 1
}

kube() { (become_kube "$@"); }

# The mounts below a folder, innermost first.
mounts_below() { awk -v below="$1/" 'index($2, below) == 1 { print $2 }' /proc/mounts | sort -r; }

# What a program that was killed could not take away itself: processes, mounts, cgroups.
sweep_local() {
  local group pid mount until=$((SECONDS + 30)) # the kernel ends killed processes at once, unless they are in a driver
  for group in $(find /sys/fs/cgroup -maxdepth 2 -type d -name "stasis-local-$(basename "$1")" 2>/dev/null); do
    # What is frozen by its cgroup does not end before it is thawed.
    find "$group" -name freezer.state -exec sh -c 'echo THAWED >"$1"' sh {} \; 2>/dev/null || true
    find "$group" -name cgroup.freeze -exec sh -c 'echo 0 >"$1"' sh {} \; 2>/dev/null || true
    while [ -n "$(find "$group" -name cgroup.procs -exec cat {} + 2>/dev/null)" ] && [ "$SECONDS" -lt "$until" ]; do
      for pid in $(find "$group" -name cgroup.procs -exec cat {} + 2>/dev/null); do kill -KILL "$pid" 2>/dev/null || true; done
      sleep 0.1
    done
    find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || true
  done
  for mount in $(mounts_below "$1"); do umount -l "$mount" 2>/dev/null || true; done
}

# clean_local FOLDER: also one in which not everything was made.
clean_local() {
  local pid until
  exec 9>&-
  if [ -s "$1/program" ]; then
    pid="$(cat "$1/program")"
    if tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q "dev.stasis.local.StasisLocal --folder $1 "; then
      kill "$pid" 2>/dev/null || true
      until=$((SECONDS + 120)) # what is frozen is thawed first
      # After --keep it is no child of ours: there is no waiting for it but looking.
      while kill -0 "$pid" 2>/dev/null && [ "$SECONDS" -lt "$until" ]; do sleep 0.1; done
      kill -KILL "$pid" 2>/dev/null || true
    fi
  fi
  sweep_local "$1"
  if [ -s "$1/shm" ]; then rm -rf --one-file-system "$(cat "$1/shm")"; fi
  rm -rf --one-file-system "$1"
}
