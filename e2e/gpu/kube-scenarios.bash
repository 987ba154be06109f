# The scenarios of e2e/gpu/kube-run. Sourced by it.
# shellcheck shell=bash

FAILED=0 ROWS=()

# until_true SECONDS COMMAND: looks five times a second; what is waited for is seen by kubectl alone.
until_true() {
  local end=$((SECONDS + $1))
  until bash -c "$2"; do
    [ "$SECONDS" -lt "$end" ] || return 1
    read -r -t 0.2 <> <(:) || true
  done
}

stores() {
  kubectl apply -f - >>"$OUT/kube.log" 2>&1 <<Y
apiVersion: stasis.dev/v1beta1
kind: GpuCheckpointStore
metadata: {name: shared}
spec: {location: {sharedPath: {path: $WORK/shared}}}
Y
  mkdir -p "$WORK/shared" && chmod 700 "$WORK/shared"
}

# workload NAME [MEMORY [SIZE [CLASS]]]: an ordinary pod with one GPU; SIZE of its device memory in GiB, simulated in MiB.
# PROGRAM is another command, as JSON; VARIABLES more lines of its environment; SECCOMP a profile's type; PREPARE what the
# webhook is to prepare it for; GPUS how many; EMPTY_DIR where it has an emptyDir on the node's disk.
workload() {
  local command='["python3","-u","/data/programs/count.py","'"${3:-$GIB}"'"]' path=/usr/local/nvidia/lib64:/usr/local/cuda/lib64 memory="" class=""
  [ -z "$SIMULATED" ] || { command='["/data/programs/gpu-counter","--mib","'"${3:-32}"'"]' && path=/data/lib; }
  command="${PROGRAM:-$command}"
  [ -z "${2:-}" ] || memory=", memory: $2"
  [ -z "${4:-}" ] || class="priorityClassName: $4"
  local seccomp="" labels="app: $1" mount="" volume=""
  [ -z "$DIRECT" ] || labels="$labels, stasis.dev/data-path: direct"
  [ -z "${PREPARE:-}" ] || labels="$labels, stasis.dev/prepare: $PREPARE"
  [ -z "${EMPTY_DIR:-}" ] || { mount="- {name: own, mountPath: $EMPTY_DIR}" && volume="- {name: own, emptyDir: {}}"; }
  [ -z "${SECCOMP:-}" ] || seccomp="securityContext: {seccompProfile: {type: $SECCOMP}}"
  kubectl apply -f - <<Y
apiVersion: v1
kind: Pod
metadata: {name: $1, labels: {$labels}}
spec:
  restartPolicy: Always
  terminationGracePeriodSeconds: 1
  dnsPolicy: Default
  enableServiceLinks: false
  $class
  $seccomp
  containers:
  - name: main
    image: stasis.test/box:1
    imagePullPolicy: IfNotPresent
    command: $command
    env:
    - {name: PATH, value: "/opt/torch/.venv/bin:/usr/local/bin:/usr/bin:/bin"}
    - {name: HOME, value: /data}
    - {name: LD_LIBRARY_PATH, value: "$path"}
${VARIABLES:-}
    resources: {limits: {nvidia.com/gpu: ${GPUS:-1}$memory}}
    volumeMounts:
    - {name: usr, mountPath: /usr, readOnly: true}
    - {name: opt, mountPath: /opt, readOnly: true}
    - {name: programs, mountPath: /data/programs, readOnly: true}
    - {name: shm, mountPath: /dev/shm}
    $mount
  volumes:
  $volume
  - {name: usr, hostPath: {path: /usr}}
  - {name: opt, hostPath: {path: /opt}}
  - {name: programs, hostPath: {path: $WORK/programs}}
  - {name: shm, emptyDir: {medium: Memory, sizeLimit: 8Gi}} # a container's own has 64 MiB, too few for the rings of NCCL
Y
}

# The newest step in the pod's log; 0 when there is none yet.
step() { kubectl logs "$1" 2>/dev/null | sed -nE 's/^(step|count) ([0-9]+).*/\2/p' | tail -n 1 | grep . || echo 0; }
wrong() { kubectl logs "$1" 2>/dev/null | grep -m 1 -E 'BAD|wrong'; }
goes_on() { until_true "${3:-120}" "[ \"\$(kubectl logs '$1' 2>/dev/null | sed -nE 's/^(step|count) ([0-9]+).*/\\2/p' | tail -n 1 | grep . || echo 0)\" -gt $2 ]"; }
restarts() { kubectl get pod "$1" -o 'jsonpath={.status.containerStatuses[0].restartCount}'; }
no_restart() { [ "$(restarts "$1")" = 0 ] || { WHY="$1 was restarted $(restarts "$1") times" && return 1; }; }
right() { ! wrong "$1" >/dev/null || { WHY="wrong values in $1: $(wrong "$1")" && return 1; }; }
field() { kubectl get "$1" "$2" -o "jsonpath={$3}"; }

# Device memory in use on the first GPU in MiB, as NVML says; `used total`: all that it has.
used() {
  if [ -n "$SIMULATED" ]; then
    STASIS_SIM_GPU="$WORK/sim1" python3 "$HERE/used.py" "$APPS/sim/libnvidia-ml.so.1" "$@"
  else
    nvidia-smi -i 0 --query-gpu="memory.${1:-used}" --format=csv,noheader,nounits
  fi
}

begin_workload() {
  [ -z "$DIRECT" ] || webhook_is_there || { WHY="the webhook does not add the library" && return 1; }
  workload "$@" >>"$OUT/kube.log" 2>&1 && goes_on "$1" 5 "${BEGINS_WITHIN:-180}" || { WHY="pod $1 does not count" && return 1; }
}

# A pod is never refused for want of the webhook: it would run without the library.
webhook_is_there() {
  until_true 60 "kubectl run probe --image=none --labels=stasis.dev/data-path=direct --dry-run=server -o yaml --overrides='{\"spec\":{\"containers\":[{\"name\":\"probe\",\"image\":\"none\",\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"1\"}}}]}}' 2>/dev/null | grep -q libstasis-gate.so"
}
# took_its_path NAME: the GpuCheckpoint.
took_its_path() {
  [ -z "$DIRECT" ] || [ "$(field gckpt "$1" .status.dataPath)" = Direct ] || { WHY="GpuCheckpoint $1: path $(field gckpt "$1" .status.dataPath), $(field gckpt "$1" .status.dataPathReason)" && return 1; }
}

