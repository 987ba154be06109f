package dev.stasis.kubectl;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.stasis.kubectl.cluster.Resource;
import java.time.Instant;

/** Objects as a test writes them down. */
public final class Objects {

  /** The moment of every test. */
  public static final Instant NOW = Instant.parse("2026-11-21T10:10:00Z");

  private Objects() {}

  /** Of YAML. */
  public static Resource of(String yaml) {
    return new Resource(json(yaml));
  }

  /** The same as a tree. */
  public static JsonNode json(String yaml) {
    try {
      return new YAMLMapper().readTree(yaml);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(yaml, e);
    }
  }

  /** A GpuCheckpoint that is Ready. */
  public static Resource checkpoint() {
    return of(
        """
        kind: GpuCheckpoint
        metadata: {name: train-1, namespace: ml, uid: u1, generation: 1, creationTimestamp: "2026-11-21T10:00:00Z"}
        spec: {podRef: {name: trainer}, afterCheckpoint: Resume}
        status:
          phase: Ready
          pod: {name: trainer, uid: p1, container: main, node: gpu-17}
          phases: [{phase: Freezing, time: "2026-11-21T10:00:02Z"}, {phase: Ready, time: "2026-11-21T10:00:40Z"}]
          artifact: {store: local, size: 48.9Gi}
          timings: {frozen: 14.1s}
          reason: Verified
          conditions: [{type: Ready, status: "True", reason: ArtifactVerified, message: m}]
        """);
  }

  /** A GpuNode without a fault. */
  public static Resource node() {
    return of(
        """
        kind: GpuNode
        metadata:
          name: gpu-17
          managedFields:
          - {subresource: status, time: "2026-11-21T10:09:30Z", fieldsV1: {"f:status": {"f:agent": {"f:heartbeatTime": {}}}}}
        status:
          agent: {version: 0.1.0, pod: stasis-agent-x, heartbeatTime: "2026-11-21T10:09:30Z"}
          host: {driver: 580.159.04, criu: 4.2.1, kernel: 6.18.5, fingerprint: "cpu.architecture=amd64\\nkernel=6.18"}
          gpuModel: NVIDIA H200
          gpuCount: 2
          gpus:
          - {uuid: GPU-1, model: NVIDIA H200, memoryBytes: 150754820096, pciBusId: "0000:18:00.0", numaNode: 0}
          - {uuid: GPU-2, model: NVIDIA H200, memoryBytes: 150754820096, pciBusId: "0000:2a:00.0", numaNode: 0}
          links: [{first: GPU-1, second: GPU-2, link: NV18}]
          topologies: [{gpus: 2, hash: c5ed49f74163, fingerprint: "gpu.count=2\\ngpu.links=NV18"}]
          capabilities: [Checkpoint, Restore, Mover]
          missing: [{reason: NotBuilt, message: "direct data path: not built"}]
          selfTest: {passed: true}
          stores: [{name: local, writable: true, totalBytes: 1000000000000, freeBytes: 800000000000}]
          reason: Ready
          conditions: [{type: Ready, status: "True", reason: Ready, message: ""}]
        """);
  }
}
