package dev.stasis.operator.restore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.operation.OperationView;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * An operator that dies between an action and the write of the status, at every write that a
 * restore has, while the agent gets as far as it can before the next operator starts.
 */
class OperatorDeathTest {

  /** More passes than a restore with three targets needs. */
  private static final int PASSES = 60;

  /** The writes of a restore that tries three targets: at most five for each. */
  private static final int WRITES = 15;

  /** How far the agent gets, one step after the other. */
  private enum Agent {
    ASKED,
    RESTORING,
    PROVING,
    PROVEN,
    REFUSED,
    FAILED
  }

  @TestFactory
  Stream<DynamicTest> aRestoreReachesTheSameEndWhicheverStatusWriteIsLost() {
    return Stream.of(Agent.values())
        .flatMap(
            agent ->
                IntStream.rangeClosed(1, WRITES)
                    .mapToObj(
                        lost ->
                            DynamicTest.dynamicTest(
                                "write %d lost, agent meanwhile %s".formatted(lost, agent),
                                () -> new Run(agent, lost).reachesItsEnd())));
  }

  /** One restore: what the API server holds, and the operator that writes it. */
  private static final class Run extends RestoreScenario {

    private final KubernetesSerialization json = new KubernetesSerialization();
    private final Map<Integer, OperationView> orders = new HashMap<>();
    private final Agent meanwhile;
    private final int lost;
    private GpuRestoreStatus written = new GpuRestoreStatus();
    private @Nullable Pod pod;
    private int made;

    Run(Agent meanwhile, int lost) {
      this.meanwhile = meanwhile;
      this.lost = lost;
      nothingIsDoneYet();
      restore.getMetadata().setCreationTimestamp(NOW.toString());
      fakes.onCreateTarget =
          () -> {
            // A target that exists already is the one.
            if (pod == null) {
              made++;
              pod = created("uid-" + made);
            }
            return pod;
          };
      fakes.onRemoveTarget = () -> pod = null;
      fakes.onCreateOperation =
          () -> orders.putIfAbsent(restore.getStatus().getAttempts(), unclaimed());
      fakes.onRelease = () -> orders.remove(restore.getStatus().getAttempts());
    }

    void reachesItsEnd() {
      List<RestorePhase> seen = new ArrayList<>();
      int writes = 0;
      for (int pass = 0; pass < PASSES && !isOver(); pass++) {
        restore.setStatus(copy(written));
        advance(visible(), order());
        boolean changed = !json.asJson(written).equals(json.asJson(restore.getStatus()));
        if (changed && ++writes == lost) {
          work(meanwhile);
          continue;
        }
        written = copy(restore.getStatus());
        seen.add(Objects.requireNonNull(written.getPhase()));
        work(fails() ? meanwhile : nextStep());
      }

      assertThat(written.getPhase())
          .as("after %s", seen)
          .isEqualTo(fails() ? RestorePhase.FAILED : RestorePhase.SUCCEEDED);
      assertThat(made)
          .as("targets")
          .isEqualTo(meanwhile == Agent.REFUSED ? FailedAttempt.ATTEMPTS : 1);
      assertThat(written.getAttempts()).isEqualTo(made);
    }

    private boolean isOver() {
      return written.getPhase() != null && written.getPhase().isFinal();
    }

    private boolean fails() {
      return meanwhile == Agent.REFUSED || meanwhile == Agent.FAILED;
    }

    /** As the observer finds it: by its uid once that is written, else by its label. */
    private @Nullable Pod visible() {
      String known =
          restore.getStatus().getPod() == null ? null : restore.getStatus().getPod().uid();
      return pod == null || known == null || known.equals(pod.getMetadata().getUid()) ? pod : null;
    }

    private @Nullable OperationView order() {
      return restore.getStatus().getPod() == null
          ? null
          : orders.get(restore.getStatus().getAttempts());
    }

    private static Pod created(String uid) {
      return new PodBuilder(running(NOW, 0))
          .editMetadata()
          .withUid(uid)
          .withCreationTimestamp(NOW.toString())
          .endMetadata()
          .build();
    }

    private static OperationView unclaimed() {
      OperationView order = operation(OperationPhase.PENDING);
      order.operation().getStatus().setClaimedBy(null);
      return order;
    }

    private Agent nextStep() {
      OperationView order = orders.get(made);
      if (order == null || !order.isClaimed()) {
        return Agent.RESTORING;
      }
      return order.status().getStep() == null ? Agent.PROVING : Agent.PROVEN;
    }

    /** The agent works on what it was asked; nothing takes it back. */
    private void work(Agent to) {
      OperationView order = orders.get(made);
      if (order == null || order.isFinal() || to == Agent.ASKED) {
        return;
      }
      GpuNodeOperationStatus status = order.status();
      status.setClaimedBy(operation(OperationPhase.RUNNING).status().getClaimedBy());
      status.setPhase(OperationPhase.RUNNING);
      if (to == Agent.PROVING) {
        status.setStep("prove");
      } else if (to == Agent.PROVEN) {
        Examples.proven(status);
      } else if (to != Agent.RESTORING) {
        status.setPhase(OperationPhase.FAILED);
        status.setOutcome(to == Agent.REFUSED ? Outcome.REFUSED : Outcome.UNDONE);
        status.setFaults(List.of(to == Agent.REFUSED ? MISFIT : fault()));
      }
    }

    private static Fault fault() {
      return new Fault("CriuFailed", null, null, null, null, null, "criu: it failed");
    }

    private GpuRestoreStatus copy(GpuRestoreStatus status) {
      return json.unmarshal(json.asJson(status), GpuRestoreStatus.class);
    }
  }
}
