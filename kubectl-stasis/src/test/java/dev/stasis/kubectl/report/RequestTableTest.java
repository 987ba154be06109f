package dev.stasis.kubectl.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.kubectl.Objects;
import dev.stasis.kubectl.cluster.Resource;
import java.util.List;
import org.junit.jupiter.api.Test;

class RequestTableTest {

  private static final Resource RESTORE =
      Objects.of(
          """
          kind: GpuRestore
          metadata: {name: back, namespace: ml, creationTimestamp: "2026-11-21T10:09:00Z"}
          spec: {checkpointRef: {name: train-1}}
          status: {phase: Succeeded, pod: {name: trainer, node: gpu-22}, timings: {took: 6.9s}, reason: Proven}
          """);

  private static final Resource MIGRATION =
      Objects.of(
          """
          kind: GpuMigration
          metadata: {name: off-17, namespace: ml, creationTimestamp: "2026-11-21T10:09:52Z"}
          spec: {podRef: {name: trainer}}
          status: {phase: Transferring, source: {node: gpu-17}, target: {node: gpu-22}, progress: 63%, reason: Working}
          """);

  @Test
  void theNewestRequestIsLast() {
    assertThat(
            new RequestTable(false)
                .text(List.of(MIGRATION, RESTORE, Objects.checkpoint()), Objects.NOW))
        .isEqualTo(
            """
            NAME            POD       NODE            PHASE          SIZE     TIME    AGE   REASON
            gckpt/train-1   trainer   gpu-17          Ready          48.9Gi   14.1s   10m   Verified
            grst/back       trainer   gpu-22          Succeeded               6.9s    60s   Proven
            gmig/off-17     trainer   gpu-17>gpu-22   Transferring   63%              8s    Working\
            """);
  }

  @Test
  void withAllNamespacesEachRowNamesItsOwn() {
    assertThat(new RequestTable(true).text(List.of(Objects.checkpoint()), Objects.NOW))
        .startsWith("NAMESPACE   NAME")
        .contains("ml          gckpt/train-1");
  }

  @Test
  void aRequestWithoutAStatusIsPending() {
    Resource fresh =
        Objects.of(
            """
            kind: GpuCheckpoint
            metadata: {name: a, namespace: ml, creationTimestamp: "2026-11-21T10:09:59Z"}
            spec: {podRef: {name: trainer}}
            """);
    assertThat(new RequestTable(false).text(List.of(fresh), Objects.NOW)).contains("Pending");
  }

  @Test
  void aValueOfANewerReleaseIsShownAsItIs() {
    Resource newer =
        Objects.of(
            """
            kind: GpuCheckpoint
            metadata: {name: a, namespace: ml, creationTimestamp: "2026-11-21T10:09:59Z"}
            spec: {podRef: {name: trainer}, afterCheckpoint: Hibernate}
            status: {phase: Hibernated, reason: InCloud}
            """);
    assertThat(new RequestTable(false).text(List.of(newer, RESTORE), Objects.NOW))
        .containsPattern("gckpt/a +trainer +Hibernated +1s +InCloud")
        .contains("grst/back");
    assertThat(new Course(newer).isOver()).isFalse();
  }

  @Test
  void anEmptyListHasNoTable() {
    assertThat(new RequestTable(false).text(List.of(), Objects.NOW)).isEmpty();
  }
}
