package dev.stasis.operator.eviction;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.common.StoreDurability;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.operator.operation.OperationView;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EvictionDeciderTest {

  private static final Instant START = Instant.parse("2026-11-21T10:00:00Z");

  private final EvictionDecider decider =
      new EvictionDecider(new EvictionSettings(), List.of("nvidia.com/gpu"));
  private final List<EvictionAttempt> attempts = new ArrayList<>();
  private Pod pod = pod("true");
  private Optional<OperationView> freeze = Optional.empty();
  private Instant now = START;

  @ParameterizedTest
  @ValueSource(strings = {"false", "Disabled"})
  void aPodThatDidNotOptInIsNoBusinessOfOurs(String label) {
    pod = pod(label);
    assertThat(decide()).isInstanceOf(EvictionDecision.Ignore.class);
    pod =
        new PodBuilder(pod("true"))
            .editMetadata()
            .removeFromLabels(Api.PROTECT_LABEL)
            .endMetadata()
            .build();
    assertThat(decide()).isInstanceOf(EvictionDecision.Ignore.class);
  }

  @Test
  void aPodThatIsNotRunningOrHasNoGpuIsNoBusinessOfOurs() {
    pod = new PodBuilder(pod("true")).editStatus().withPhase("Pending").endStatus().build();
    assertThat(decide()).isInstanceOf(EvictionDecision.Ignore.class);
    pod =
        new PodBuilder(pod("true"))
            .editSpec()
            .editFirstContainer()
            .withResources(null)
            .endContainer()
            .endSpec()
            .build();
    assertThat(decide()).isInstanceOf(EvictionDecision.Ignore.class);
  }

  @Test
  void theFirstRequestBeginsAndTheNextOnesAreHeld() {
    assertThat(decide()).isEqualTo(new EvictionDecision.Begin(1, START));
    attempt(1, CheckpointPhase.SAVING, 0);
    now = START.plusSeconds(120);
    assertThat(decide())
        .isInstanceOfSatisfying(
            EvictionDecision.Hold.class,
            hold ->
                assertThat(hold.sentence())
                    .contains("evict-trainer-0123abcd-1")
                    .contains("evicted anyway at 2026-11-21T10:10:00Z"));
  }

  @Test
  void thePodMayGoOnlyWhenItsArtifactIsSafe() {
    attempt(1, CheckpointPhase.SAVING, 0);
    freeze = Optional.of(view(OperationPhase.RUNNING, false));
    assertThat(decide()).isInstanceOf(EvictionDecision.Hold.class);
    freeze = Optional.of(view(OperationPhase.HELD, false));
    assertThat(decide()).isInstanceOf(EvictionDecision.Allow.class);
    freeze = Optional.of(view(OperationPhase.HELD, true));
    assertThat(decide()).isInstanceOf(EvictionDecision.Hold.class);
  }

  @Test
  void thePodMayGoOnlyWhenItsArtifactIsWhereTheStorePromisesToHaveIt() {
    attempt(1, CheckpointPhase.SAVING, 0);
    OperationView held = view(OperationPhase.HELD, false);
    held.operation().getSpec().setNodeName("gpu-17");
    ArtifactStatus said = new ArtifactStatus();
    said.setNode("gpu-17");
    said.setDurability(StoreDurability.REMOTE);
    held.operation().getSpec().setArtifact(new ArtifactReference("s3", "ml/a", "ml", "u", null));
    held.status().setArtifact(said);
    freeze = Optional.of(held);
    assertThat(decide())
        .as("the operator has not seen it yet")
        .isInstanceOf(EvictionDecision.Hold.class);
    GpuCheckpointStatus status = attempts.get(0).checkpoint().getStatus();
    status.setArtifact(held.artifact().orElseThrow());
    assertThat(decide()).as("on its node only").isInstanceOf(EvictionDecision.Hold.class);

    Objects.requireNonNull(status.getArtifact()).setNode(null);

    assertThat(decide()).isInstanceOf(EvictionDecision.Allow.class);
  }

  @Test
  void anEvictionIsHeldWhileTheWorkloadIsBeingThawed() {
    attempt(1, CheckpointPhase.SAVING, 0);
    attempts.get(0).checkpoint().getSpec().getOptions().setCancel(true);
    freeze = Optional.of(view(OperationPhase.HELD, false));
    assertThat(decide()).isInstanceOf(EvictionDecision.Hold.class);
  }

  @Test
  void afterTheDeadlineTheEvictionWins() {
    attempt(1, CheckpointPhase.SAVING, 0);
    now = START.plusSeconds(600);
    assertThat(decide()).isInstanceOf(EvictionDecision.AllowUnsaved.class);
    pod =
        new PodBuilder(pod)
            .editMetadata()
            .addToAnnotations(Api.EVICT_DEADLINE_ANNOTATION, "1h")
            .endMetadata()
            .build();
    assertThat(decide()).isInstanceOf(EvictionDecision.Hold.class);
    // Safe is safe, however late it is.
    now = START.plusSeconds(3600);
    freeze = Optional.of(view(OperationPhase.HELD, false));
    assertThat(decide()).isInstanceOf(EvictionDecision.Allow.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"soon", "1s", "200h"})
  void aDeadlineThatIsNoneCountsAsNone(String text) {
    attempt(1, CheckpointPhase.SAVING, 0);
    pod =
        new PodBuilder(pod)
            .editMetadata()
            .addToAnnotations(Api.EVICT_DEADLINE_ANNOTATION, text)
            .endMetadata()
            .build();
    now = START.plusSeconds(599);
    assertThat(decide()).isInstanceOf(EvictionDecision.Hold.class);
    now = START.plusSeconds(600);
    assertThat(decide()).isInstanceOf(EvictionDecision.AllowUnsaved.class);
  }

  @Test
  void aFailedCheckpointIsRetriedUntilTheDeadline() {
    attempt(1, CheckpointPhase.FAILED, 20);
    now = START.plusSeconds(25);
    assertThat(decide()).isInstanceOf(EvictionDecision.Hold.class);
    now = START.plusSeconds(50);
    assertThat(decide()).isEqualTo(new EvictionDecision.Begin(2, START));
  }

  @Test
  void anEvictionLongAfterOneThatWasGivenUpIsANewOne() {
    attempt(4, CheckpointPhase.CANCELLED, 70);
    now = START.plusSeconds(7200);
    assertThat(decide()).isEqualTo(new EvictionDecision.Begin(5, now));
  }

  /** A user may delete the GpuCheckpoint, but the drain is not held for longer. */
  @Test
  void aDeletedAttemptDoesNotStartTheDeadlineAgain() {
    pod = since(START.toString());
    now = START.plusSeconds(300);
    assertThat(decide()).isEqualTo(new EvictionDecision.Begin(1, START));
    now = START.plusSeconds(600);
    assertThat(decide())
        .isInstanceOfSatisfying(
            EvictionDecision.AllowUnsaved.class,
            unsaved -> assertThat(unsaved.sentence()).contains("was not checkpointed within 600s"));
    // Somebody else's eviction, of a pod whose first one was never ended.
    now = START.plusSeconds(660);
    assertThat(decide()).isEqualTo(new EvictionDecision.Begin(1, now));
    pod = since("not a time");
    assertThat(decide()).isEqualTo(new EvictionDecision.Begin(1, now));
  }

  @Test
  void noUserHoldsADrainForLongerThanTheInstallationAllows() {
    attempt(1, CheckpointPhase.SAVING, 0);
    pod =
        new PodBuilder(pod)
            .editMetadata()
            .addToAnnotations(Api.EVICT_DEADLINE_ANNOTATION, "168h")
            .endMetadata()
            .build();
    now = START.plus(Duration.ofHours(6)).minusSeconds(1);
    assertThat(decide()).isInstanceOf(EvictionDecision.Hold.class);
    now = START.plus(Duration.ofHours(6));
    assertThat(decide()).isInstanceOf(EvictionDecision.AllowUnsaved.class);
  }

  @Test
  void theNameOfAnAttemptFitsForTheLongestPodName() {
    pod = new PodBuilder(pod).editMetadata().withName("x".repeat(253)).endMetadata().build();
    assertThat(EvictionAttempt.name(pod, 12, "a1b2c3"))
        .hasSizeLessThanOrEqualTo(63)
        .endsWith("-0123abcd-a1b2c3-12");
  }

  private Pod since(String text) {
    return new PodBuilder(pod)
        .editMetadata()
        .addToAnnotations(Api.EVICT_SINCE_ANNOTATION, text)
        .endMetadata()
        .build();
  }

  private EvictionDecision decide() {
    return decider.decide(new EvictionDecider.Observation(pod, attempts, freeze, now));
  }

  /** Requested for the last time as late as it came to its phase. */
  private void attempt(int number, CheckpointPhase phase, int seconds) {
    GpuCheckpoint checkpoint = new GpuCheckpoint();
    checkpoint.setMetadata(
        new ObjectMetaBuilder()
            .withName(EvictionAttempt.name(pod, number))
            .withCreationTimestamp(START.toString())
            .addToAnnotations(Api.EVICT_SINCE_ANNOTATION, START.toString())
            .addToAnnotations(Api.EVICT_REQUESTED_ANNOTATION, START.plusSeconds(seconds).toString())
            .build());
    checkpoint.setSpec(new GpuCheckpointSpec());
    GpuCheckpointStatus status = new GpuCheckpointStatus();
    status.setPhase(phase);
    status.setPhases(List.of(new PhaseTime<>(phase, START.plusSeconds(seconds))));
    checkpoint.setStatus(status);
    attempts.add(new EvictionAttempt(checkpoint));
  }

  private static OperationView view(OperationPhase phase, boolean cancelled) {
    GpuNodeOperation operation = new GpuNodeOperation();
    operation.setSpec(new GpuNodeOperationSpec());
    operation.getSpec().setCancel(cancelled);
    operation.setStatus(new GpuNodeOperationStatus());
    operation.getStatus().setPhase(phase);
    return OperationView.of(operation);
  }

  private static Pod pod(String label) {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace("ml")
        .withName("trainer")
        .withUid("0123abcd-4567")
        .addToLabels(Api.PROTECT_LABEL, label)
        .endMetadata()
        .withNewSpec()
        .addNewContainer()
        .withName("main")
        .withNewResources()
        .addToLimits("nvidia.com/gpu", new Quantity("1"))
        .endResources()
        .endContainer()
        .endSpec()
        .withNewStatus()
        .withPhase("Running")
        .endStatus()
        .build();
  }
}
