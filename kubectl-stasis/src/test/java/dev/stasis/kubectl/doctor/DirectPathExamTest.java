package dev.stasis.kubectl.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.kubectl.Objects;
import dev.stasis.kubectl.cluster.Resource;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Each pod that asks for the direct data path has a line, with the reason where it is not taken.
 */
class DirectPathExamTest {

  private static final Resource WITH =
      pod(
          "{name: LD_PRELOAD, value: /.stasis-gate/libstasis-gate.so}",
          "{set: [main/LD_PRELOAD], kept: []}");

  private static Resource pod(String variable, String prepared) {
    return Objects.of(
        """
        kind: Pod
        metadata: {name: trainer, namespace: ml, annotations: {stasis.dev/prepared: "%s"}}
        spec:
          nodeName: gpu-17
          containers:
          - {name: main, env: [%s], resources: {limits: {nvidia.com/gpu: "1"}}}
        status: {phase: Running}
        """
            .formatted(prepared, variable));
  }

  private static Resource checkpoint(String name, int minute, String status) {
    return Objects.of(
        """
        kind: GpuCheckpoint
        metadata: {name: %s, namespace: ml, creationTimestamp: "2026-11-21T10:%02d:00Z"}
        spec: {podRef: {name: trainer}}
        status: {%s}
        """
            .formatted(name, minute, status));
  }

  private static Finding examine(Resource node, Resource... direct) {
    List<Finding> findings =
        new DirectPathExam(
                new Facts(
                    Objects.NOW,
                    "1.36",
                    List.of(node),
                    List.of(),
                    List.of(),
                    List.of(),
                    List.of(),
                    List.of(),
                    List.of(direct),
                    Map.of()))
            .findings();
    assertThat(findings).hasSize(1);
    return findings.get(0);
  }

  @Test
  void aPodWithTheLibraryHasNoProblem() {
    assertThat(examine(Objects.node(), WITH))
        .isEqualTo(Finding.well("gpu-17", "pod ml/trainer: data path Direct"));
  }

  @Test
  void aPodThatTheWebhookMissedIsToBeRecreated() {
    Finding finding = examine(Objects.node(), pod("", ""));
    assertThat(finding.what())
        .isEqualTo("pod ml/trainer: expected the library of the direct data path, got none");
    assertThat(finding.advice()).contains("recreate");
  }

  @Test
  void aPodWithAPreloadOfItsOwnIsNamed() {
    Finding finding =
        examine(
            Objects.node(),
            pod("{name: LD_PRELOAD, value: /usr/lib/libjemalloc.so}", "{kept: [main/LD_PRELOAD]}"));
    assertThat(finding.advice()).contains("sets LD_PRELOAD itself");
  }

  @Test
  void theLastCheckpointSaysWhyItTookAnotherPath() {
    Finding finding =
        examine(
            Objects.node(),
            WITH,
            checkpoint("new", 20, "dataPath: Mover, dataPathReason: 'not direct: uses ipc'"),
            checkpoint("old", 10, "dataPath: Direct"));
    assertThat(finding.what())
        .isEqualTo(
            "pod ml/trainer: last checkpoint new: expected data path Direct, got Mover: not direct: uses ipc");
  }

  @Test
  void aNodeWithoutAKeeperIsAProblemForItsPods() {
    Resource node =
        Objects.of(
            """
            kind: GpuNode
            metadata: {name: gpu-17}
            status: {missing: [{reason: NoKeeper}]}
            """);
    Finding finding = examine(node, WITH);
    assertThat(finding.severity()).isEqualTo(Finding.Severity.PROBLEM);
    assertThat(finding.what()).contains("expected stasis-keeper on its node");
  }
}
