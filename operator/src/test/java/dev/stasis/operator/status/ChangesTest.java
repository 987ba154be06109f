package dev.stasis.operator.status;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.PackedObject;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.operator.cluster.ClusterParts;
import dev.stasis.operator.cluster.SharingSerialization;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
  void anEmptyListIsAMissingOne() {
    JsonNode before = changes.snapshot(status);
    status.setConditions(List.of());
    assertThat(changes.between(before, status)).isEqualTo(Change.NONE);

    status.setPhases(
        List.of(new PhaseTime<>(CheckpointPhase.PENDING, Instant.parse("2026-11-21T10:00:02Z"))));
    before = changes.snapshot(status);
    status.setPhases(List.of());
    assertThat(changes.between(before, status)).isEqualTo(Change.SUBSTANCE);
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

  @Test
  void theSameInAnotherFormIsNoChange() {
    // Packed by the API server's answer, with ints; computed as maps, with longs.
    status.setPodTemplate(Map.of("spec", Map.of("priority", 7, "numbers", List.of(1, 2))));
    GpuCheckpointStatus read =
        serialization.unmarshal(serialization.asJson(status), GpuCheckpointStatus.class);
    assertThat(read.getPodTemplate()).isInstanceOf(PackedObject.class);
    Map<String, Object> spec = new HashMap<>(Map.of("priority", 7L, "numbers", List.of(1L, 2L)));
    spec.put("nothing", null);
    status.setPodTemplate(Map.of("spec", spec));

    assertThat(changes.between(changes.tree(read), status)).isEqualTo(Change.NONE);
    assertThat(changes.between(changes.tree(status), read)).isEqualTo(Change.NONE);

    JsonNode withNull = changes.tree(status);
    spec.remove("nothing");
    assertThat(changes.between(withNull, status)).isEqualTo(Change.NONE);
  }

  @Test
  void aChangeInsideIsOfSubstance() {
    status.setPodTemplate(Map.of("spec", Map.of("numbers", List.of(1, 2))));
    JsonNode before = changes.tree(status);
    status.setPodTemplate(Map.of("spec", Map.of("numbers", List.of(1, 3))));
    assertThat(changes.between(before, status)).isEqualTo(Change.SUBSTANCE);
    status.setPodTemplate(Map.of("spec", Map.of("numbers", List.of(1))));
    assertThat(changes.between(before, status)).isEqualTo(Change.SUBSTANCE);
    status.setPodTemplate(null);
    assertThat(changes.between(before, status)).isEqualTo(Change.SUBSTANCE);
  }

  /** A workload chooses its command line. */
  @Test
  void aTextThatIsNoYamlIsCompared() {
    status.setArgv(List.of("train", "\ufffe: ["));
    JsonNode before = changes.tree(status);
    status.setArgv(List.of("train", "\ufffe: [ "));

    assertThat(changes.between(before, status)).isEqualTo(Change.SUBSTANCE);
  }
}
