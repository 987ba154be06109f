# The product as users install it, for e2e/gpu/kube-run --images. Sourced by it.
# shellcheck shell=bash

# The libraries of the driver that an agent needs, in a folder of their own: beside them the machine has its own C library,
# which is not that of the image. NVIDIA's runtime class does the same where there is one.
driver_libraries() {
  local each
  mkdir -p "$WORK/driver"
  if [ -n "$SIMULATED" ]; then cp "$APPS/sim"/*.so.1 "$WORK/driver/" && return; fi
  mkdir -p "$WORK/sim1"
  # From the specification that gives pods their GPUs.
  python3 - "$KUBE_NODE1_CDI/nvidia.json" <<'P' >"$WORK/driver.txt" || return 1
import json, os, re, sys
spec = json.load(open(sys.argv[1]))
mounts = spec.get("containerEdits", {}).get("mounts", []) + [m for d in spec["devices"] for m in d.get("containerEdits", {}).get("mounts", [])]
wanted = re.compile(r"lib(cuda|cudadebugger|nvidia-ml|nvidia-ptxjitcompiler)\.so\.[0-9.]+$")
print(*sorted({m["hostPath"] for m in mounts if wanted.match(os.path.basename(m["hostPath"]))}), sep="\n")
P
  while read -r each; do
    cp "$each" "$WORK/driver/" && ln -sf "$(basename "$each")" "$WORK/driver/$(basename "$each" | sed -E 's/\.so\..*/.so.1/')" || return 1
  done <"$WORK/driver.txt"
  [ -e "$WORK/driver/libcuda.so.1" ] || { say "no libcuda among the libraries of the CDI specification: $(paste -sd' ' "$WORK/driver.txt")" && return 1; }
}

# The API server reaches no pod by the address of a Service where the machine has no iptables: connections to this machine
# are passed on to the operator's pod instead, as by a load balancer.
pass_on() {
  cat >"$WORK/pass-on.py" <<P
import asyncio, subprocess
async def copy(a, b):
    try:
        while data := await a.read(65536):
            b.write(data)
            await b.drain()
    finally:
        b.close()
async def serve(reader, writer):
    pod = subprocess.run(["kubectl", "-n", "$NS", "get", "pods", "-l", "app.kubernetes.io/component=operator", "-o", "jsonpath={.items[0].status.podIP}"],
                         stdout=subprocess.PIPE, text=True, timeout=10).stdout
    try:
        to_reader, to_writer = await asyncio.open_connection(pod, 9443)
    except OSError:
        writer.close()
        return
    await asyncio.gather(copy(reader, to_writer), copy(to_reader, writer), return_exceptions=True)
async def main():
    async with await asyncio.start_server(serve, "10.77.0.1", 9443) as server:
        await server.serve_forever()
asyncio.run(main())
P
  start webhook python3 -u "$WORK/pass-on.py"
}

install_images() {
  local name arena=1024
  [ -z "$SIMULATED" ] || arena=32
  mkdir -p "$WORK/images" && tar -xJf "$PACK/images.tar.xz" -C "$WORK/images" || { say "no images: expected $PACK/images.tar.xz of e2e/gpu/kube-pack --images" && return 1; }
  for name in operator agent holder; do "$KUBE" load "$WORK/images/$name.tar" >>"$OUT/kube.log" 2>&1 || { say "the image $name could not be loaded: see kube.log" && return 1; }; done
  rm -f "$WORK"/images/*.tar
  driver_libraries || return 1
  mkdir -p "$STORES/node1" "$WORK/criu"
  sed -e "s|/RUN-STORE|$STORES/node1|g; s|/RUN-NODE|$KUBE_NODE1_DIR|g; s|/RUN-FOLDER|$WORK|g; s|/RUN-GPUS|$WORK/sim1|g; s|RUN-ARENA|\"$arena\"|g" "$WORK/images/chart.yaml" >"$WORK/chart.yaml"
  cp "$WORK/chart.yaml" "$OUT/chart.yaml"
  pass_on
  apply_chart "$WORK/chart.yaml"
  kubectl -n "$NS" rollout status deployment/stasis-operator --timeout=120s >>"$OUT/kube.log" 2>&1 && kubectl -n "$NS" rollout status daemonset/stasis-agent --timeout=120s >>"$OUT/kube.log" 2>&1 || {
    say "operator or agent are not ready: see pods.txt" && kubectl -n "$NS" get pods -o yaml >"$OUT/system.yaml" 2>&1
    return 1
  }
  kubectl -n "$NS" get pods -o wide | tee -a "$OUT/report.md"
  start operator kubectl -n "$NS" logs -f deployment/stasis-operator
  start agent-node1 kubectl -n "$NS" logs -f daemonset/stasis-agent
  say "- images: $(kubectl -n "$NS" get pods -o 'jsonpath={range .items[*]}{.status.containerStatuses[0].image} {.status.containerStatuses[0].imageID} {end}')"
}
