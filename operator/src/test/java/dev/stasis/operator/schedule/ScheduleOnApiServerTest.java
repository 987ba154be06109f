package dev.stasis.operator.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.api.testing.OnTestCluster;
import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointSchedule;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.api.v1beta1.schedule.AutomaticRestore;
import dev.stasis.api.v1beta1.schedule.GpuCheckpointScheduleSpec;
import dev.stasis.api.v1beta1.schedule.RestoreOnFailure;
import dev.stasis.api.v1beta1.schedule.Retention;
import dev.stasis.operator.testing.FakeKubelet;
import dev.stasis.operator.testing.RealCluster;
import dev.stasis.operator.testing.SetClock;
import dev.stasis.operator.testing.TestOperator;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

@SuppressWarnings("NullAway") // what is not there fails the test
@OnTestCluster(definitions = true)
class ScheduleOnApiServerTest {

  /** Each wait is for a few writes of a machine that may be busy. */
  private static final Duration LONG = Duration.ofSeconds(120);

  /** Its first status, and one after the first reconciliation of the pods. */
  private static final int MOST_WRITES = 3;

  private KubernetesClient client;
  private String namespace;
  private String node;
  private int woken;

  @Test
  void runsBeginWhenDueOldOnesGoAndAFailedPodComesBack() {
    SetClock clock = new SetClock();
    try (RealCluster cluster = RealCluster.fromEnvironment();
        FakeKubelet kubelet = new FakeKubelet(cluster.client());
        TestOperator operator =
            TestOperator.start(cluster, clock, List.of(ScheduleParts::reconciler))) {
      assertThat(operator).isNotNull();
      client = cluster.client();
      namespace = cluster.namespace(Map.of());
      node = RealCluster.name("gpu-1", namespace);
      kubelet.node(node, 1);
      schedule();
      until(() -> "NoPodMatches".equals(status().getReason()));
      // It rests: a write that changes nothing would follow the other.
      await()
          .atMost(LONG)
          .during(Duration.ofSeconds(2))
          .until(() -> writes(operator) <= MOST_WRITES);
      pod();
      until(() -> "Scheduled".equals(status().getReason()));

      for (int run = 1; run <= 3; run++) {
        clock.ahead(Duration.ofDays(1));
        wake();
        int wanted = Math.min(run, 3);
        until(
            () ->
                checkpoints().stream().filter(it -> it.getStatus().getPhase() == null).count()
                    == 1);
        assertThat(checkpoints().size()).isLessThanOrEqualTo(wanted);
        ready(clock.instant());
        until(() -> status().getKept() == Math.min(wanted, 2));
      }
      until(() -> checkpoints().size() == 2);
      GpuCheckpoint newest = checkpoints().get(1);
      assertThat(newest.getMetadata().getLabels()).containsEntry(Api.SCHEDULE_LABEL, "often");
      assertThat(newest.getMetadata().getOwnerReferences()).isEmpty();
      assertThat(newest.getSpec().getOptions().getRequireRestorable()).isTrue();
      // The oldest one is deleted before the status is written.
      until(() -> newest.getMetadata().getName().equals(status().getNewestGood()));
      until(() -> status().getHistory().size() == 3);

      RealCluster.beside(
          () ->
              client
                  .pods()
                  .inNamespace(namespace)
                  .withName("trainer")
                  .editStatus(
                      it ->
                          new PodBuilder(it).editStatus().withPhase("Failed").endStatus().build()));
      until(() -> restores().size() == 1);
      GpuRestore back = restores().get(0);
      assertThat(back.getSpec().checkpointName()).isEqualTo(newest.getMetadata().getName());
      assertThat(back.getSpec().getTarget().podName()).isEqualTo("trainer");
      until(() -> client.pods().inNamespace(namespace).withName("trainer").get() == null);
      until(() -> status().getRestores().get(0).phase() == RestorePhase.PENDING);
      AutomaticRestore told = status().getRestores().get(0);
      assertThat(told.reason()).isEqualTo("PodFailed");
      assertThat(told.restore()).isEqualTo(back.getMetadata().getName());
      client.namespaces().withName(namespace).delete();
    }
  }

  private static long writes(TestOperator operator) {
    return operator.requests().of("").stream().filter(it -> it.endsWith("/status")).count();
  }

