package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.api.testing.OnTestCluster;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.NameReference;
import dev.stasis.api.v1beta1.common.PodReference;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The reconciler on a real API server: schemas, subresources, finalizers, restarts. */
@OnTestCluster(definitions = true)
class CheckpointApiServerTest {

  /** A turn takes milliseconds; a machine that is busy with a whole build takes its time. */
  private static final Duration PATIENCE = Duration.ofSeconds(120);

  private static final Set<CheckpointPhase> FROZEN =
      Set.of(CheckpointPhase.FREEZING, CheckpointPhase.SAVING, CheckpointPhase.RESUMING);

  @SuppressWarnings("NullAway.Init") // before each test
  private SingleNodeCluster cluster;

  @SuppressWarnings("NullAway.Init") // before each test
  private AgentStandIn agent;

  @BeforeEach
  void furnish() {
    cluster = SingleNodeCluster.create();
    cluster.pod("trainer");
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
  void aCheckpointBecomesReadyAndTakesItsArtifactWithIt() {
    cluster.checkpoint("one", spec -> {});
    until("one", CheckpointPhase.READY);

    assertThat(condition("one", "Ready")).isEqualTo("True/ArtifactVerified");
    assertThat(condition("one", "SourceRunning")).isEqualTo("True/Resumed");
    await().atMost(PATIENCE).until(() -> condition("one", "Restorable").startsWith("True"));
    await().atMost(PATIENCE).until(() -> frozen().equals("False"));
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> assertThat(events()).extracting(Event::getReason).contains("ArtifactVerified"));
    await().atMost(PATIENCE).until(() -> operations().isEmpty());

    cluster.client.resource(Objects.requireNonNull(cluster.get("one"))).delete();
    await().atMost(PATIENCE).until(() -> cluster.get("one") == null);
    await().atMost(PATIENCE).until(() -> operations().isEmpty());
    assertThat(agent.seen).hasSize(2).anyMatch(name -> name.contains("deleteartifact"));
  }

  @ParameterizedTest
  @EnumSource(AgentStandIn.Limit.class)
  void anOperatorRestartInAnyPhaseLeadsToTheSameEnd(AgentStandIn.Limit limit) {
    agent.until(limit);
    cluster.checkpoint("one", spec -> {});
    await().atMost(PATIENCE).until(() -> !agent.seen.isEmpty());
    if (limit == AgentStandIn.Limit.FROZEN) {
      until("one", CheckpointPhase.FREEZING);
      await().atMost(PATIENCE).until(() -> frozen().equals("True"));
    }
    cluster.stopOperator();
    agent.until(AgentStandIn.Limit.DONE);
    cluster.startOperator();

    until("one", CheckpointPhase.READY);
    assertThat(agent.seen).hasSize(1);
    await().atMost(PATIENCE).until(() -> operations().isEmpty());
  }

  @Test
  void aWorkloadIsSuspendedAndResumedAndADeletionResumesIt() {
    cluster.checkpoint(
        "one",
        spec -> {
          spec.setAfterCheckpoint(AfterCheckpoint.SUSPEND);
          spec.setStorageRef(NameReference.ofNullable(null));
        });
    until("one", CheckpointPhase.SUSPENDED);
    await().atMost(PATIENCE).until(() -> frozen().equals("True"));

    suspend(false);
    await().atMost(PATIENCE).until(() -> condition("one", "Suspended").startsWith("False"));
    await().atMost(PATIENCE).until(() -> frozen().equals("False"));
    suspend(true);
    until("one", CheckpointPhase.SUSPENDED);

    cluster.client.resource(Objects.requireNonNull(cluster.get("one"))).delete();
    await().atMost(PATIENCE).until(() -> cluster.get("one") == null);
    assertThat(agent.seen).filteredOn(name -> name.contains("resume")).hasSize(2);
  }

  @Test
  void anEvictionHonoursTheBudgetBeforeItFreezesAndGoesByTheEvictionApi() {
    var budget =
        cluster
            .client
            .resource(
                new PodDisruptionBudgetBuilder()
                    .withNewMetadata()
                    .withNamespace(cluster.namespace)
                    .withName("all")
                    .endMetadata()
                    .withNewSpec()
                    .withMaxUnavailable(new IntOrString(0))
                    .withNewSelector()
                    .endSelector()
                    .endSpec()
                    .build())
            .create();
    cluster.checkpoint("one", spec -> spec.setAfterCheckpoint(AfterCheckpoint.EVICT));
    await().atMost(PATIENCE).until(() -> condition("one", "Ready").equals("False/EvictionRefused"));
    assertThat(agent.seen).isEmpty();

    cluster.client.resource(budget).delete();
    await().atMost(PATIENCE).until(() -> !agent.seen.isEmpty());
    until("one", CheckpointPhase.READY);
    assertThat(condition("one", "SourceRunning")).isEqualTo("False/Evicted");
    assertThat(cluster.client.pods().inNamespace(cluster.namespace).withName("trainer").get())
        .matches(pod -> pod == null || pod.getMetadata().getDeletionTimestamp() != null);
  }

