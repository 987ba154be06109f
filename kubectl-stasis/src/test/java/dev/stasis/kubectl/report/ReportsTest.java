package dev.stasis.kubectl.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.kubectl.Objects;
import dev.stasis.kubectl.cluster.JsonReader;
import dev.stasis.kubectl.cluster.Resource;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ReportsTest {

  @Test
  void aNodeShowsItsLinksAndTheWholeFingerprint() {
    assertThat(new NodeReport().text(Objects.node(), Objects.NOW))
        .startsWith("gpu-17: 2 x NVIDIA H200, Ready\ncan: Checkpoint, Restore, Mover\n")
        .contains("GPU0   GPU-1   NVIDIA H200   140.4Gi   0000:18:00.0   0")
        .contains("       GPU0   GPU1\nGPU0   X      NV18\nGPU1   NV18   X")
        .contains("fingerprint of any 2 of its GPUs (topology.stasis.dev/gpus-2=c5ed49f74163):")
        .contains("  gpu.links=NV18")
        .endsWith("fingerprint of the node:\n  cpu.architecture=amd64\n  kernel=6.18");
  }

  @Test
  void aRefusalListsEveryReasonAndTheCompatibleNodes() {
    Resource explained =
        Objects.of(
            """
            kind: GpuCheckpoint
            spec: {podRef: {name: trainer}, options: {dryRun: true}}
            status:
              phase: Explained
              explanation:
                faults:
                - {reason: NoRoom, message: "memory limit: expected 60Gi, got 16Gi"}
                - {reason: PreflightRefused, message: "tty: expected none, got one"}
                expectedSize: 48.9Gi
                expectedFrozen: 14.1s
              nodesFit: 1
              nodesKnown: 2
              nodes: [{node: gpu-17, fits: true}, {node: gpu-18, fits: false, reasons: ["driver: expected 580, got 570"]}]
              conditions: [{type: Feasible, status: "False", reason: PreflightRefused, message: m}]
            """);
    Explanation explanation = new Explanation(explained);
    assertThat(explanation.isFeasible()).isFalse();
    assertThat(explanation.text())
        .isEqualTo(
            """
            trainer cannot be frozen:
              - NoRoom: memory limit: expected 60Gi, got 16Gi
              - PreflightRefused: tty: expected none, got one
              size: 48.9Gi
              frozen for: 14.1s
              restorable on: 1 of 2 nodes
                gpu-17
                gpu-18: driver: expected 580, got 570\
            """);
  }

  @Test
  void theCausesThatAWorkloadIsNotPortableAreShown() {
    Resource explained =
        Objects.of(
            """
            kind: GpuCheckpoint
            spec: {podRef: {name: trainer}, options: {dryRun: true}}
            status:
              phase: Explained
              explanation:
                notPortable: [{reason: NotPortable, message: "socket address: expected 0.0.0.0, got 10.1.2.3:29500"}]
                expectedSize: 48.9Gi
              conditions: [{type: Feasible, status: "True", reason: Feasible, message: m}]
            """);
    assertThat(new Explanation(explained).text())
        .isEqualTo(
            """
            trainer can be frozen.
            It cannot be restored in another pod, so it cannot be evicted or migrated:
              - NotPortable: socket address: expected 0.0.0.0, got 10.1.2.3:29500
              size: 48.9Gi\
            """);
  }

  @Test
  void aFailureShowsItsCauseAndTheStateOfTheWorkload() {
    Resource failed =
        Objects.of(
            """
            kind: GpuCheckpoint
            metadata: {name: train-2, namespace: ml}
            spec: {podRef: {name: trainer}}
            status:
              phase: Failed
              faults: [{reason: DriverError, message: "the driver refused", driverError: "CUDA_ERROR_OUT_OF_MEMORY (2)"}]
              conditions: [{type: SourceRunning, status: "True", reason: Thawed, message: "2 processes RUNNING"}]
            """);
    assertThat(new Outcome().text(failed))
        .contains("gckpt/train-2: Failed")
        .contains("  - DriverError: the driver refused (CUDA_ERROR_OUT_OF_MEMORY (2))")
        .contains("the workload: 2 processes RUNNING")
        .contains("kubectl stasis logs train-2 -n ml");
  }

  /** The agent of an eviction was silent, and has reported the artifact later. */
  @Test
  void aFailureWithACompleteArtifactShowsHowToRestoreIt() {
    Resource failed =
        Objects.of(
            """
            kind: GpuCheckpoint
            metadata: {name: train-2, namespace: ml}
            spec: {podRef: {name: trainer}, afterCheckpoint: Evict}
            status:
              phase: Failed
              message: "node gpu-17: agent: expected a heartbeat within 3m, got none"
              conditions: [{type: Ready, status: "True", reason: ArtifactVerified, message: m}]
            """);
    assertThat(new Outcome().text(failed))
        .contains("gckpt/train-2: Failed")
        .contains("  restore it: kubectl stasis restore train-2 -n ml");
  }

  @Test
  void anEvictionIsOverOnlyWhenTheSourceIsGone() {
    String yaml =
        """
        kind: GpuCheckpoint
        spec: {podRef: {name: trainer}, afterCheckpoint: Evict}
        status: {phase: Ready, conditions: [{type: SourceRunning, status: "%s"}]}
        """;
    assertThat(new Course(Objects.of(yaml.formatted("Unknown"))).isOver()).isFalse();
    assertThat(new Course(Objects.of(yaml.formatted("False"))).isDone()).isTrue();
  }

  @Test
  void aResumeIsCompleteOnlyWhenTheWorkloadRuns() {
    String yaml =
        """
        kind: GpuCheckpoint
        spec: {podRef: {name: trainer}, afterCheckpoint: Suspend, desiredState: %s}
        status: {phase: %s, conditions: [{type: Suspended, status: "%s"}]}
        """;
    assertThat(new Course(Objects.of(yaml.formatted("Suspended", "Suspended", "True"))).isDone())
        .isTrue();
    assertThat(new Course(Objects.of(yaml.formatted("Running", "Suspended", "True"))).isOver())
        .isFalse();
    assertThat(new Course(Objects.of(yaml.formatted("Running", "Pending", "False"))).isDone())
        .isTrue();
    assertThat(new Course(Objects.of(yaml.formatted("Suspended", "Pending", "False"))).isOver())
        .isFalse();
  }

  @Test
  void aResumeOfAWorkloadThatIsLostHasFailed() {
    Course course =
        new Course(
            Objects.of(
                """
                kind: GpuCheckpoint
                spec: {podRef: {name: trainer}, afterCheckpoint: Suspend, desiredState: Running}
                status:
                  phase: Ready
                  conditions:
                    - {type: Suspended, status: "False"}
                    - {type: SourceRunning, status: "False", reason: WorkloadLost}
                """));
    assertThat(course.isDone()).isFalse();
    assertThat(course.isBad()).isTrue();
  }

  @Test
  void progressHasABarWhileBytesMove() {
    Resource saving =
        Objects.of(
            """
            kind: GpuCheckpoint
            metadata: {name: a}
            status: {phase: Saving, step: dump, doneBytes: 1073741824, totalBytes: 4294967296, bytesPerSecond: 1073741824}
            """);
    assertThat(new ProgressLine().text(saving, Duration.ofSeconds(7)))
        .isEqualTo("gckpt/a  Saving (dump)  [######..................] 25%  1.0Gi/s  4s left  7s");
  }

  @Test
  void aStoryHasOnlyTheLinesOfItsRequestInOrderOfTime() {
    Story story = new Story(new JsonReader());
    story.phases(Objects.checkpoint());
    story.logLine(
        "agent-x",
        """
        {"timestamp":"2026-11-21T10:00:10Z","level":"INFO","message":"locked","operation":"ckpt-u1-checkpoint-1","step":"lock"}\
        """,
        Set.of("ckpt-u1-checkpoint-1"),
        Set.of("u1"));
    story.logLine(
        "agent-x",
        """
        {"timestamp":"2026-11-21T10:00:11Z","level":"INFO","message":"of another","operation":"other"}\
        """,
        Set.of("ckpt-u1-checkpoint-1"),
        Set.of("u1"));
    story.logLine("agent-x", "{ no json", Set.of(), Set.of());
    assertThat(story.text())
        .isEqualTo(
            """
            2026-11-21T10:00:02Z  gckpt/train-1  Freezing
            2026-11-21T10:00:10Z  agent-x  INFO lock: locked
            2026-11-21T10:00:40Z  gckpt/train-1  Ready\
            """);
  }
}