  private void schedule() {
    GpuCheckpointSchedule schedule = new GpuCheckpointSchedule();
    schedule.setMetadata(
        new ObjectMetaBuilder().withNamespace(namespace).withName("often").build());
    GpuCheckpointScheduleSpec spec = new GpuCheckpointScheduleSpec();
    spec.getOptions().setJitter(TimeSpan.of("0s"));
    // Once a day, twelve hours from now: no run is due by itself while the test runs.
    int hour = (Instant.now().atOffset(ZoneOffset.UTC).getHour() + 12) % 24;
    spec.setSchedule("0 %d * * *".formatted(hour));
    spec.setSelector(new LabelSelectorBuilder().addToMatchLabels("app", "train").build());
    spec.setCheckpoint(ScheduleFixture.keeping(new Retention(2, null, null)));
    spec.setRestoreOnFailure(new RestoreOnFailure());
    schedule.setSpec(spec);
    client.resource(schedule).create();
  }

  private void pod() {
    Pod pod =
        new PodBuilder()
            .withNewMetadata()
            .withNamespace(namespace)
            .withName("trainer")
            .addToLabels("app", "train")
            .endMetadata()
            .withNewSpec()
            .withRestartPolicy("Never")
            .addNewContainer()
            .withName("main")
            .withImage("registry.example/train:1")
            .withNewResources()
            .addToLimits("nvidia.com/gpu", new Quantity("1"))
            .endResources()
            .endContainer()
            .endSpec()
            .build();
    client.resource(pod).create();
    until(
        () ->
            "Running"
                .equals(
                    client
                        .pods()
                        .inNamespace(namespace)
                        .withName("trainer")
                        .get()
                        .getStatus()
                        .getPhase()));
  }

  /** The test's clock wakes nobody; a label of the pod does. */
  private void wake() {
    woken++;
    client
        .pods()
        .inNamespace(namespace)
        .withName("trainer")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"metadata\":{\"labels\":{\"woken\":\"%d\"}}}".formatted(woken));
  }

  /** What the GpuCheckpoint's own reconciler and an agent would make of it. */
  private void ready(Instant now) {
    Instant second = now.truncatedTo(ChronoUnit.SECONDS);
    GpuCheckpoint checkpoint =
        checkpoints().stream()
            .filter(it -> it.getStatus().getPhase() == null)
            .findFirst()
            .orElseThrow();
    GpuCheckpointStatus status = new GpuCheckpointStatus();
    status.setPhase(CheckpointPhase.READY);
    status.setPhases(
        List.of(
            new PhaseTime<>(CheckpointPhase.FREEZING, second),
            new PhaseTime<>(CheckpointPhase.READY, second)));
    status.setPod(new ObservedPod("trainer", checkpoint.getSpec().podUid(), "main", node));
    ArtifactStatus artifact = new ArtifactStatus();
    artifact.setStore("shared");
    artifact.setBytes(1L << 30);
    status.setArtifact(artifact);
    status.setConditions(
        List.of(new Condition("Ready", ConditionValue.TRUE, "ArtifactVerified", "", second, 1L)));
    checkpoint.setStatus(status);
    client.resource(checkpoint).updateStatus();
  }

  private List<GpuCheckpoint> checkpoints() {
    return client.resources(GpuCheckpoint.class).inNamespace(namespace).list().getItems().stream()
        .sorted(Comparator.comparing(it -> new ScheduledCheckpoint(it).due()))
        .toList();
  }

  private List<GpuRestore> restores() {
    return client.resources(GpuRestore.class).inNamespace(namespace).list().getItems();
  }

  private dev.stasis.api.v1beta1.schedule.GpuCheckpointScheduleStatus status() {
    GpuCheckpointSchedule found =
        client
            .resources(GpuCheckpointSchedule.class)
            .inNamespace(namespace)
            .withName("often")
            .get();
    return found.getStatus() == null
        ? new dev.stasis.api.v1beta1.schedule.GpuCheckpointScheduleStatus()
        : found.getStatus();
  }

  private static void until(Callable<Boolean> wanted) {
    await().atMost(LONG).ignoreExceptionsInstanceOf(NullPointerException.class).until(wanted);
  }
}
