package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Hardware;
import dev.stasis.api.v1beta1.common.Room;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import java.util.List;

/** What {@link MovingAgents} find, and what they save. */
@SuppressWarnings("NullAway") // what is not there fails the test
final class Findings {

  private static final String FINGERPRINT =
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
      """;

  private Findings() {}

  /** Of a look, or of a freeze. */
  static void of(GpuNodeOperationSpec spec, GpuNodeOperationStatus status) {
    status.setArgv(List.of("python3", "train.py"));
    status.setHardware(new Hardware("580.105.08", null, "None", FINGERPRINT, null));
    if (spec.getFreeze().getDryRun()) {
      status.setImage("registry.example/train@sha256:" + "ab".repeat(32));
      status.setRoom(new Room(1L << 30, 0L, null, null, 1L << 40));
    } else {
      status.setArtifact(artifact(spec));
    }
  }

  static ArtifactStatus artifact(GpuNodeOperationSpec spec) {
    ArtifactStatus artifact = new ArtifactStatus();
    artifact.setStore(spec.getArtifact().store());
    artifact.setLocation(spec.getArtifact().location());
    artifact.setNode(spec.getArtifact().store().startsWith("shared") ? null : spec.getNodeName());
    artifact.setImage("registry.example/train@sha256:" + "ab".repeat(32));
    artifact.setBytes(1L << 30);
    artifact.setSize("1.0Gi");
    artifact.setSha256("ab".repeat(32));
    return artifact;
  }
}
