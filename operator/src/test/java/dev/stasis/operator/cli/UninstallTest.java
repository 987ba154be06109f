package dev.stasis.operator.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.PodReference;
import dev.stasis.operator.testing.SetClock;
import dev.stasis.operator.uninstall.InstalledResources;
import dev.stasis.operator.uninstall.Step;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Nothing begins between the last check of an uninstall and the end of the operator. */
class UninstallTest {

  private static final Duration LIMIT = Duration.ofSeconds(240);

  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
  private final SetClock clock = new SetClock();
  private final FakeUninstallCluster cluster = new FakeUninstallCluster();

  @Test
  void theOperatorHasEndedWhenStasisCanBeRemoved() throws Exception {
    assertThat(run()).isZero();
    assertThat(cluster.running).isFalse();
    assertThat(cluster.stops).isEqualTo(1);
  }

  @Test
  void anEvictionThatBeginsBeforeTheOperatorHasEndedIsWaitedFor() throws Exception {
    GpuCheckpoint eviction = eviction(CheckpointPhase.SAVING);
    cluster.onStop = () -> cluster.checkpoints.add(eviction);
    cluster.onWait =
        () -> {
          assertThat(cluster.running).as("it continues the eviction").isTrue();
          cluster.onStop = () -> {};
          Objects.requireNonNull(eviction.getStatus()).setPhase(CheckpointPhase.CANCELLED);
        };

    assertThat(run()).isZero();
    assertThat(cluster.stops).isEqualTo(2);
    assertThat(cluster.running).isFalse();
  }

  @Test
  void aPodThatIsEvictedBeforeTheOperatorHasEndedBlocksTheUninstall() throws Exception {
    cluster.onStop = () -> cluster.checkpoints.add(eviction(CheckpointPhase.READY));

    assertThat(run()).isEqualTo(Uninstall.REFUSED);
    assertThat(cluster.running).isTrue();
    assertThat(printed.toString(StandardCharsets.UTF_8))
        .contains("is the only copy of the evicted pod trainer");
  }

  @Test
  void anOperatorThatDoesNotEndBlocksTheUninstall() throws Exception {
    cluster.ends = false;

    assertThat(run()).isEqualTo(Uninstall.REFUSED);
    assertThat(cluster.running).isTrue();
  }

  @Test
  void anUninstallThatIsRefusedAtItsStartLeavesTheOperatorRunning() throws Exception {
    cluster.checkpoints.add(eviction(CheckpointPhase.READY));

    assertThat(run()).isEqualTo(Uninstall.REFUSED);
    assertThat(cluster.stops).isZero();
    assertThat(cluster.running).isTrue();
  }

  /** The job was killed after it had ended the operator. The remedy of a blocker needs it. */
  @Test
  void anUninstallThatIsRefusedAfterAKilledOneStartsTheOperator() throws Exception {
    cluster.running = false;
    cluster.checkpoints.add(eviction(CheckpointPhase.READY));

    assertThat(run()).isEqualTo(Uninstall.REFUSED);
    assertThat(cluster.running).isTrue();
  }

  private int run() throws InterruptedException {
    return new Uninstall(cluster, new PrintStream(printed, true, StandardCharsets.UTF_8), clock)
        .run(false, LIMIT);
  }

  private static GpuCheckpoint eviction(CheckpointPhase phase) {
    GpuCheckpoint eviction = new GpuCheckpoint();
    eviction.getMetadata().setNamespace("ml");
    eviction.getMetadata().setName("trainer-1");
    eviction.setSpec(new GpuCheckpointSpec());
    eviction.getSpec().setPodRef(PodReference.of("trainer"));
    eviction.getSpec().setAfterCheckpoint(AfterCheckpoint.EVICT);
    eviction.setStatus(new GpuCheckpointStatus());
    eviction.getStatus().setPhase(phase);
    if (phase == CheckpointPhase.READY) {
      eviction
          .getStatus()
          .setConditions(
              List.of(
                  new Condition(
                      "SourceRunning", ConditionValue.FALSE, "Evicted", "m", Instant.EPOCH, 1L)));
    }
    return eviction;
  }

  private final class FakeUninstallCluster implements UninstallCluster {
    final List<GpuCheckpoint> checkpoints = new ArrayList<>();
    Runnable onStop = () -> {};
    Runnable onWait = () -> {};
    boolean ends = true;
    boolean running = true;
    int stops;

    @Override
    public InstalledResources read() {
      return new InstalledResources(
          checkpoints, List.of(), List.of(), List.of(), List.of(), Set.of());
    }

    @Override
    public boolean take(Step step) {
      return true;
    }

    @Override
    public void awaitChange(Duration atMost) {
      clock.ahead(Duration.ofSeconds(10));
      onWait.run();
    }

    @Override
    public boolean stopOperator() {
      stops++;
      onStop.run();
      running = false;
      return ends;
    }

    @Override
    public void startOperator() {
      running = true;
    }
  }
}
