package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Hardware;
import dev.stasis.api.v1beta1.common.NameReference;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.PodReference;
import dev.stasis.api.v1beta1.common.ProcessProof;
import dev.stasis.api.v1beta1.common.Proof;
import dev.stasis.api.v1beta1.node.AgentIdentity;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.api.v1beta1.node.NodeGpu;
import dev.stasis.api.v1beta1.node.NodeHost;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.restore.GpuRestoreSpec;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;

/** A checkpoint of one H200, and what belongs to it. */
public final class Examples {

  private static final KubernetesSerialization JSON = new KubernetesSerialization();
  private static final String MODEL = "NVIDIA H200";
  private static final long MEMORY = 143771L << 20;

  private Examples() {}

  public static GpuCheckpoint checkpoint(String namespace, String name) {
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.getMetadata().setNamespace(namespace);
    checkpoint.getMetadata().setName(name);
    checkpoint.getMetadata().setUid("ckpt-uid");
    checkpoint.setSpec(new GpuCheckpointSpec());
    checkpoint.getSpec().setPodRef(PodReference.of("trainer"));
    checkpoint.setStatus(ready(namespace, name));
    return checkpoint;
  }

  private static GpuCheckpointStatus ready(String namespace, String name) {
    GpuCheckpointStatus status = new GpuCheckpointStatus();
    status.setPhase(CheckpointPhase.READY);
    status.setPod(new ObservedPod("trainer", "pod-uid", "main", "gpu-1"));
    status.setPodTemplate(template(pod(namespace, "trainer")));
    status.setArgv(List.of("python3", "train.py"));
    ArtifactStatus artifact = new ArtifactStatus();
    artifact.setStore("shared");
    artifact.setLocation(namespace + "/" + name + "-ckpt-uid");
    artifact.setSha256("ab".repeat(32));
    artifact.setBytes(1L << 30);
    artifact.setGpuBytes(1L << 29);
    artifact.setImage("registry.example/train@sha256:" + "ab".repeat(32));
    status.setArtifact(artifact);
    status.setHardware(
        new Hardware(
            "580.105.08",
            null,
            "None",
            """
            cpu.architecture=amd64
            criu.version=4.2.1
            gpu.computeCapability=9.0
            gpu.count=1
            gpu.driver=580.105.08
            gpu.interconnect=None
            gpu.memoryMiB=143771
            gpu.mig=Disabled
            gpu.model=NVIDIA H200
            """,
            null));
    status.setConditions(
        List.of(
            new Condition(
                "Ready",
                ConditionValue.TRUE,
                "ArtifactVerified",
                "1.0Gi in store shared",
                Instant.parse("2026-11-21T10:00:00Z"),
                1L)));
    return status;
  }

  @SuppressWarnings("unchecked")
  public static Map<String, Object> template(Pod pod) {
    return JSON.convertValue(pod, Map.class);
  }

  public static Pod pod(String namespace, String name) {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace(namespace)
        .withName(name)
        .addToLabels("app", "train")
        .endMetadata()
        .withNewSpec()
        .withNewSecurityContext()
        .withRunAsUser(1000L)
        .withRunAsNonRoot(true)
        .withNewSeccompProfile()
        .withType("RuntimeDefault")
        .endSeccompProfile()
        .endSecurityContext()
        .withRestartPolicy("Always")
        .addNewContainer()
        .withName("main")
        .withImage("registry.example/train:1")
        .withCommand("python3", "train.py")
        .withNewSecurityContext()
        .withAllowPrivilegeEscalation(false)
        .withNewCapabilities()
        .withDrop("ALL")
        .endCapabilities()
        .endSecurityContext()
        .withNewResources()
        .addToLimits("nvidia.com/gpu", new Quantity("1"))
        .addToLimits("memory", new Quantity("4Gi"))
        .endResources()
        .endContainer()
        .endSpec()
        .build();
  }

  static GpuNode gpuNode(String name, Instant heartbeat) {
    GpuNode node = new GpuNode();
    node.getMetadata().setName(name);
    NodeHost host = new NodeHost();
    host.setDriver("580.105.08");
    host.setFingerprint("cpu.architecture=amd64\ncriu.version=4.2.1\n");
    GpuNodeStatus status = new GpuNodeStatus();
    status.setHost(host);
    status.setGpus(
        List.of(
            new NodeGpu(
                "GPU-" + name, 0, MODEL, MEMORY, null, null, "9.0", false, 0, false, null)));
    status.setAgent(new AgentIdentity("0.1.0", null, heartbeat, heartbeat, null, null));
    node.setStatus(status);
    return node;
  }

  static GpuRestore restore(String namespace, String name, String checkpoint) {
    GpuRestore restore = new GpuRestore();
    restore.getMetadata().setNamespace(namespace);
    restore.getMetadata().setName(name);
    restore.setSpec(new GpuRestoreSpec());
    restore.getSpec().setCheckpointRef(NameReference.of(checkpoint));
    restore.setStatus(new GpuRestoreStatus());
    return restore;
  }

  /** An operation that ends well. */
  static void proven(GpuNodeOperationStatus status) {
    status.setPhase(OperationPhase.SUCCEEDED);
    status.setOutcome(Outcome.DONE);
    status.setStep("prove");
    status.setProof(
        new Proof(
            Instant.now().truncatedTo(ChronoUnit.SECONDS),
            List.of(new ProcessProof(7L, "python3", "S", "RUNNING")),
            1L << 29,
            1L << 29));
  }
}
