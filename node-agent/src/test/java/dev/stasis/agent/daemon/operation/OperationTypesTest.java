package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.ExecAction;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.Hook;
import dev.stasis.api.v1beta1.common.Hooks;
import dev.stasis.api.v1beta1.common.OnHookFailure;
import dev.stasis.api.v1beta1.common.RestoreTimings;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Each type of operation, from the order to what is said in the end. */
class OperationTypesTest {

  private static final int MIB = 16;

  @SuppressWarnings("NullAway.Init")
  private static AgentLab lab;

  @SuppressWarnings("NullAway.Init")
  private static AgentLab.Placed source;

  @BeforeAll
  static void begin() throws InterruptedException {
    lab = new AgentLab(1, 128);
    source = lab.pod("trainer", counter(), Map.of());
    source.container().awaitSteps(3);
    lab.start();
  }

  @AfterAll
  static void end() throws InterruptedException {
    source.close();
    lab.close();
  }

  private static ContainerSpec counter() {
    return ContainerSpec.counter(
        lab.engine().gpus(), "--mib", "" + MIB, "--interval-ms", "100", "--fork", "1");
  }

  private static String order(GpuNodeOperation operation) {
    return lab.cluster().create(operation).getMetadata().getName();
  }

  private static GpuNodeOperationStatus ended(GpuNodeOperation operation) {
    return lab.cluster().awaitEnd(order(operation));
  }

  private static void runsOn() {
    source.container().awaitSteps(3);
    source.container().verify(MIB);
    lab.engine().assertNothingLeft();
  }

