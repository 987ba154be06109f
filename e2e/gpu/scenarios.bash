# One function a scenario. Each fails (set -e) when something is not as it should be; lines with RESULT go into the table.
# shellcheck shell=bash

# Ten minutes bound every call: the biggest scenario moves some tens of gigabytes.
node() { timeout 600 "$BIN/stasis-node" "$@"; }

say() { echo "RESULT $*"; }

# value FILE KEY.KEY: one value of a JSON file.
value() { python3 -c 'import json,sys; v=json.load(open(sys.argv[1]))
for k in sys.argv[2].split("."): v=v[int(k)] if isinstance(v,list) else v[k]
print(v)' "$1" "$2"; }

steps() { python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); print(" ".join("%s=%.2f" % (s["step"], s["milliseconds"]/1000) for s in d["steps"]))' "$1"; }

counter() { echo /data/programs/gpu-counter "$@"; }
torch() { echo /opt/torch/.venv/bin/python3 -u /data/programs/count.py "$@"; }

# freeze BOX NAME ARG...: a checkpoint that must be published; its JSON in $WORK/NAME.json.
freeze() {
  local box="$1" name="$2"
  shift 2
  local code=0
  node checkpoint "$(box_id "$box")" --store "$WORK/store" --name "$name" --json "$@" >"$WORK/$name.json" || code=$?
  cat "$WORK/$name.json"
  return $code
}

# bring NAME BOX ARG...: a restore that must be proven.
bring() {
  local name="$1" box="$2"
  shift 2
  local code=0
  node restore "$WORK/store/$name" --into "$(box_id "$box")" --json "$@" >"$WORK/$name-back.json" || code=$?
  cat "$WORK/$name-back.json"
  return $code
}

# there_and_back GPU_FROM GPU_TO COMMAND...: checkpoint, goes on, killed, restored in a fresh container, goes on.
there_and_back() {
  local from="$1" to="$2"
  shift 2
  box_start a "$from" workload "$@"
  box_steps a 3 180
  freeze a one --after resume
  say "checkpoint: frozen $(value "$WORK/one.json" frozenMilliseconds) ms, $(steps "$WORK/one.json")"
  box_steps a 3 60
  box_end a
  box_start b "$to" holder "$@"
  bring one b
  say "restore: $(steps "$WORK/one-back.json")"
  box_steps b 3 60
  box_runs b
}

scenario_counter() {
  # shellcheck disable=SC2046
  there_and_back 0 0 $(counter --mib "${COUNTER_MIB:-256}" --interval-ms 100)
}

scenario_pytorch() {
  # shellcheck disable=SC2046
  there_and_back 0 0 $(torch "$GIB")
}

# A training whose batches come from forked workers, frozen twice in place, restored, and frozen and restored again: every
# loss is that of a run without any of it.
scenario_training() {
  local program="/opt/torch/.venv/bin/python3 -u /data/programs/train.py 2" generation
  # shellcheck disable=SC2086
  box_start d 0 workload $program
  box_steps d 500 180
  box_log d >"$WORK/programs/record.txt"
  box_end d
  program="$program /data/programs/record.txt"
  # shellcheck disable=SC2086
  there_and_back 0 0 $program
  for generation in two three; do
    freeze b "$generation" --after resume
    box_steps b 3 60
  done
  box_end b
  # shellcheck disable=SC2086
  box_start c 0 holder $program
  bring three c
  box_steps c 10 60
  say "restored twice, $(grep -c ' ok' "$WORK/c/log") losses after it those of an uninterrupted run"
}

# A process that watches the GPU by NVML beside the one that computes.
scenario_watched() {
  there_and_back 0 0 /opt/torch/.venv/bin/python3 -u /data/programs/watched.py 1
  say "$(value "$WORK/one-back.json" proof)"
}

# Other frameworks, and what of CUDA a plain program does not use.
scenario_jax() {
  there_and_back 0 0 /opt/torch/.venv/bin/python3 -u /data/programs/jax_count.py "$(readlink -f /usr/local/cuda)"
}

scenario_cupy() {
  there_and_back 0 0 /opt/torch/.venv/bin/python3 -u /data/programs/cupy_count.py
}

scenario_graph() {
  BOX_ENV="TORCHINDUCTOR_CACHE_DIR=/tmp/inductor TRITON_CACHE_DIR=/tmp/triton" \
    there_and_back 0 0 /opt/torch/.venv/bin/python3 -u /data/programs/graph.py
}

# What was restored is checkpointed and restored again.
scenario_second() {
  # shellcheck disable=SC2046
  there_and_back 0 0 $(torch 1)
  freeze b two --after resume
  box_steps b 3 60
  box_end b
  # shellcheck disable=SC2046
  box_start c 0 holder $(torch 1)
  bring two c
  box_steps c 3 60
  say "second generation goes on"
}

# Managed memory: the driver says no late; the workload goes on.
scenario_managed() {
  # shellcheck disable=SC2046
  box_start a 0 workload $(counter --mib 16 --managed --interval-ms 100)
  box_steps a 3 60
  if freeze a one --after resume; then return 1; fi
  box_steps a 3 60
  grep -q 'memory that the driver cannot checkpoint' "$WORK/one.json"
  say "refused and rolled back: $(value "$WORK/one.json" message | cut -c1-120)"
}

# A limit without room for the device memory: refused before anything is frozen.
scenario_limit() {
  # shellcheck disable=SC2046
  BOX_MEMORY=$((512 << 20)) box_start a 0 workload $(counter --mib "${LIMIT_MIB:-1024}" --interval-ms 100)
  box_steps a 3 60
  if freeze a one --after resume; then return 1; fi
  box_steps a 3 60
  grep -q 'room for device memory' "$WORK/one.json"
  say "refused: $(python3 -c 'import json,sys; print(json.load(open(sys.argv[1])))' "$WORK/one.json" | cut -c1-200)"
}

# kill_worker SECONDS: ends the driver worker so long after the engine has begun to touch the workload.
kill_worker() {
  local i
  for i in $(seq 400); do
    compgen -G "$STASIS_STATE_DIR/work/*/work.json" >/dev/null && break
    sleep 0.02
  done
  sleep "$1"
  pkill -9 -f dev.stasis.agent.cuda.DriverWorkerMain && echo "worker killed $1 s into the work"
}

# The worker killed inside Checkpoint, and inside Restore: the workload goes on with right values.
scenario_killed() {
  local after
  # shellcheck disable=SC2046
  box_start a 0 workload $(counter --mib "${KILLED_MIB:-8192}" --interval-ms 100)
  box_steps a 3 120
  for after in ${KILL_AFTER:-0.5 1.2 2.0}; do
    (node checkpoint "$(box_id a)" --store "$WORK/store" --name "killed-$after" --json -v >"$WORK/killed.json" 2>"$WORK/killed.err") &
    kill_worker "$after"
    wait $! || true
    cat "$WORK/killed.json" "$WORK/killed.err"
    box_steps a 3 120
    say "killed in a checkpoint after $after s: $(grep -o 'checkpoint of process [^:]*: .*' "$WORK/killed.err" | cut -d: -f2 | head -1) -> $(python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); print(d.get("outcome"), d.get("step",""), d.get("reason",""))' "$WORK/killed.json")"
    rm -rf "$WORK"/store/*
  done
  for after in ${KILL_RESTORE_AFTER:-0.2 0.6}; do
    node checkpoint "$(box_id a)" --after suspend --json
    (node thaw "$(box_id a)" --json -v >"$WORK/killed.json" 2>"$WORK/killed.err") &
    # The thaw has to start its worker first; the driver's Restore is most of what follows.
    sleep 1
    kill_worker "$after" || true
    wait $! || true
    cat "$WORK/killed.json" "$WORK/killed.err"
    node frozen
    box_steps a 3 120
    say "killed in a restore after $after s: $(grep -o 'restore of process [^:]*: .*' "$WORK/killed.err" | cut -d: -f2 | head -1) -> goes on"
  done
}

# A Restore waits for device memory that somebody else holds, instead of trying and losing the workload.
scenario_waits() {
  local free mib hog
  # shellcheck disable=SC2046
  box_start a 0 workload $(counter --mib "${WAITS_MIB:-2048}" --interval-ms 100)
  box_steps a 3 60
  node checkpoint "$(box_id a)" --after suspend --json >"$WORK/s.json"
  cat "$WORK/s.json"
  free="$(node gpus --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["gpus"][0]["freeBytes"] >> 20)')"
  mib=$((free - ${WAITS_MIB:-2048} / 2))
  # shellcheck disable=SC2046
  box_start b 0 workload $(counter --mib "$mib" --interval-ms 1000)
  box_steps b 1 120
  (node thaw "$(box_id a)" --json >"$WORK/t.json" 2>&1) &
  sleep 5
  if ! kill -0 $! 2>/dev/null; then cat "$WORK/t.json" && return 1; fi
  box_end b
  wait $!
  cat "$WORK/t.json"
  box_steps a 3 60
  say "waited until the memory was free, then went on"
}

# Two processes, a GPU each, in one container; NCCL is not used between them.
scenario_two_gpus() {
  local program
  if [ -n "${STASIS_SIM_GPU:-}" ]; then
    program="/data/programs/gpu-counter --mib 32 --fork 1 --interval-ms 100"
    # shellcheck disable=SC2086
    there_and_back 0,1 0,1 $program
  else
    BOX_ENV="NCCL_P2P_DISABLE=1 NCCL_CUMEM_HOST_ENABLE=0" there_and_back 0,1 0,1 /opt/torch/.venv/bin/python3 -u /data/programs/two.py "$GIB"
  fi
}

# From GPU 0 to GPU 1 between containers that see one GPU each.
scenario_other_gpu() {
  # shellcheck disable=SC2046
  there_and_back 0 1 $(counter --mib "${COUNTER_MIB:-256}" --interval-ms 100)
  say "GPU 0 to GPU 1"
}

# NCCL over peer-to-peer memory would be lost, so it is refused; without peer-to-peer it is done.
scenario_nccl() {
  BOX_ENV="NCCL_NVLS_ENABLE=0 USE_LIBUV=0" box_start a 0,1 workload /opt/torch/.venv/bin/python3 -u /data/programs/nccl.py
  box_steps a 3 120
  if freeze a one --after resume; then return 1; fi
  box_steps a 3 60
  say "peer-to-peer refused: $(value "$WORK/one.json" unmet.0.property)"
  box_end a
  BOX_ENV="NCCL_NVLS_ENABLE=0 NCCL_P2P_DISABLE=1 NCCL_CUMEM_HOST_ENABLE=0 USE_LIBUV=0" box_start b 0,1 workload /opt/torch/.venv/bin/python3 -u /data/programs/nccl.py
  box_steps b 3 120
  freeze b two --after resume
  box_steps b 3 60
  say "without peer-to-peer done: frozen $(value "$WORK/two.json" frozenMilliseconds) ms"
}

# Which of NCCL's settings come back: a measurement, run by name only. A setting that does not loses its workload.
scenario_nccl_variants() {
  local variant
  for variant in "NCCL_P2P_DISABLE=1" "NCCL_P2P_DISABLE=1 NCCL_CUMEM_HOST_ENABLE=0" "NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1" \
    "NCCL_P2P_DISABLE=1 NCCL_CUMEM_ENABLE=0 NCCL_CUMEM_HOST_ENABLE=0"; do
    BOX_ENV="NCCL_NVLS_ENABLE=0 USE_LIBUV=0 $variant" box_start a 0,1 workload /opt/torch/.venv/bin/python3 -u /data/programs/nccl.py
    if box_steps a 3 120 && freeze a one --after resume --allow-peer-to-peer && box_steps a 3 60; then
      say "$variant: comes back"
    else
      say "$variant: lost, $(value "$WORK/one.json" message | cut -c1-80)"
    fi
    node thaw --all >/dev/null 2>&1 || true
    box_end a
    rm -rf "$WORK"/store/* "$WORK/one.json" "$WORK"/state/work/*
  done
}
