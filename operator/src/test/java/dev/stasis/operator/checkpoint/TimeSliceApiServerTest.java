package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.api.testing.OnTestCluster;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.NameReference;
import dev.stasis.api.v1beta1.common.PodReference;
import dev.stasis.api.v1beta1.common.TimeSpan;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Three on one GPU, as the API server tells of them in order. */
@OnTestCluster(definitions = true)
class TimeSliceApiServerTest {

  /** Two turns of a second for each of three, on a machine that is busy with a whole build. */
  private static final Duration PATIENCE = Duration.ofSeconds(180);

  private static final List<String> PODS = List.of("one", "two", "three");

  @SuppressWarnings("NullAway.Init") // before each test
  private SingleNodeCluster cluster;

  @SuppressWarnings("NullAway.Init") // before each test
  private AgentStandIn agent;

  @BeforeEach
  void furnish() {
    cluster = SingleNodeCluster.create();
    PODS.forEach(cluster::pod);
    agent = new AgentStandIn(cluster);
    cluster.startOperator();
  }

  @AfterEach
  void tidy() {
    if (cluster != null) {
      agent.close();
      cluster.close();
    }
  }

  @Test
  void eachWorkloadRunsForItsSliceAndNoTwoRunAtOnceEvenIfTheOperatorRestarts() {
    Running running = new Running();
    try (var watch =
        cluster
            .client
            .resources(GpuCheckpoint.class)
            .inNamespace(cluster.namespace)
            .inform(running)) {
      PODS.forEach(this::takesTurns);
      awaitSuspensions(2);
      cluster.stopOperator();
      cluster.startOperator();
      awaitSuspensions(4);

      assertThat(running.atOnce).isEmpty();
      assertThat(watch.isRunning()).isTrue();
    }
    assertThat(Objects.requireNonNull(get("one").getStatus().getTurn()).place()).isBetween(0, 2);
  }

  private void takesTurns(String pod) {
    cluster.checkpoint(
        pod,
        spec -> {
          spec.setPodRef(PodReference.of(pod));
          spec.setStorageRef(NameReference.ofNullable(null));
          spec.setAfterCheckpoint(AfterCheckpoint.SUSPEND);
          spec.getOptions().setTimeSlice(TimeSpan.of("1s"));
        });
  }

  private void awaitSuspensions(int number) {
    for (String pod : PODS) {
      await().atMost(PATIENCE).until(() -> suspensions(get(pod)) >= number);
    }
  }

  private GpuCheckpoint get(String name) {
    return Objects.requireNonNull(cluster.get(name), name);
  }

  private static int suspensions(GpuCheckpoint one) {
    return one.getStatus() == null
        ? 0
        : Objects.requireNonNullElse(one.getStatus().getSuspensions(), 0);
  }

  /** Who of those that have joined does not stand still, at every moment. */
  private static final class Running implements ResourceEventHandler<GpuCheckpoint> {
    private final Map<String, Boolean> runs = new ConcurrentHashMap<>();
    private final Queue<Set<String>> atOnce = new ConcurrentLinkedQueue<>();

    @Override
    public void onAdd(GpuCheckpoint added) {}

    @Override
    public void onUpdate(GpuCheckpoint before, GpuCheckpoint after) {
      runs.put(
          after.getMetadata().getName(),
          suspensions(after) > 0 && after.getStatus().getPhase() != CheckpointPhase.SUSPENDED);
      Set<String> now = new TreeSet<>();
      runs.forEach(
          (name, running) -> {
            if (running) {
              now.add(name);
            }
          });
      if (now.size() > 1) {
        atOnce.add(now);
      }
    }

    @Override
    public void onDelete(GpuCheckpoint gone, boolean finalStateUnknown) {}
  }
}