# checkpoint NAME POD [MORE]: applied, and waited for.
checkpoint() {
  kubectl apply -f - >>"$OUT/kube.log" 2>&1 <<Y || { WHY="GpuCheckpoint $1 was not accepted" && return 1; }
apiVersion: stasis.dev/v1beta1
kind: GpuCheckpoint
metadata: {name: $1}
spec: {podRef: {name: $2}${3:+, $3}}
Y
}
# ended KIND NAME CONDITION SECONDS: waited for, unless it fails for good before.
ended() {
  until_true "$4" "kubectl get $1 $2 -o 'jsonpath={.status.conditions[?(@.type==\"$3\")].status} {.status.conditions[?(@.type==\"Failed\")].status}' | grep -q True"
  [ "$(kubectl get "$1" "$2" -o "jsonpath={.status.conditions[?(@.type==\"$3\")].status}")" = True ]
}
ready() {
  ended gckpt "$1" Ready 240 || { WHY="GpuCheckpoint $1: $(field gckpt "$1" .status.phase) $(field gckpt "$1" .status.message)" && return 1; }
  took_its_path "$1"
}
restore() {
  say "- $1: stores of the nodes: $(python3 "$HERE/cached.py" "$STORES")"
  kubectl apply -f - >>"$OUT/kube.log" 2>&1 <<Y || { WHY="GpuRestore $1 was not accepted" && return 1; }
apiVersion: stasis.dev/v1beta1
kind: GpuRestore
metadata: {name: $1}
spec: {checkpointRef: {name: $2}${3:+, $3}}
Y
  ended grst "$1" Succeeded 240 || { WHY="GpuRestore $1: $(field grst "$1" .status.phase) $(field grst "$1" .status.message)" && return 1; }
}
figures() { FIGURES="frozen $(field gckpt "$1" .status.timings.frozen), $(field gckpt "$1" .status.artifact.size)"; }
came_back() { # GpuRestore, the step before
  local pod
  pod="$(field grst "$1" .status.pod.name)"
  kubectl wait --for=condition=Ready "pod/$pod" --timeout=30s >>"$OUT/kube.log" 2>&1 || { WHY="pod $pod is not Ready after the proof" && return 1; }
  goes_on "$pod" "$2" 60 || { WHY="$pod does not go on: $(step "$pod") after $2" && return 1; }
  local first
  first="$(kubectl logs "$pod" | sed -nE 's/^(step|count) ([0-9]+).*/\2/p' | head -n 1)"
  [ "$first" -ge "$2" ] || { WHY="$pod began anew: its first step is $first, wanted $2 or more" && return 1; }
  right "$pod" && no_restart "$pod" && kubectl exec "$pod" -- true >>"$OUT/kube.log" 2>&1 || { WHY="${WHY:-exec into $pod failed}" && return 1; }
  FIGURES="$FIGURES; restored in $(field grst "$1" .status.timings.took) on $(field grst "$1" .status.node)$(field grst "$1" .status.pod.node)"
}

s_checkpoint() {
  begin_workload trainer || return 1
  checkpoint train-1 trainer && ready train-1 && figures train-1 || return 1
  goes_on trainer $(($(step trainer) + 3)) && right trainer && no_restart trainer || { WHY="${WHY:-trainer does not go on}" && return 1; }
}
s_restore() {
  kubectl delete pod trainer --wait >>"$OUT/kube.log" 2>&1
  FIGURES=""
  restore train-1-back train-1 && came_back train-1-back 5
}
s_second() {
  local pod at
  pod="$(field grst train-1-back .status.pod.name)" && at="$(step "$pod")"
  checkpoint train-2 "$pod" && ready train-2 && figures train-2 || return 1
  kubectl delete pod "$pod" --wait >>"$OUT/kube.log" 2>&1
  restore train-2-back train-2 && came_back train-2-back "$at"
}
s_evict() {
  local pod at
  pod="$(field grst train-2-back .status.pod.name)" && at="$(step "$pod")"
  checkpoint train-3 "$pod" "afterCheckpoint: Evict" && ready train-3 && figures train-3 || return 1
  until_true 60 "! kubectl get pod $pod >/dev/null 2>&1" || { WHY="$pod was not evicted" && return 1; }
  restore train-3-back train-3 && came_back train-3-back "$at" || return 1
  kubectl delete pod "$(field grst train-3-back .status.pod.name)" --wait >>"$OUT/kube.log" 2>&1
}
# look NAME POD: what a dry run expects of its checkpoint, in EXPECTED.
look() {
  checkpoint "$1" "$2" "options: {dryRun: true${3:+, $3}}" || return 1
  until_true 60 "[ \"\$(kubectl get gckpt $1 -o 'jsonpath={.status.phase}')\" = Explained ]" || { WHY="GpuCheckpoint $1: expected Explained, got $(field gckpt "$1" .status.phase) $(field gckpt "$1" .status.message)" && return 1; }
  EXPECTED="expected $(field gckpt "$1" .status.explanation.expectedFrozen), $(field gckpt "$1" .status.explanation.expectedSize); faults [$(field gckpt "$1" '.status.explanation.faults[*].property')], not portable [$(field gckpt "$1" '.status.explanation.notPortable[*].property')]"
}
# there_and_back NAME PROGRAM [STEPS]: looked at by a dry run, checkpointed in place, evicted, restored in a new pod under another address; the last two
# GENERATIONS times. With STEPS, the program runs uninterrupted for that many first, and is given the output to compare with.
# OPTIONS of the GpuCheckpoints; FURTHER steps that it has to make after each restore.
there_and_back() {
  local name="$1" pod="$1" program="$2" generation at before after figures
  if [ -n "${3:-}" ]; then
    PROGRAM="[$program]" begin_workload reference && goes_on reference "$3" 300 || { WHY="${WHY:-pod reference does not reach step $3}" && return 1; }
    kubectl logs reference >"$WORK/programs/record.txt" && kubectl delete pod reference --wait >>"$OUT/kube.log" 2>&1
    program+=',"/data/programs/record.txt"'
  fi
  PROGRAM="[$program]" begin_workload "$name" && look "$name-0" "$name" "${OPTIONS:-}" || return 1
  checkpoint "$name-1" "$name" "${OPTIONS:+options: {$OPTIONS\}}" && ready "$name-1" && goes_on "$name" $(($(step "$name") + 3)) && right "$name" || { WHY="${WHY:-$name does not continue}" && return 1; }
  figures="frozen $(field gckpt "$name-1" .status.timings.frozen) in place, $(field gckpt "$name-1" .status.artifact.size) ($EXPECTED)"
  for ((generation = 2; generation <= ${GENERATIONS:-1} + 1; generation++)); do
    # The store has room for one of each workload.
    kubectl delete gckpt "$name-$((generation - 1))" --wait >>"$OUT/kube.log" 2>&1
    before="$(field pod "$pod" .status.podIP)" at="$(step "$pod")" FIGURES=""
    checkpoint "$name-$generation" "$pod" "afterCheckpoint: Evict${OPTIONS:+, options: {$OPTIONS\}}" && ready "$name-$generation" || return 1
    kubectl wait --for=delete "pod/$pod" --timeout=60s >>"$OUT/kube.log" 2>&1 || { WHY="$pod was not evicted" && return 1; }
    restore "$name-$generation-back" "$name-$generation" && came_back "$name-$generation-back" "$at" || return 1
    pod="$(field grst "$name-$generation-back" .status.pod.name)"
    goes_on "$pod" $((at + ${FURTHER:-0})) && right "$pod" || { WHY="${WHY:-$pod stops at $(step "$pod")}" && return 1; }
    after="$(field pod "$pod" .status.podIP)"
    [ "$before" != "$after" ] || { WHY="expected another address than $before for the new pod" && return 1; }
    figures="$figures; GPU freed after $(field gckpt "$name-$generation" .status.timings.freedMilliseconds | grep . || echo "?") ms when evicted$FIGURES; address $before, then $after"
  done
  FIGURES="$figures"
  say "- $name: $(kubectl logs "$pod" -c main | grep -E '^(step|count) ' | tail -n 1)"
  kubectl delete pod "$pod" --wait >>"$OUT/kube.log" 2>&1
}
needs_gpu() { [ -z "$SIMULATED" ] || { WHY="needs a real GPU" && return 1; }; }

# A training with forked workers, or the simulated one's like: every loss is that of a pod that nobody froze.
s_training() {
  if [ -n "$SIMULATED" ]; then there_and_back training '"/data/programs/gpu-counter","--mib","32","--loader"'; else
    there_and_back training '"python3","-u","/data/programs/train.py","2"' 500
  fi
}
# torchrun and NCCL listen on the pod's own address, which is another one after the restore. No variable of NCCL is set.
s_torchrun() {
  needs_gpu && there_and_back torchrun '"python3","-m","torch.distributed.run","--standalone","--nproc_per_node=1","/data/programs/ddp.py"' 300
}
# The same under the runtime's seccomp profile, which has no io_uring: torchrun's store would use it.
s_torchrun_default() {
  local SECCOMP=RuntimeDefault
  needs_gpu && there_and_back torchrun-default '"python3","-m","torch.distributed.run","--standalone","--nproc_per_node=1","/data/programs/ddp.py"' 300
}
# Two processes that share nothing but the GPU, as two notebooks.
s_pair() { needs_gpu && there_and_back pair '"python3","-u","/data/programs/pair.py","2"'; }
s_lightning() { programs && there_and_back lightning '"python3","-u","/data/programs/lightning_train.py"' 300; }
# On one node with two GPUs. Two processes with one each; one process with both, which copies from GPU to GPU.
s_two() { local GPUS=2 && needs_gpu && there_and_back two '"python3","-u","/data/programs/two.py","2"'; }
s_parallel() { local GPUS=2 VARIABLES="$NO_MULTICAST" && needs_gpu && there_and_back parallel '"python3","-u","/data/programs/parallel.py"' 200; }
# Two ranks with NCCL's settings for a restore, which the webhook sets; and without: refused, and nothing happens to it.
# Multicast stays off in both: it can take a host's GPUs out of service.
RANKS='"python3","-m","torch.distributed.run","--standalone","--nproc_per_node=2","/data/programs/ddp.py"'
NO_MULTICAST='    - {name: NCCL_NVLS_ENABLE, value: "0"}
    - {name: TORCH_SYMM_MEM_DISABLE_MULTICAST, value: "1"}'
s_ranks() { local GPUS=2 PREPARE=ranks VARIABLES="$NO_MULTICAST" OPTIONS="sharing: None" && needs_gpu && there_and_back ranks "$RANKS" 300; }
s_ranks_default() { local GPUS=2 VARIABLES="$NO_MULTICAST" && needs_gpu && is_refused ranks-default "$RANKS" "NCCL peer-to-peer|CUDA memory between processes"; }
# One process that has NCCL and two GPUs: refused, because NCCL's settings allow multicast. No communicator is made, so none is used.
s_multicast() {
  local GPUS=2 VARIABLES='    - {name: TORCH_SYMM_MEM_DISABLE_MULTICAST, value: "1"}'
  needs_gpu && is_refused multicast '"python3","-u","/data/programs/both.py"' "NCCL NVLS"
}
# is_refused NAME PROGRAM REQUIREMENT: its eviction is refused for that (a pattern), and it continues.
is_refused() {
  PROGRAM="[$2]" begin_workload "$1" || return 1
  checkpoint "$1" "$1" "afterCheckpoint: Evict"
  if ended gckpt "$1" Ready 120; then WHY="expected a refusal, got Ready" && return 1; fi
  FIGURES="$(kubectl get gckpt "$1" -o 'jsonpath={.status.conditions[?(@.type=="Failed")].reason}: {.status.conditions[?(@.type=="Failed")].message}')"
  grep -qE "$3" <<<"$FIGURES" || { WHY="expected a refusal for $3, got $FIGURES" && return 1; }
  goes_on "$1" $(($(step "$1") + 3)) && right "$1" && no_restart "$1" || { WHY="${WHY:-$1 does not continue}" && return 1; }
  kubectl delete pod "$1" --wait >>"$OUT/kube.log" 2>&1
}
# Only the driver knows of managed memory, and says so once the workload is locked: rolled back.
s_managed() { needs_gpu && is_refused managed '"python3","-u","/data/programs/cupy_count.py","managed"' "managed memory"; }
# Another pod's long kernels on another GPU, while a pod is checkpointed in place, evicted and restored. neighbor_resumed: that
# other pod was checkpointed in place before (docs/compatibility.md, long kernels).
s_neighbor_resumed() { local RESUMED=yes && s_neighbor; }
s_neighbor() {
  local at
  needs_gpu && PROGRAM='["python3","-u","/data/programs/spin.py","8"]' begin_workload spin || return 1
  if [ -n "${RESUMED:-}" ]; then checkpoint spin spin && ready spin || return 1; fi
  start spin kubectl logs -f --timestamps spin
  there_and_back busy '"python3","-u","/data/programs/count.py","'"$GIB"'"' || return 1
  at="$(step spin)"
  goes_on spin $((at + 1)) 30 && right spin && no_restart spin || { WHY="${WHY:-the neighbor does not continue after step $at}" && return 1; }
  FIGURES="$FIGURES; the neighbor at step $(step spin)"
  kubectl delete pod spin --wait >>"$OUT/kube.log" 2>&1
}
# A program whose kernels run longer than the driver allows a resumed one to hold its GPU back, checkpointed in place twice.
s_long() {
  local n
  needs_gpu && PROGRAM='["python3","-u","/data/programs/spin.py","8"]' begin_workload long || return 1
  goes_on long 10 60 || { WHY="long makes no progress" && return 1; }
  for n in 1 2; do
    checkpoint "long-$n" long && ready "long-$n" || return 1
    FIGURES="${FIGURES:+$FIGURES, then }frozen $(field gckpt "long-$n" .status.timings.frozen)"
    goes_on long $(($(step long) + 2)) 60 && right long && no_restart long || { WHY="${WHY:-long does not continue after checkpoint $n}" && return 1; }
  done
  kubectl delete pod long --wait >>"$OUT/kube.log" 2>&1
}
# A job with one rank in each of two pods: refused, because the other rank would not survive it.
s_apart() {
  local n master='$(hostname -i)' VARIABLES="$NO_MULTICAST"
  needs_gpu || return 1
  for n in 0 1; do
    PROGRAM='["sh","-c","exec python3 -m torch.distributed.run --nnodes=2 --nproc_per_node=1 --node_rank='"$n"' --master_addr='"$master"' --master_port=29500 /data/programs/ddp.py"]' \
      workload "apart-$n" >>"$OUT/kube.log" 2>&1
    until_true 30 "[ -n \"\$(kubectl get pod apart-$n -o 'jsonpath={.status.podIP}')\" ]" || { WHY="pod apart-$n has no address" && return 1; }
    master="$(field pod apart-0 .status.podIP)"
  done
  goes_on apart-0 20 240 || { WHY="the job of apart-0 and apart-1 makes no progress" && return 1; }
  for n in 0 1; do
    checkpoint "apart-$n-1" "apart-$n"
    if ended gckpt "apart-$n-1" Ready 120; then WHY="expected a refusal, got Ready" && return 1; fi
    FIGURES="$(field gckpt "apart-$n-1" .status.message)"
    grep -q "distributed job" <<<"$FIGURES" || { WHY="expected a refusal for the distributed job, got $FIGURES" && return 1; }
    goes_on apart-0 $(($(step apart-0) + 20)) && no_restart apart-0 && no_restart apart-1 || { WHY="${WHY:-the job does not continue}" && return 1; }
  done
  kubectl delete pod apart-0 apart-1 --wait >>"$OUT/kube.log" 2>&1
}
# A front process on uvloop, an engine process, and a client that asks all the time. 8 layers of the shape of 8 billion parameters.
s_server() {
  local SECCOMP="${SERVER_SECCOMP:-}"
  needs_gpu && there_and_back server '"python3","-u","/data/programs/server.py","'"${SERVER_LAYERS:-8}"'"'
}
# vLLM from VLLM_DIR: its wheel and what it needs beside PyTorch and transformers (e2e/gpu/vllm-pack).
s_vllm() {
  needs_gpu || return 1
  [ -d "${VLLM_DIR:-}/vllm" ] || { WHY="VLLM_DIR: expected a folder with vllm, got ${VLLM_DIR:-none}" && return 1; }
  cp -al "$VLLM_DIR" "$WORK/programs/vllm" 2>/dev/null || cp -a "$VLLM_DIR" "$WORK/programs/vllm"
  # Its imports and its warm-up took 175 s on a machine that had never read its files.
  BEGINS_WITHIN=420 there_and_back vllm '"python3","-u","/data/programs/vllm_server.py","/data/programs/vllm","'"${SERVER_LAYERS:-32}"'"'
}
# What programs-pack made, from PROGRAMS_DIR.
programs() {
  needs_gpu || return 1
  [ -d "${PROGRAMS_DIR:-}/modules" ] || { WHY="PROGRAMS_DIR: expected what e2e/gpu/programs-pack made, got ${PROGRAMS_DIR:-none}" && return 1; }
  [ -d "$WORK/programs/modules" ] || { cp -a "$PROGRAMS_DIR"/. "$WORK/programs/" && cp "$HERE/front.js" "$WORK/programs/"; }
}
s_notebook() { programs && there_and_back notebook '"python3","-u","/data/programs/notebook.py","/data/programs/modules","'"$GIB"'"'; }
s_ray() { programs && there_and_back ray '"python3","-u","/data/programs/ray_actor.py","/data/programs/modules","'"$GIB"'"'; }
COUNTING='"python3","-u","/data/programs/count.py"'
s_node() { programs && there_and_back node '"/data/programs/node","/data/programs/front.js",'"$COUNTING,\"$GIB\""; }
# A program of Go has listeners of MPTCP unless it is told not to, as the label does.
s_go() { local PREPARE='"true"' && programs && there_and_back go '"/data/programs/front",'"$COUNTING,\"$GIB\""; }
s_go_default() { programs && is_refused go-default '"/data/programs/front",'"$COUNTING,\"$GIB\"" "MPTCP socket"; }
# A CUDA graph, pinned memory, a second stream, events and a compiled kernel.
s_graph() { needs_gpu && there_and_back graph '"python3","-u","/data/programs/graph.py"'; }
# Compiled code of Triton in an emptyDir, which the restored program uses and adds to.
s_compiled() {
  local EMPTY_DIR=/cache FURTHER=25 VARIABLES='    - {name: TORCHINDUCTOR_CACHE_DIR, value: /cache/inductor}
    - {name: TRITON_CACHE_DIR, value: /cache/triton}'
  needs_gpu && there_and_back compiled '"python3","-u","/data/programs/compiled.py"'
}
# The same program without and with CACHE_GIB of files in an emptyDir: they are packed before the freeze.
s_cache() {
  local EMPTY_DIR=/cache BEGINS_WITHIN=420 size="${CACHE_GIB:-30}" without
  needs_gpu && there_and_back without-cache '"python3","-u","/data/programs/cache.py","1","/cache","0"' || return 1
  kubectl delete grst --all --wait >>"$OUT/kube.log" 2>&1
  without="$FIGURES"
  there_and_back cache '"python3","-u","/data/programs/cache.py","1","/cache","'"$size"'"' && FIGURES="without: $without; with $size GiB: $FIGURES"
}
s_suspend() {
  local at
  begin_workload sleeper || return 1
  checkpoint nap sleeper "afterCheckpoint: Suspend" || return 1
  ended gckpt nap Suspended 120 || { WHY="not suspended: $(field gckpt nap .status.message)" && return 1; }

  FIGURES="freed in $(field gckpt nap .status.timings.freedMilliseconds) ms"
  [ -n "$SIMULATED" ] || FIGURES="$FIGURES, device memory in use $(nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits | paste -sd,) MiB"
  at="$(step sleeper)"
  kubectl patch gckpt nap --type=merge -p '{"spec":{"desiredState":"Running"}}' >>"$OUT/kube.log" 2>&1
  goes_on sleeper $((at + 3)) && right sleeper && no_restart sleeper || { WHY="${WHY:-sleeper does not go on}" && return 1; }
  FIGURES="$FIGURES, resumed in $(field gckpt nap .status.timings.resumeMilliseconds) ms"
  kubectl delete gckpt nap --wait >>"$OUT/kube.log" 2>&1
  kubectl delete pod sleeper --wait >>"$OUT/kube.log" 2>&1
}
# How long the program stands still and is absent by the size of its device memory. SIZES in GiB, ROUNDS of each.
s_sizes() {
  local size round name
  for size in ${SIZES:-1 4 16}; do
    begin_workload "size-$size" "" "$size" || return 1
    for ((round = 1; round <= ${ROUNDS:-3}; round++)); do
      name="size-$size-$round"
      checkpoint "$name" "size-$size" && ready "$name" || return 1
      goes_on "size-$size" $(($(step "size-$size") + 2)) 120 && right "size-$size" && no_restart "size-$size" || { WHY="${WHY:-size-$size does not continue}" && return 1; }
      say "- $size GiB, in place: frozen $(field gckpt "$name" .status.timings.frozen); $(field gckpt "$name" .status.timings)"
      kubectl delete gckpt "$name" --wait >>"$OUT/kube.log" 2>&1
    done
    checkpoint "$name" "size-$size" "afterCheckpoint: Suspend" && ended gckpt "$name" Suspended 240 || { WHY="${WHY:-not suspended: $(field gckpt "$name" .status.message)}" && return 1; }
    say "- $size GiB, suspended: $(field gckpt "$name" .status.timings); device memory in use: $(used) MiB"
    round="$(step "size-$size")"
    kubectl patch gckpt "$name" --type=merge -p '{"spec":{"desiredState":"Running"}}' >>"$OUT/kube.log" 2>&1
    goes_on "size-$size" $((round + 2)) 120 && right "size-$size" && no_restart "size-$size" || { WHY="${WHY:-size-$size does not continue after its suspension}" && return 1; }
    say "- $size GiB, resumed: $(field gckpt "$name" .status.timings)"
    kubectl delete gckpt "$name" --wait >>"$OUT/kube.log" 2>&1
    FIGURES=""
    round="$(step "size-$size")"
    checkpoint "$name-away" "size-$size" "afterCheckpoint: Evict" && ready "$name-away" || return 1
    kubectl wait --for=delete "pod/size-$size" --timeout=60s >>"$OUT/kube.log" 2>&1 || { WHY="size-$size was not evicted" && return 1; }
    say "- $size GiB, evicted: $(field gckpt "$name-away" .status.timings)"
    restore "$name-back" "$name-away" && came_back "$name-back" "$round" || return 1
    say "- $size GiB, restored: $(field grst "$name-back" .status.timings)"
    kubectl delete pod "$(field grst "$name-back" .status.pod.name)" --wait >>"$OUT/kube.log" 2>&1
    kubectl delete gckpt "$name-away" --wait >>"$OUT/kube.log" 2>&1
  done
}
# The two paths in turn (PATHS), ROUNDS times at --gib: in place, suspended and resumed, evicted and restored. Medians in the report.
s_compare() {
  local round path name at all="$DIRECT"
  [ -z "$all" ] || { WHY="expected no --direct: both paths are compared" && return 1; }
  for ((round = 1; round <= ${ROUNDS:-5}; round++)); do
    for path in ${PATHS:-direct driver}; do
      name="compare-$path-$round" DIRECT=""
      [ "$path" = driver ] || DIRECT=yes
      begin_workload "$name" "" "$GIB" || return 1
      checkpoint "$name-place" "$name" && ready "$name-place" || return 1
      goes_on "$name" $(($(step "$name") + 2)) 120 && right "$name" && no_restart "$name" || { WHY="${WHY:-$name does not continue}" && return 1; }
      checkpoint "$name-nap" "$name" "afterCheckpoint: Suspend" && ended gckpt "$name-nap" Suspended 240 || { WHY="${WHY:-$name is not suspended: $(field gckpt "$name-nap" .status.message)}" && return 1; }
      at="$(step "$name")"
      kubectl patch gckpt "$name-nap" --type=merge -p '{"spec":{"desiredState":"Running"}}' >>"$OUT/kube.log" 2>&1
      goes_on "$name" $((at + 2)) 120 && right "$name" && no_restart "$name" || { WHY="${WHY:-$name does not continue after its suspension}" && return 1; }
      at="$(step "$name")" FIGURES=""
      checkpoint "$name-away" "$name" "afterCheckpoint: Evict" && ready "$name-away" || return 1
      kubectl wait --for=delete "pod/$name" --timeout=60s >>"$OUT/kube.log" 2>&1 || { WHY="$name was not evicted" && return 1; }
      restore "$name-back" "$name-away" && came_back "$name-back" "$at" || return 1
      kubectl get gckpt,grst -o json | python3 "$HERE/figures.py" "$path" "$name" >>"$OUT/compare.txt" || return 1
      kubectl delete pod "$(field grst "$name-back" .status.pod.name)" --wait >>"$OUT/kube.log" 2>&1
      kubectl delete gckpt "$name-place" "$name-nap" "$name-away" --wait >>"$OUT/kube.log" 2>&1
    done
  done
  DIRECT=""
  say "- compare, $GIB GiB, milliseconds:"
  python3 "$HERE/figures.py" --medians <"$OUT/compare.txt" | tee -a "$OUT/report.md"
  FIGURES="medians of ${ROUNDS:-5} rounds in the report"
}
s_limit() {
  local limit=6Gi
  [ -z "$SIMULATED" ] || limit=64Mi
  begin_workload small "$limit" || return 1
  checkpoint tight small && ready tight && figures tight || return 1
  until_true 60 "[ \"\$(kubectl get pod small -o 'jsonpath={.spec.containers[0].resources.limits.memory}')\" = $limit ]" || { WHY="the limit is $(field pod small '.spec.containers[0].resources.limits.memory'), wanted $limit" && return 1; }
  goes_on small $(($(step small) + 3)) && right small && no_restart small || { WHY="${WHY:-small does not go on}" && return 1; }
  FIGURES="$FIGURES, limit $limit again"
  kubectl delete pod small --wait >>"$OUT/kube.log" 2>&1
}
s_elsewhere() {
  local at from to
  from="$(field pod trainer .spec.nodeName)" && to=node1 && [ "$from" != node1 ] || to=node2
  checkpoint away trainer "afterCheckpoint: Evict, storageRef: {name: shared}" && ready away && figures away || return 1
  restore away-back away "target: {nodeName: $to}" && came_back away-back 5
}
# migrate NAME POD [MORE]: applied.
migrate() {
  kubectl apply -f - >>"$OUT/kube.log" 2>&1 <<Y || { WHY="GpuMigration $1 was not accepted" && return 1; }
apiVersion: stasis.dev/v1beta1
kind: GpuMigration
metadata: {name: $1}
spec: {podRef: {name: $2}${3:+, $3}}
Y
}
# moves NAME POD: to the end, with the numbers right.
moves() {
  local pod at first
  at="$(step "$2")"
  migrate "$1" "$2" || return 1
  ended gmig "$1" Succeeded 240 || { WHY="GpuMigration $1: $(field gmig "$1" .status.phase) $(field gmig "$1" .status.message)" && return 1; }
  pod="$(field gmig "$1" .status.target.name)"
  goes_on "$pod" "$at" 60 && right "$pod" && no_restart "$pod" || { WHY="${WHY:-$pod does not go on}" && return 1; }
  first="$(kubectl logs "$pod" | sed -nE 's/^(step|count) ([0-9]+).*/\2/p' | head -n 1)"
  [ "$first" -gt "$at" ] || { WHY="$pod began anew: its first step is $first, wanted more than $at" && return 1; }
  ! kubectl get pod "$2" >/dev/null 2>&1 || { WHY="$2 is still there" && return 1; }
  FIGURES="stood still for $(field gmig "$1" .status.downtime), $(field gmig "$1" .status.size), $(field gmig "$1" .status.source.node) to $(field gmig "$1" .status.target.node)"
}
# One workload moves ROUNDS times between the nodes.
s_downtime() {
  local round pod=downtime times=()
  begin_workload "$pod" "" "$GIB" || return 1
  for ((round = 1; round <= ${ROUNDS:-5}; round++)); do
    moves "downtime-$round" "$pod" || return 1
    times+=("$(field gmig "downtime-$round" .status.downtimeMilliseconds)")
    pod="$(field gmig "downtime-$round" .status.target.name)"
  done
  kubectl delete pod "$pod" --wait >>"$OUT/kube.log" 2>&1
  # How much the target had loaded when the artifact was complete, and what the restore still loaded and copied.
  grep -hoE 'Device memory (loaded|reloaded|is loaded).*' "$OUT"/agent-node*.log | tee -a "$OUT/report.md"
  FIGURES="$GIB GiB, stood still for ms: ${times[*]}; median $(printf '%s\n' "${times[@]}" | sort -n | sed -n "$(((${#times[@]} + 1) / 2))p")"
}
s_migrate() { moves move "$(field grst away-back .status.pod.name)"; }
s_back() { moves move-back "$(field gmig move .status.target.name)"; }
# The target is lost after the dump: the source goes on.
s_rollback() {
  local pod target id at
  pod="$(field gmig move-back .status.target.name)" && id="$(field pod "$pod" '.status.containerStatuses[0].containerID')"
  migrate move-lost "$pod" "target: {nodeName: $(field gmig move-back .status.source.node)}" || return 1
  until_true 120 "kubectl get gmig move-lost -o 'jsonpath={.status.phase}' | grep -qE 'Transferring|Restoring'" || { WHY="no transfer: $(field gmig move-lost .status.phase) $(field gmig move-lost .status.message)" && return 1; }
  target="$(field gmig move-lost .status.target.name)" && at="$(step "$pod")"
  kubectl delete pod "$target" --wait=false >>"$OUT/kube.log" 2>&1
  until_true 180 "kubectl get gmig move-lost -o 'jsonpath={.status.phase}' | grep -qE 'RolledBack|Failed|Succeeded'"
  [ "$(field gmig move-lost .status.phase)" = RolledBack ] || { WHY="GpuMigration move-lost: $(field gmig move-lost .status.phase) $(field gmig move-lost .status.message)" && return 1; }
  goes_on "$pod" $((at + 3)) 60 && right "$pod" && no_restart "$pod" || { WHY="${WHY:-$pod does not go on}" && return 1; }
  [ "$(field pod "$pod" '.status.containerStatuses[0].containerID')" = "$id" ] || { WHY="$pod has another container" && return 1; }
  FIGURES="target deleted in the middle; $(field gmig move-lost .status.message)"
}

# Three take turns on one GPU that they share, whose free memory holds one of them. A fourth program, which is nobody's
# business, holds so much of the card: three suspended ones have to fit into the memory of the machine.
s_turns() {
  local size=$TURN_GIB ballast=$BALLAST_GIB unit=1024 uuid cdi all name base now most=0 freed resumed
  local -A at=()
  [ "$NODES" = 1 ] || { WHY="wanted --nodes 1" && return 1; }
  [ -z "$SIMULATED" ] || { size=60 && ballast=140 && unit=1; }
  uuid="$(head -n 1 "$KUBE_NODE1_DIR/gpus" | cut -d' ' -f1)" && cdi="$(head -n 1 "$KUBE_NODE1_DIR/gpus" | cut -d' ' -f2)"
  # As a device plugin shares one GPU: three ids, one device.
  "$KUBE" gpus node1 "$uuid::0=$cdi" "$uuid::1=$cdi" "$uuid::2=$cdi" >>"$OUT/kube.log" 2>&1 || { WHY="the GPU could not be shared: see kube.log" && return 1; }
  if [ -n "$SIMULATED" ]; then
    start ballast env STASIS_SIM_GPU="$WORK/sim1" LD_LIBRARY_PATH="$APPS/sim" "$APPS/bin/gpu-counter" --mib "$ballast"
  else
    start ballast env CUDA_VISIBLE_DEVICES="$uuid" PATH="/opt/torch/.venv/bin:$PATH" \
      LD_LIBRARY_PATH="/usr/local/nvidia/lib64:/usr/local/cuda/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" python3 -u "$HERE/ballast.py" "$ballast"
  fi
  until_true 120 "grep -qE '^(held|step 2 )' '$OUT/ballast.log'" || { WHY="the fourth program holds nothing: see ballast.log" && return 1; }
  base="$(used)" && [ "$base" -gt 0 ] || { WHY="device memory in use: wanted a number, found $base" && return 1; }
  say "- turns: one GPU with $(used total) MiB, $base MiB of them held by a fourth program, three pods of $((size * unit)) MiB each"
  for name in one two three; do
    workload "$name" "" "$size" >>"$OUT/kube.log" 2>&1 && goes_on "$name" 3 240 || { WHY="pod $name does not count: $(kubectl logs "$name" 2>&1 | tail -n 1)" && return 1; }
    checkpoint "turn-$name" "$name" "afterCheckpoint: Suspend" && ended gckpt "turn-$name" Suspended 240 || { WHY="$name is not suspended: $(field gckpt "turn-$name" .status.message)" && return 1; }
    now="$(used)" && freed="${freed:+$freed, }$(field gckpt "turn-$name" .status.timings.freedMilliseconds)"
    [ $((now - base)) -le 64 ] || { WHY="device memory with $name suspended: wanted $base MiB in use, found $now" && return 1; }
    at[$name]="$(step "$name")"
  done
  FIGURES="freed in $freed ms each, device memory in use by the three suspended: $((now - base)) MiB"
  for name in one two three; do
    kubectl patch gckpt "turn-$name" --type=merge -p '{"spec":{"options":{"timeSlice":"'"$TURN_SLICE"'"}}}' >>"$OUT/kube.log" 2>&1 || { WHY="options.timeSlice was not accepted" && return 1; }
  done
  all="$SECONDS"
  # Each is suspended twice more: two turns.
  until [ "$(kubectl get gckpt -o 'jsonpath={range .items[?(@.spec.options.timeSlice)]}{.status.suspensions}{"\n"}{end}' | awk '$1 >= 3' | wc -l)" = 3 ]; do
    now="$(used)" && [ "$now" -le "$most" ] || most="$now"
    [ $((SECONDS - all)) -lt 240 ] || { WHY="no two turns for each within 240 s: $(kubectl get gckpt --no-headers | tr -s ' ' | tr '\n' ';')" && return 1; }
    read -r -t 0.5 <> <(:) || true
  done
  all=$((SECONDS - all))
  [ $((most - base)) -lt $((size * unit * 2)) ] || { WHY="two at once: $((most - base)) MiB in use" && return 1; }
  for name in one two three; do
    [ "$(step "$name")" -gt "${at[$name]}" ] || { WHY="$name made no progress: step $(step "$name") after ${at[$name]}" && return 1; }
    right "$name" && no_restart "$name" || return 1
    resumed="${resumed:+$resumed, }$(field gckpt "turn-$name" .status.timings.resumeMilliseconds)"
    FIGURES="$FIGURES; $name from step ${at[$name]} to $(step "$name")"
  done
  FIGURES="$FIGURES; resumed in $resumed ms; two turns of $TURN_SLICE for each in $all s; at most $((most - base)) MiB of the three in use at once"
  kubectl get gckpt -o 'custom-columns=NAME:.metadata.name,PHASE:.status.phase,PLACE:.status.turn.place,HOLDER:.status.turn.holder,UNTIL:.status.turn.until,MESSAGE:.status.message' >"$OUT/turns.txt" 2>&1
  kubectl delete pod one two three --wait >>"$OUT/kube.log" 2>&1
  kubectl delete gckpt turn-one turn-two turn-three --wait >>"$OUT/kube.log" 2>&1
  "$KUBE" gpus node1 "$uuid=$cdi" >>"$OUT/kube.log" 2>&1
}

# The only GPU is taken: whoever is urgent gets it, and whoever yielded goes on where it was.
s_preempt() {
  local uid at first begun ran yielded
  [ "$NODES" = 1 ] || { WHY="wanted --nodes 1" && return 1; }
  kubectl apply -f - >>"$OUT/kube.log" 2>&1 <<Y || { WHY="the policy was not accepted: see kube.log" && return 1; }
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: run-batch}, value: 10, preemptionPolicy: Never}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: run-urgent}, value: 1000, preemptionPolicy: Never}
---
apiVersion: stasis.dev/v1beta1
kind: GpuPreemptionPolicy
metadata: {name: batch-yields}
spec: {victims: {maxPriority: 100}, preemptors: {minPriority: 1000}, minRunTime: 1s, options: {budgetPerHour: 20}}
Y
  begin_workload batch "" "" run-batch || return 1
  uid="$(field pod batch .metadata.uid)" && at="$(step batch)"
  begun="$(date +%s%3N)"
  workload urgent "" "" run-urgent >>"$OUT/kube.log" 2>&1
  until_true 240 "[ \"\$(kubectl get pod urgent -o 'jsonpath={.status.phase}')\" = Running ]" || { WHY="urgent does not run: $(kubectl get gpol batch-yields -o 'jsonpath={.status.conditions}') $(kubectl get gckpt --no-headers | tr -s ' ')" && return 1; }
  ran=$(($(date +%s%3N) - begun))
  goes_on urgent 3 180 || { WHY="urgent does not count" && return 1; }
  until_true 120 "kubectl get pod batch -o 'jsonpath={.metadata.uid} {.status.nominatedNodeName}' | grep -v '^$uid' | grep -q ' node1'" || { WHY="no place is kept for batch: $(kubectl get grst --no-headers | tr -s ' ')" && return 1; }
  kubectl delete pod urgent --wait >>"$OUT/kube.log" 2>&1
  yielded="$(date +%s%3N)"
  kubectl wait --for=condition=Ready pod/batch --timeout=240s >>"$OUT/kube.log" 2>&1 || { WHY="batch is not back: $(kubectl get grst --no-headers | tr -s ' ')" && return 1; }
  yielded=$(($(date +%s%3N) - yielded))
  goes_on batch $((at + 3)) 60 && right batch && no_restart batch || { WHY="${WHY:-batch does not go on}" && return 1; }
  first="$(kubectl logs batch | sed -nE 's/^(step|count) ([0-9]+).*/\2/p' | head -n 1)"
  [ "$first" -gt "$at" ] || { WHY="batch began anew: its first step is $first, wanted more than $at" && return 1; }
  FIGURES="urgent ran after $ran ms, batch was back $yielded ms after it had gone, at step $first (yielded after $at)"
  kubectl delete pod batch --wait >>"$OUT/kube.log" 2>&1
  kubectl delete gpol batch-yields >>"$OUT/kube.log" 2>&1
}

# A checkpoint each minute; then the program fails, and its pod comes back from the newest one.
s_schedule() {
  local uid first at program="python3 -u /data/programs/count.py $GIB"
  [ -z "$SIMULATED" ] || program="/data/programs/gpu-counter --mib 32"
  PROGRAM='["sh","-c","'"$program"' & echo $! >/tmp/program; wait $!"]' begin_workload periodic || return 1
  kubectl apply -f - >>"$OUT/kube.log" 2>&1 <<Y || { WHY="the schedule was not accepted: see kube.log" && return 1; }
apiVersion: stasis.dev/v1beta1
kind: GpuCheckpointSchedule
metadata: {name: each-minute}
spec:
  selector: {matchLabels: {app: periodic}}
  schedule: "* * * * *"
  checkpoint: {retention: {keepLast: 2}}
  restoreOnFailure: {maxRestores: 1, window: 1h}
  options: {jitter: 0s}
Y
  # Two runs; 60 s until the first one, and some seconds for each checkpoint.
  until_true 180 "[ \"\$(kubectl get gckpt -l stasis.dev/schedule=each-minute -o 'jsonpath={range .items[?(@.status.phase==\"Ready\")]}x{end}')\" = xx ]" || { WHY="no two checkpoints of the schedule: $(field gsched each-minute .status.conditions) $(kubectl get gckpt --no-headers | tr -s ' ')" && return 1; }
  kubectl patch gsched each-minute --type=merge -p '{"spec":{"suspend":true}}' >>"$OUT/kube.log" 2>&1
  at="$(step periodic)"
  goes_on periodic $((at + 2)) && right periodic && no_restart periodic || { WHY="${WHY:-periodic does not continue}" && return 1; }
  FIGURES="two checkpoints, frozen $(kubectl get gckpt -l stasis.dev/schedule=each-minute -o 'jsonpath={.items[*].status.timings.frozen}')"
  uid="$(field pod periodic .metadata.uid)"
  # shellcheck disable=SC2016 # the pod's shell
  kubectl exec periodic -- sh -c 'kill -9 $(cat /tmp/program)' >>"$OUT/kube.log" 2>&1
  until_true 180 "kubectl get pod periodic -o 'jsonpath={.metadata.uid} {.status.conditions[?(@.type==\"Ready\")].status}' 2>/dev/null | grep -v '^$uid' | grep -q ' True'" || { WHY="periodic does not come back: $(field gsched each-minute .status.conditions) $(kubectl get grst --no-headers | tr -s ' ')" && return 1; }
  goes_on periodic "$at" 60 && right periodic && no_restart periodic || { WHY="${WHY:-periodic does not go on}" && return 1; }
  first="$(kubectl logs periodic -c main | sed -nE 's/^(step|count) ([0-9]+).*/\2/p' | head -n 1)"
  [ "$first" -gt 5 ] || { WHY="periodic began anew: its first step is $first" && return 1; }
  FIGURES="$FIGURES; failed after step $at, came back at step $first, $(kubectl get grst -o 'jsonpath={.items[-1].status.timings.took}') for the restore"
  kubectl delete gsched each-minute >>"$OUT/kube.log" 2>&1
  kubectl delete pod periodic --wait >>"$OUT/kube.log" 2>&1
}

# clear_away NAME: of a failed scenario, so that the next one has the GPUs. What is deleted is in the report.
clear_away() {
  local pod
  kubectl get gckpt,grst,gmig,pods -o yaml >"$OUT/$1.yaml" 2>&1
  for pod in $(kubectl get pods -o name 2>/dev/null); do echo "== $pod" && kubectl logs "$pod" -c main --tail=200; kubectl logs "$pod" -c main --previous --tail=100; done >"$OUT/failed-$1.txt" 2>&1
  timeout 60 kubectl delete gckpt,grst,gmig --all >>"$OUT/kube.log" 2>&1
  timeout 60 kubectl delete pods --all >>"$OUT/kube.log" 2>&1
}

play() {
  local name begun
  for name in "$@"; do
    begun="$SECONDS" WHY="" FIGURES=""
    if "s_$name"; then
      ROWS+=("| $name | ok | $((SECONDS - begun)) s | $FIGURES |")
    else
      ROWS+=("| $name | FAILED | $((SECONDS - begun)) s | ${WHY:-see the logs} |") && FAILED=1
      clear_away "$name"
    fi
    printf '%s\n' "${ROWS[-1]}"
  done
  say ""
  say '```'
  kubectl get gckpt,grst,gmig 2>/dev/null | tee -a "$OUT/report.md"
  say '```'
  say ""
  say "| scenario | result | took | figures |"
  say "|---|---|---|---|"
  for name in "${ROWS[@]}"; do say "$name"; done
  exit "$FAILED"
}
