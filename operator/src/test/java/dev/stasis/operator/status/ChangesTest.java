package dev.stasis.operator.status;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.operator.cluster.ClusterParts;
import dev.stasis.operator.cluster.SharingSerialization;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class ChangesTest {

  private final SharingSerialization serialization = ClusterParts.serialization();
  private final Changes changes = new Changes(serialization);
  private final GpuCheckpointStatus status = new GpuCheckpointStatus();

  @Test
  void theSameAgainIsNoChange() {
    status.setPhases(
        List.of(new PhaseTime<>(CheckpointPhase.PENDING, Instant.parse("2026-11-21T10:00:02Z"))));
    JsonNode before = changes.snapshot(status);
    status.setPhases(
        List.of(new PhaseTime<>(CheckpointPhase.PENDING, Instant.parse("2026-11-21T10:00:02Z"))));

    assertThat(changes.between(before, status)).isEqualTo(Change.NONE);
  }

  @Test
  void aStatusReadBackIsUnchanged() {
    status.setPhase(CheckpointPhase.SAVING);
    status.setDoneBytes(5L);
    JsonNode before = changes.snapshot(status);
    GpuCheckpointStatus read =
        serialization.unmarshal(serialization.asJson(status), GpuCheckpointStatus.class);

    assertThat(changes.between(before, read)).isEqualTo(Change.NONE);
  }

  @Test
  void moreBytesAreProgress() {
    JsonNode before = changes.snapshot(status);
    status.setDoneBytes(5L);
    status.setProgress("63%");

    assertThat(changes.between(before, status)).isEqualTo(Change.PROGRESS);
  }

  @Test
  void anythingElseIsOfSubstance() {
    JsonNode before = changes.snapshot(status);
    status.setDoneBytes(5L);
    ArtifactStatus artifact = new ArtifactStatus();
    artifact.setBytes(5L);
    status.setArtifact(artifact);

    assertThat(changes.between(before, status)).isEqualTo(Change.SUBSTANCE);
  }
}