  @Test
  void aHookBeforeTheFreezeThatFailsRefusesIt() throws Exception {
    Orders orders = Orders.ofSomebody();
    GpuNodeOperationStatus status =
        ended(
            orders.checkpoint(
                source, how -> how.setHooks(hooks("fail-" + orders.requester(), null, orders))));

    assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.REFUSED);
    assertThat(status.getReason()).isEqualTo("HookFailed");
    assertThat(status.getSourceRunning()).isEqualTo(ConditionValue.TRUE);
    assertThat(status.getFrozenTime()).isNull();
    assertThat(lab.engine().store().resolve("ml/train-" + orders.requester())).doesNotExist();
    assertThat(lab.node().ran())
        .as("hooks: the one after runs although the one before has failed")
        .containsSubsequence("fail-" + orders.requester(), "after-" + orders.requester());
    runsOn();
  }

  @Test
  void aHookBeforeTheFreezeThatMayFailIsReported() throws Exception {
    Orders orders = Orders.ofSomebody();
    GpuNodeOperationStatus status =
        ended(
            orders.checkpoint(
                source,
                how ->
                    how.setHooks(
                        hooks("fail-" + orders.requester(), OnHookFailure.CONTINUE, orders))));

    assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.DONE);
    assertThat(status.getMessage()).contains("hook before[0]: fail-");
    assertThat(lab.node().ran())
        .containsSubsequence("fail-" + orders.requester(), "after-" + orders.requester());
    runsOn();
  }

  private static Hooks hooks(String before, @Nullable OnHookFailure onFailure, Orders orders) {
    return new Hooks(
        List.of(new Hook(new ExecAction(List.of(before)), null, null, onFailure)),
        List.of(
            new Hook(new ExecAction(List.of("after-" + orders.requester())), null, null, null)));
  }

  /** Begun without its GPUs it would run beside another operation on the same GPU. */
  @Test
  void theSecondOperationOnAGpuWaitsAlsoWhenTheKubeletDidNotAnswerAtFirst() throws Exception {
    lab.node().hideGpus(true);
    String first = order(Orders.ofSomebody().checkpoint(source, how -> {}));
    String second = order(Orders.ofSomebody().checkpoint(source, how -> {}));
    lab.cluster().await(first, OperationPhase.CLAIMED);
    lab.cluster().await(second, OperationPhase.CLAIMED);
    lab.engine().gpus().fault("checkpoint", "hold");
    lab.node().hideGpus(false);
    lab.awaitHeld("checkpoint");
    // Long enough for the other one to be tried again: every three seconds.
    Awaitility.await()
        .during(Duration.ofSeconds(5))
        .atMost(FileCluster.LIMIT)
        .until(
            () ->
                Stream.of(first, second)
                    .noneMatch(name -> lab.cluster().status(name).getOutcome() != null));
    lab.engine().gpus().release("checkpoint");

    assertThat(lab.cluster().awaitEnd(first).getOutcome()).isEqualTo(Outcome.DONE);
    assertThat(lab.cluster().awaitEnd(second).getOutcome()).isEqualTo(Outcome.DONE);
    runsOn();
  }

  @Test
  void anExplanationTouchesNothing() throws Exception {
    GpuNodeOperation asked = Orders.ofSomebody().checkpoint(source, how -> how.setDryRun(true));
    GpuNodeOperationStatus status = ended(asked);
    assertThat(status.getOutcome()).isEqualTo(Outcome.DONE);
    var explanation = Objects.requireNonNull(status.getExplanation());
    assertThat(explanation.faults()).isNull();
    assertThat(explanation.expectedBytes()).isGreaterThan((long) MIB << 20);
    assertThat(explanation.expectedFrozenMilliseconds()).isPositive();
    assertThat(status.getArtifact()).isNull();
    runsOn();
  }

  @Test
  void everyReasonAgainstAFreezeIsSaidAtOnce() throws Exception {
    AgentLab.Placed shared =
        new AgentLab.Placed(
            new PodBuilder(source.pod())
                .editMetadata()
                .withName("shared")
                .endMetadata()
                .editSpec()
                .withShareProcessNamespace(true)
                .withHostNetwork(true)
                .addNewContainer()
                .withName("sidecar")
                .endContainer()
                .endSpec()
                .build(),
            source.container());
    lab.cluster().put(shared.pod());
    lab.node()
        .add(
            new LabNode.Entry(
                "ml",
                "shared",
                shared.uid(),
                "main",
                source.container().id(),
                source.container().pid(),
                List.of(lab.engine().uuid(0)),
                source.container().volumes()));
    GpuNodeOperationStatus status =
        ended(Orders.ofSomebody().checkpoint(shared, how -> how.setMaxFrozen(TimeSpan.of("1s"))));
    lab.node()
        .add(
            new LabNode.Entry(
                "ml",
                "trainer",
                source.uid(),
                "main",
                source.container().id(),
                source.container().pid(),
                List.of(lab.engine().uuid(0)),
                source.container().volumes()));
    assertThat(status.getPhase()).isEqualTo(OperationPhase.FAILED);
    assertThat(status.getOutcome()).isEqualTo(Outcome.REFUSED);
    assertThat(status.getFaults())
        .extracting(Fault::property)
        .contains(
            "pod.spec.shareProcessNamespace",
            "pod.spec.hostNetwork",
            "other containers of the pod",
            "freeze time");
    assertThat(status.getSourceRunning()).isEqualTo(ConditionValue.TRUE);
    runsOn();
  }

  @Test
  void aSuspendedWorkloadIsResumed() throws Exception {
    Orders orders = Orders.ofSomebody();
    String suspend = order(orders.suspend(source));
    GpuNodeOperationStatus suspended = lab.cluster().awaitEnd(suspend);
    assertThat(suspended.getOutcome()).as(suspended.getMessage()).isEqualTo(Outcome.DONE);
    assertThat(suspended.getWorkload()).isEqualTo(WorkloadState.SUSPENDED);
    assertThat(suspended.getSourceRunning()).isEqualTo(ConditionValue.FALSE);

    GpuNodeOperationStatus resumed = ended(orders.of(OperationType.RESUME, source, suspend));
    assertThat(resumed.getOutcome()).as(resumed.getMessage()).isEqualTo(Outcome.DONE);
    assertThat(resumed.getWorkload()).isEqualTo(WorkloadState.RUNNING);
    assertThat(ended(orders.of(OperationType.RESUME, source, suspend)).getOutcome())
        .as("a resume whose end nobody heard is asked for again")
        .isEqualTo(Outcome.DONE);
    runsOn();
  }

  @Test
  void aHeldWorkloadIsThawedAndItsOperationEnds() throws Exception {
    Orders orders = Orders.ofSomebody();
    String held = order(orders.checkpoint(source, how -> how.setAfterwards(Afterwards.HOLD)));
    assertThat(lab.cluster().await(held, OperationPhase.HELD).getWorkload())
        .isEqualTo(WorkloadState.FROZEN);
    GpuNodeOperationStatus early = ended(orders.of(OperationType.END, source, held));
    assertThat(early.getReason()).isEqualTo("PodNotDeleted");
    assertThat(early.getOutcome()).isEqualTo(Outcome.REFUSED);

    GpuNodeOperationStatus thawed = ended(orders.of(OperationType.THAW, source, held));
    assertThat(thawed.getOutcome()).as(thawed.getMessage()).isEqualTo(Outcome.DONE);
    GpuNodeOperationStatus decided = lab.cluster().awaitEnd(held);
    assertThat(decided.getPhase()).isEqualTo(OperationPhase.SUCCEEDED);
    assertThat(decided.getWorkload()).isEqualTo(WorkloadState.RUNNING);
    assertThat(decided.getArtifact()).isNotNull();
    runsOn();
  }

  @Test
  void aHeldOneThatIsCancelledGoesOnAndLeavesNoArtifact() throws Exception {
    Orders orders = Orders.ofSomebody();
    String held = order(orders.checkpoint(source, how -> how.setAfterwards(Afterwards.HOLD)));
    lab.cluster().await(held, OperationPhase.HELD);
    lab.cluster().edit(held, operation -> operation.getSpec().setCancel(true));
    GpuNodeOperationStatus status = lab.cluster().awaitEnd(held);
    assertThat(status.getPhase()).isEqualTo(OperationPhase.CANCELLED);
    assertThat(status.getOutcome()).isEqualTo(Outcome.UNDONE);
    assertThat(lab.engine().store().resolve("ml/train-" + orders.requester())).doesNotExist();
    runsOn();
  }

  @Test
  void anEvictedWorkloadEndsAndComesBackInItsTarget() throws Exception {
    Orders orders = Orders.ofSomebody();
    AgentLab.Placed victim = lab.pod("victim", counter(), Map.of());
    try (AgentLab.Placed target = lab.pod("target", counter().asHolder(), orders.labels())) {
      victim.container().awaitSteps(3);
      String held = order(orders.checkpoint(victim, how -> how.setAfterwards(Afterwards.HOLD)));
      GpuNodeOperationStatus saved = lab.cluster().await(held, OperationPhase.HELD);
      lab.cluster().delete(victim.pod());
      GpuNodeOperationStatus ended = ended(orders.of(OperationType.END, victim, held));
      assertThat(ended.getOutcome()).as(ended.getMessage()).isEqualTo(Outcome.DONE);
      assertThat(ended.getWorkload()).isEqualTo(WorkloadState.ENDED);
      assertThat(lab.cluster().awaitEnd(held).getWorkload()).isEqualTo(WorkloadState.ENDED);

      String fingerprint =
          Objects.requireNonNull(Objects.requireNonNull(saved.getHardware()).fingerprint());
      String digest =
          Objects.requireNonNull(Objects.requireNonNull(saved.getArtifact()).getSha256());
      GpuNodeOperationStatus misfit =
          ended(
              orders.restore(
                  target, fingerprint.replaceAll("gpu.model=.*", "gpu.model=Other"), digest));
      assertThat(misfit.getReason()).as(misfit.getMessage()).isEqualTo("Incompatible");
      assertThat(misfit.getOutcome()).isEqualTo(Outcome.REFUSED);

      GpuNodeOperationStatus restored = ended(orders.restore(target, fingerprint, digest));
      assertThat(restored.getOutcome()).as(restored.getMessage()).isEqualTo(Outcome.DONE);
      assertThat(restored.getWorkload()).isEqualTo(WorkloadState.RUNNING);
      var proof = Objects.requireNonNull(restored.getProof());
      assertThat(proof.processes()).hasSize(2);
      assertThat(proof.processes()).anyMatch(one -> "RUNNING".equals(one.driverState()));
      assertThat(proof.gpuBytesFound()).isGreaterThanOrEqualTo((long) MIB << 20);
      RestoreTimings timings = Objects.requireNonNull(restored.getRestoreTimings());
      assertThat(timings.getTookMilliseconds())
          .isGreaterThan(Objects.requireNonNull(timings.getProofMilliseconds()));
      target.container().awaitSteps(3);
      target.container().verify(MIB, victim.container().lines());

      assertThat(ended(orders.delete()).getOutcome()).isEqualTo(Outcome.DONE);
      assertThat(ended(orders.delete()).getMessage()).contains("there was no artifact");
    } finally {
      victim.close();
    }
  }

  @Test
  void anotherArtifactThanTheOrderedOneIsNotRestored() throws Exception {
    Orders orders = Orders.ofSomebody();
    GpuNodeOperationStatus saved = ended(orders.checkpoint(source, how -> {}));
    String fingerprint =
        Objects.requireNonNull(Objects.requireNonNull(saved.getHardware()).fingerprint());
    String digest = Objects.requireNonNull(Objects.requireNonNull(saved.getArtifact()).getSha256());
    try (AgentLab.Placed target = lab.pod("target", counter().asHolder(), orders.labels())) {
      GpuNodeOperationStatus refused = ended(orders.restore(target, fingerprint, "0".repeat(64)));

      assertThat(refused.getOutcome()).as(refused.getMessage()).isEqualTo(Outcome.REFUSED);
      assertThat(refused.getMessage()).contains("0".repeat(64)).contains(digest);
      assertThat(refused.getWorkload()).isEqualTo(WorkloadState.WAITING);
      assertThat(target.container().holderFolder().resolve("restored")).doesNotExist();
    }
    runsOn();
  }

  @Test
  void anArtifactOfSomebodyElseIsNotDeleted() throws Exception {
    Orders owner = Orders.ofSomebody();
    assertThat(ended(owner.checkpoint(source, how -> {})).getOutcome()).isEqualTo(Outcome.DONE);
    GpuNodeOperation theft = owner.delete();
    var own = owner.artifact(null);
    theft
        .getSpec()
        .setArtifact(
            new dev.stasis.api.v1beta1.operation.ArtifactReference(
                own.store(), own.location(), "ml", "another", null));
    assertThat(ended(theft).getReason()).isEqualTo("OtherNamespace");
    assertThat(lab.engine().store().resolve(own.location())).exists();
    runsOn();
  }
}
