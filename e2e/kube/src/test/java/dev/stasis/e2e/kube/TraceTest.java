package dev.stasis.e2e.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What operator and agent tell a collector of traces. */
@ExtendWith(OnACluster.class)
class TraceTest {

  @Test
  void aCheckpointIsOneTraceOfOperatorAndAgent(Scenario scenario) {
    Assumptions.assumeTrue(
        scenario.installation() instanceof LocalInstallation,
        "skipped: there is a collector only where Stasis runs beside this test");
    Collector collector = ((LocalInstallation) scenario.installation()).collector();
    Workload.start(scenario, "trainer");

    CheckpointRequest.apply(scenario, "train-1", "trainer").awaitReady();

    GpuCheckpoint checkpoint =
        Present.in("GpuCheckpoint train-1", scenario.find(GpuCheckpoint.class, "train-1"));
    String trace = checkpoint.getMetadata().getUid().replace("-", "");
    // They are told in several parts, each by its own program.
    Awaitility.await("spans of both")
        .atMost(Scenario.PATIENCE)
        .untilAsserted(() -> areOneTrace(collector.trace(trace)));
  }

  private static void areOneTrace(List<Collector.Told> spans) {
    assertThat(named(spans, "GpuCheckpoint")).isNotEmpty();
    assertThat(named(spans, "Checkpoint")).isNotEmpty();
    Collector.Told request = named(spans, "GpuCheckpoint").get(0);
    Collector.Told operation = named(spans, "Checkpoint").get(0);
    assertThat(request.service()).isEqualTo("stasis-operator");
    assertThat(request.parentId()).isEmpty();
    assertThat(operation.service()).isEqualTo("stasis-agent");
    assertThat(operation.parentId()).isEqualTo(request.spanId());
    assertThat(spans)
        .filteredOn(span -> span.parentId().equals(request.spanId()))
        .filteredOn(span -> span.service().equals("stasis-operator"))
        .extracting(Collector.Told::name)
        .contains("Freezing");
    assertThat(spans)
        .filteredOn(span -> span.parentId().equals(operation.spanId()))
        .extracting(Collector.Told::name)
        .contains("lock", "gpu-checkpoint", "dump", "gpu-restore", "unlock", "publish");
  }

  private static List<Collector.Told> named(List<Collector.Told> spans, String name) {
    return spans.stream().filter(span -> span.name().equals(name)).toList();
  }
}
