# The scenario "remote" of e2e/gpu/kube-run: a store in a bucket on this machine. Sourced by it.
# shellcheck shell=bash disable=SC2034 # WHY and FIGURES are read by play, PROGRAM by workload

now() { date +%s%3N; }

# The server listens where no other scenario does.
s3_store() {
  local folder="$STORES/s3" port=18333
  xz -dc "$PACK/rclone.xz" >"$WORK/rclone" || { WHY="no S3 server: expected $PACK/rclone.xz of e2e/gpu/kube-pack" && return 1; }
  chmod 755 "$WORK/rclone"
  mkdir -p "$folder/bucket" "$STORES/copies"
  say "- remote: $("$WORK/rclone" version | head -n 1) serves S3 from $folder, on $(df -h --output=fstype,avail "$folder" | tail -n 1 | xargs) free; the copies of the node are there too"
  start s3 "$WORK/rclone" serve s3 --addr "127.0.0.1:$port" --auth-key access,secret --config /dev/null "$folder"
  # 30 s: one second is usual.
  until_true 30 "(exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null" || { WHY="the S3 server does not answer: see s3.log" && return 1; }
  kubectl apply -f - >>"$OUT/kube.log" 2>&1 <<Y || { WHY="the store was not accepted: see kube.log" && return 1; }
apiVersion: v1
kind: Secret
metadata: {name: bucket, namespace: $NS}
stringData: {AWS_ACCESS_KEY_ID: access, AWS_SECRET_ACCESS_KEY: secret}
---
apiVersion: v1
kind: Secret
metadata: {name: bucket-keys, namespace: $NS}
stringData: {key-1: "$(head -c 32 /dev/urandom | base64)"}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: bucket, namespace: $NS}
rules: [{apiGroups: [""], resources: [secrets], resourceNames: [bucket, bucket-keys], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: bucket, namespace: $NS}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: bucket}
subjects: [{kind: ServiceAccount, name: stasis-agent, namespace: $NS}]
---
apiVersion: stasis.dev/v1beta1
kind: GpuCheckpointStore
metadata: {name: bucket}
spec:
  location: {s3: {endpoint: "http://127.0.0.1:$port", bucket: bucket, prefix: cluster-1, pathStyle: true, credentialsSecretName: bucket}}
  encryption: {secretName: bucket-keys, key: key-1}
  options: {localPath: $STORES/copies, minFree: 1Gi}
Y
  until_true 60 "kubectl get gpunode node1 -o 'jsonpath={.status.stores[?(@.name==\"bucket\")].writable}' | grep -q true" ||
    { WHY="node1 does not reach the bucket: $(field gpunode node1 '.status.stores[?(@.name=="bucket")].message')" && return 1; }
}

# memory_of PID FILE: appends time, resident and anonymous memory and the peak of the resident memory in MiB, five times a second.
memory_of() {
  while kill -0 "$1" 2>/dev/null; do
    awk -v at="$EPOCHREALTIME" '/^(VmRSS|RssAnon|VmHWM):/ { mib[$1] = int($2 / 1024) } END { print at, mib["VmRSS:"], mib["RssAnon:"], mib["VmHWM:"] }' "/proc/$1/status" 2>/dev/null
    read -r -t 0.2 <> <(:) || true
  done >>"$2"
}

# stored_remotely NAME POD: checkpointed and evicted. Reports when the GPU was free, when the artifact was stored, and the
# memory that the agent's process took meanwhile.
stored_remotely() {
  local begun local_at stored_at sampler agent="${PIDS[agent-node1]}" samples="$OUT/memory-$1.txt" before
  before="$(awk '/^VmRSS:/ { print int($2 / 1024) }' "/proc/$agent/status")"
  # The peak counts from here on.
  echo 5 >"/proc/$agent/clear_refs" 2>/dev/null || true
  memory_of "$agent" "$samples" &
  sampler=$!
  begun="$(now)"
  checkpoint "$1" "$2" "afterCheckpoint: Evict, storageRef: {name: bucket}" || { kill "$sampler" && return 1; }
  ended gckpt "$1" StoredLocally 300 && local_at="$(now)" && ended gckpt "$1" Stored 600 && stored_at="$(now)"
  # 60 s: the pod is removed next.
  [ -n "${stored_at:-}" ] && ended gckpt "$1" Ready 60
  local code=$?
  kill "$sampler"
  wait "$sampler" 2>/dev/null
  kill -0 "$agent" 2>/dev/null || { WHY="the agent ended during the upload: see agent-node1.log" && return 1; }
  [ "$code" = 0 ] || { WHY="GpuCheckpoint $1: $(field gckpt "$1" .status.phase) $(field gckpt "$1" .status.message)" && return 1; }
  took_its_path "$1" || return 1
  kubectl wait --for=delete "pod/$2" --timeout=60s >>"$OUT/kube.log" 2>&1 || { WHY="$2 was not evicted" && return 1; }
  kubectl get gckpt "$1" -o json | python3 -c '
import json, sys
name, local, upload, before, samples = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5]
status = json.load(sys.stdin)["status"]
artifact, timings = status["artifact"], status["timings"]
rows = [[float(x) for x in line.split()] for line in open(samples) if len(line.split()) == 4]
mib = 1 << 20
print("- %s: GPU free after %d ms, on the disk of the node after %d ms, in the bucket and verified %d ms later (%.0f MiB/s); "
      "%.0f MiB, %.0f MiB in the store, %.0f MiB of them new; agent %s MiB resident before, at most %.0f MiB resident (VmHWM) and "
      "%.0f MiB anonymous (%d samples)" % (name, timings.get("freedMilliseconds", -1), local, upload, artifact["bytes"] / mib / max(upload, 1) * 1000,
      artifact["bytes"] / mib, artifact["storedBytes"] / mib, artifact["newBytes"] / mib, before, max(r[3] for r in rows), max(r[2] for r in rows), len(rows)))
