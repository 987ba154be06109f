package dev.stasis.operator.restore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.testing.FakeAgent;
import dev.stasis.operator.testing.Kstatus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** {@code spec.options.ttlSecondsAfterFinished}: the record goes, the workload stays. */
@SuppressWarnings("NullAway") // what is not there fails the test
class TimeToLiveApiServerTest extends OnApiServer {

  @Test
  void aFinishedRestoreGoesAndItsPodStays() {
    checkpoint();
    agent.ends(first, Examples::proven);
    restore(spec -> spec.getSpec().getOptions().setTtlSecondsAfterFinished(1));

    await().atMost(LONG).until(() -> !targets().isEmpty() && restores().isEmpty());

    assertThat(gate(target())).isEqualTo("True");
    assertThat(target().getMetadata().getDeletionTimestamp()).isNull();
  }

  /** Nothing else follows from it: its target is gone. */
  @Test
  void aChangeOfAFailedRestoreIsObserved() {
    checkpoint();
    agent.ends(first, FakeAgent.fails(Outcome.UNDONE, "CriuFailed"));
    restore(spec -> {});
    until(it -> it.getStatus().getPhase() == RestorePhase.FAILED);

    client
        .resource(restores().get(0))
        .edit(
            it -> {
              it.getSpec().getOptions().setTtlSecondsAfterFinished(86_400);
              return it;
            });

    until(it -> it.getMetadata().getGeneration() == 2);
    until(it -> new Kstatus().verdict(it) == Kstatus.Verdict.FAILED);
  }

  @Test
  void theOneThatRestoredAnEvictedWorkloadStaysAsLongAsItsCheckpoint() {
    GpuCheckpoint evicted = Examples.checkpoint(namespace, "train");
    List<Condition> conditions = new ArrayList<>(evicted.getStatus().getConditions());
    conditions.add(
        new Condition("SourceRunning", ConditionValue.FALSE, "Evicted", "", Instant.now(), 1L));
    evicted.getStatus().setConditions(conditions);
    checkpoint(evicted);
    agent.ends(first, Examples::proven);
    restore(spec -> spec.getSpec().getOptions().setTtlSecondsAfterFinished(0));
    until(it -> it.getStatus().getPhase() == RestorePhase.SUCCEEDED);

    await().during(Duration.ofSeconds(3)).atMost(LONG).until(() -> restores().size() == 1);
  }
}
