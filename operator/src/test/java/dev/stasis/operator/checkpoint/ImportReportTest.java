package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What an agent reports of an import. */
class ImportReportTest {

  @Test
  void aPodThatReachesOutOfItsContainersIsNotImported() {
    World world = importedWith(pod(Map.of("securityContext", Map.of("privileged", true))));

    assertThat(world.condition("Ready")).startsWith("False/NotImported: spec.containers[main]");
    assertThat(world.status().getPodTemplate()).isNull();
    assertThat(world.status().getArtifact()).isNull();
  }

  @Test
  void theCommandLineOfAnOlderAgentIsReplacedByThatOfThePod() {
    World world = importedWith(pod(Map.of("args", List.of("--token=$(TOKEN)"))));

    assertThat(world.status().getArgv()).containsExactly("python", "--token=$(TOKEN)");
  }

  @Test
  void anImportWhoseOperationWasRemovedIsVerifiedAgainInItsPhase() {
    World world = ImportArtifactTest.world().settle();
    world.agent(OperationType.IMPORT, 1).works("verify", WorkloadState.UNKNOWN);
    world.settle();
    world.cluster.operations.clear();
    world.settle();

    assertThat(world.operations()).hasSize(1);
    assertThat(world.phase()).isEqualTo(CheckpointPhase.IMPORTING);
    assertThat(world.condition("Ready")).startsWith("False/WaitingForAgent");
  }

  private static World importedWith(Map<String, Object> template) {
    World world = ImportArtifactTest.world().settle();
    ImportArtifactTest.says(world);
    world.operation(OperationType.IMPORT, 1).orElseThrow().getStatus().setPodTemplate(template);
    return world.settle();
  }

  static Map<String, Object> pod(Map<String, Object> container) {
    Map<String, Object> main = new HashMap<>(Map.of("name", "main", "image", "trainer:1"));
    main.putAll(container);
    return Map.of(
        "metadata", Map.of("name", "trainer"), "spec", Map.of("containers", List.of(main)));
  }
}