  @Test
  void ofTwoAtOnceOnlyOneMayHaveTheLastOfTheQuota() {
    cluster.pod("other");
    cluster
        .client
        .resources(GpuCheckpointStore.class)
        .withName(cluster.store)
        .patch(
            PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"quota\":{\"total\":\"60Gi\"}}}");
    agent.until(AgentStandIn.Limit.CLAIMED);
    cluster.checkpoint("one", spec -> {});
    cluster.checkpoint("two", spec -> spec.setPodRef(PodReference.of("other")));

    await()
        .atMost(PATIENCE)
        .until(
            () ->
                condition("one", "Failed").equals("True/QuotaExceeded")
                    || condition("two", "Failed").equals("True/QuotaExceeded"));
    agent.until(AgentStandIn.Limit.DONE);
    String better = condition("one", "Failed").equals("none") ? "one" : "two";
    until(better, CheckpointPhase.READY);
    await().atMost(PATIENCE).until(() -> operations().isEmpty());
    assertThat(agent.seen).hasSize(2);
  }

  @Test
  void aDeletionAtWorkUndoesFirst() {
    agent.until(AgentStandIn.Limit.FROZEN);
    cluster.checkpoint("one", spec -> {});
    until("one", CheckpointPhase.FREEZING);
    cluster.client.resource(Objects.requireNonNull(cluster.get("one"))).delete();

    await().atMost(PATIENCE).until(() -> cluster.get("one") == null);
    await().atMost(PATIENCE).until(() -> operations().isEmpty());
    await().atMost(PATIENCE).until(() -> frozen().equals("False"));
  }

  @Test
  void theStatusOfACheckpointIsWrittenFourTimesAtMostBesidesProgress() {
    Set<String> statuses = ConcurrentHashMap.newKeySet();
    try (var watch =
        cluster
            .client
            .resources(GpuCheckpoint.class)
            .inNamespace(cluster.namespace)
            .inform(new Statuses(statuses))) {
      cluster.checkpoint("one", spec -> {});
      until("one", CheckpointPhase.READY);
      await().atMost(PATIENCE).until(() -> operations().isEmpty());
      await().atMost(PATIENCE).until(() -> condition("one", "Restorable").startsWith("True"));

      assertThat(statuses).hasSizeLessThanOrEqualTo(4);
    }
  }

  /** Every status that was ever there; those while it is frozen tell of progress, and are one. */
  private record Statuses(Set<String> seen) implements ResourceEventHandler<GpuCheckpoint> {
    @Override
    public void onAdd(GpuCheckpoint added) {}

    @Override
    public void onUpdate(GpuCheckpoint before, GpuCheckpoint after) {
      if (after.getStatus() != null) {
        CheckpointPhase phase = after.getStatus().getPhase();
        seen.add(
            phase != null && FROZEN.contains(phase)
                ? "frozen"
                : Serialization.asJson(after.getStatus()));
      }
    }

    @Override
    public void onDelete(GpuCheckpoint gone, boolean finalStateUnknown) {}
  }

  private void until(String name, CheckpointPhase phase) {
    await()
        .atMost(PATIENCE)
        .until(
            () -> {
              GpuCheckpoint checkpoint = cluster.get(name);
              return checkpoint != null
                  && checkpoint.getStatus() != null
                  && checkpoint.getStatus().getPhase() == phase;
            });
  }

  private void suspend(boolean value) {
    // As kubectl patches: whatever else was written meanwhile.
    cluster
        .client
        .resources(GpuCheckpoint.class)
        .inNamespace(cluster.namespace)
        .withName("one")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\":{\"desiredState\":\"%s\"}}".formatted(value ? "Suspended" : "Running"));
  }

  private String condition(String name, String type) {
    GpuCheckpoint checkpoint = cluster.get(name);
    if (checkpoint == null || checkpoint.getStatus() == null) {
      return "none";
    }
    return Objects.requireNonNullElse(checkpoint.getStatus().getConditions(), List.<Condition>of())
        .stream()
        .filter(condition -> condition.type().equals(type))
        .map(condition -> condition.status() + "/" + condition.reason())
        .findFirst()
        .orElse("none");
  }

  private String frozen() {
    var pod = cluster.client.pods().inNamespace(cluster.namespace).withName("trainer").get();
    return pod == null
        ? "gone"
        : pod.getStatus().getConditions().stream()
            .filter(condition -> condition.getType().equals("stasis.dev/Frozen"))
            .map(PodCondition::getStatus)
            .findFirst()
            .orElse("none");
  }

  private List<Event> events() {
    return cluster.client.v1().events().inNamespace(cluster.namespace).list().getItems();
  }

  private List<GpuNodeOperation> operations() {
    return cluster
        .client
        .resources(GpuNodeOperation.class)
        .inNamespace(cluster.system)
        .list()
        .getItems();
  }
}