print("- %s: %s" % (name, json.dumps(timings, sort_keys=True)))
' "$1" "$((local_at - begun))" "$((stored_at - local_at))" "$before" "$samples" | tee -a "$OUT/report.md"
  [ "${PIPESTATUS[1]}" = 0 ] || { WHY="no figures of GpuCheckpoint $1" && return 1; }
}

summary() { echo "freed in $(field gckpt "$1" .status.timings.freedMilliseconds) ms, $(($(field gckpt "$1" .status.artifact.newBytes) >> 20)) of $(($(field gckpt "$1" .status.artifact.bytes) >> 20)) MiB new in the store"; }

# downloaded NAME: how the download of a GpuRestore ended, and how long it took, as the agent logs it.
downloaded() {
  python3 - "$OUT/agent-node1.log" "rst-$(field grst "$1" .metadata.uid)-download-1" <<'P'
import datetime, json, sys
records = (json.loads(line) for line in open(sys.argv[1]) if line.startswith("{"))
found = [(datetime.datetime.fromisoformat(each["timestamp"][:26]), each["message"]) for each in records if each.get("message", "").startswith(sys.argv[2])]
print(found[-1][1].split(": ")[-1], "after %d ms" % ((found[-1][0] - found[0][0]).total_seconds() * 1000))
P
}

# restored_remotely NAME CHECKPOINT STEP DOWNLOAD: the message of the download has to contain that.
restored_remotely() {
  local begun took download
  begun="$(now)"
  restore "$1" "$2" || return 1
  took=$(($(now) - begun))
  download="$(downloaded "$1")"
  [[ $download == *"$4"* ]] || { WHY="GpuRestore $1: expected a download that ends with \"$4\", got \"$download\"" && return 1; }
  say "- $1: Succeeded after $took ms, its download: $download; $(field grst "$1" .status.timings)"
  came_back "$1" "$3"
}

# Two checkpoints of a program into the encrypted bucket. The first one is restored without the copy on the node, so that
# its download starts while the target pod does; the second one with it.
s_remote() {
  local at pod PROGRAM='["python3","-u","/data/programs/noise.py","'"$GIB"'"]'
  [ "$NODES" = 1 ] || { WHY="expected --nodes 1, got $NODES" && return 1; }
  # More than the eight parts that an upload holds in memory, and less than the simulated GPU has.
  [ -z "$SIMULATED" ] || PROGRAM='["/data/programs/gpu-counter","--mib","'"${REMOTE_MIB:-192}"'"]'
  s3_store && begin_workload noise || return 1
  at="$(step noise)"
  stored_remotely remote-1 noise || return 1
  ls -d "$STORES"/copies/*/ >>"$OUT/kube.log" 2>&1 || { WHY="expected a copy in $STORES/copies, got none" && return 1; }
  rm -rf "$STORES/copies"/*
  FIGURES=""
  restored_remotely remote-1-back remote-1 "$at" "are here" || return 1
  # The disk need not hold two copies.
  rm -rf "$STORES/copies"/*
  pod="$(field grst remote-1-back .status.pod.name)" && at="$(step "$pod")"
  stored_remotely remote-2 "$pod" || return 1
  restored_remotely remote-2-back remote-2 "$at" "on this node already" || return 1
  FIGURES="first $(summary remote-1), second $(summary remote-2)$FIGURES"
  kubectl delete pod "$(field grst remote-2-back .status.pod.name)" --wait >>"$OUT/kube.log" 2>&1
  kubectl delete gckpt remote-1 remote-2 --wait >>"$OUT/kube.log" 2>&1
  [ "$(kubectl get gckpt remote-1 remote-2 --ignore-not-found -o name | wc -l)" = 0 ] || { WHY="the checkpoints are still there" && return 1; }
}
