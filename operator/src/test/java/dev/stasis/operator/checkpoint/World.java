package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuNodeOperation;
import dev.stasis.api.v1alpha1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1alpha1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1alpha1.common.Condition;
import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.operator.event.Story;
import dev.stasis.operator.operation.OperationName;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.RequesterKind;
import dev.stasis.operator.pod.Mark;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.status.Changes;
import dev.stasis.operator.testing.FakeCluster;
import dev.stasis.operator.testing.TestConfig;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * One GpuCheckpoint in a cluster, with an operator that is started anew for every turn: each turn
 * is decided twice, by two operators, and both have to decide the same.
 */
final class World {

  static final Instant START = Instant.parse("2026-11-21T10:00:00Z");

  final KubernetesSerialization serialization = new KubernetesSerialization();
  final FakeCluster cluster = new FakeCluster();
  final List<Question.Ask> asked = new ArrayList<>();
  final List<Mark> marks = new ArrayList<>();
  final Set<Story> stories = new LinkedHashSet<>();
  final GpuCheckpoint checkpoint;
  PodWrites.Answer evictAnswer = new PodWrites.Accepted();
  PodWrites.Answer resizeAnswer = new PodWrites.Accepted();
  Instant now = START;
  boolean gone;
  int writes;
  Duration again = Duration.ZERO;

  private final Changes changes = new Changes(serialization);

  World(GpuCheckpoint checkpoint) {
    this.checkpoint = checkpoint;
  }

  /** Turns until nothing changes any more. */
  World settle() {
    for (int turns = 0; turns < 12; turns++) {
      if (!turn()) {
        return this;
      }
    }
    throw new AssertionError("never comes to rest: " + status().getMessage());
  }

  /** One turn; whether it changed anything. */
  boolean turn() {
    if (gone) {
      return false;
    }
    var before = changes.snapshot(status());
    GpuCheckpoint copy = serialization.clone(checkpoint);
    Turn turn = decided(checkpoint);
    Turn twin = decided(copy);
    List<Question.Ask> questions = answered(turn, true);
    assertThat(answered(twin, false)).hasSameSizeAs(questions);
    assertThat(changes.snapshot(twin.status())).isEqualTo(changes.snapshot(turn.status()));
    assertThat(twin.acts().stream().map(World::name))
        .containsExactlyElementsOf(turn.acts().stream().map(World::name).toList());
    asked.addAll(questions);
    boolean acted = false;
    for (Act act : turn.acts()) {
      acted |= perform(act);
    }
    stories.addAll(turn.stories());
    again = turn.again().orElse(Duration.ofDays(1));
    gone = turn.isOver();
    boolean changed = !changes.snapshot(status()).equals(before);
    if (changed) {
      writes++;
    }
    return changed || acted || !questions.isEmpty() && moved(questions);
  }

  private boolean moved(List<Question.Ask> questions) {
    return questions.stream().anyMatch(ask -> !isDry(ask)) && isAccepted(questions);
  }

  private boolean isAccepted(List<Question.Ask> questions) {
    return questions.get(questions.size() - 1) instanceof Question.Evict
        ? evictAnswer instanceof PodWrites.Accepted
        : resizeAnswer instanceof PodWrites.Accepted;
  }

  private static boolean isDry(Question.Ask ask) {
    if (ask instanceof Question.Depart depart) {
      return depart.dryRun();
    }
    return ask instanceof Question.Evict evict ? evict.dryRun() : ((Question.Resize) ask).dryRun();
  }

  /** One turn as it is decided; nothing is carried out. */
  Turn look() {
    return decided(checkpoint);
  }

  private Turn decided(GpuCheckpoint object) {
    Turn turn =
        new Turn(
            object,
            new Turn.Sight(cluster, pod(object), Optional.empty(), now, TestConfig.usual()));
    new Course(new FakeOperations(), serialization).next(turn);
    return turn;
  }

  private Optional<Pod> pod(GpuCheckpoint object) {
    String uid =
        object.getStatus() == null || object.getStatus().getPod() == null
            ? null
            : object.getStatus().getPod().uid();
    return cluster
        .pod(object.getMetadata().getNamespace(), object.getSpec().getPodName())
        .filter(pod -> uid == null || uid.equals(pod.getMetadata().getUid()));
  }

  private List<Question.Ask> answered(Turn turn, boolean really) {
    List<Question.Ask> questions = new ArrayList<>();
    Optional<Question> question = turn.takeQuestion();
    while (question.isPresent()) {
      Question.Ask ask = question.get().ask();
      questions.add(ask);
      question.get().then().accept(ask instanceof Question.Evict ? evictAnswer : resizeAnswer);
      if (really) {
        happen(ask);
      }
      question = turn.takeQuestion();
    }
    turn.finish();
    return questions;
  }

  private void happen(Question.Ask ask) {
    if (ask instanceof Question.Evict evict
        && !evict.dryRun()
        && evictAnswer instanceof PodWrites.Accepted) {
      leave();
    } else if (ask instanceof Question.Resize resize
        && !resize.dryRun()
        && resizeAnswer instanceof PodWrites.Accepted) {
      cluster.pods.removeIf(pod -> pod.getMetadata().getName().equals("trainer"));
      cluster.pods.add(resize.resized());
    }
  }

  /** The pod is deleted; it is there until its container has ended. */
  void leave() {
    Pod leaving =
        new PodBuilder(pod())
            .editMetadata()
            .withDeletionTimestamp(now.toString())
            .endMetadata()
            .build();
    cluster.pods.removeIf(pod -> pod.getMetadata().getName().equals("trainer"));
    cluster.pods.add(leaving);
  }

  private boolean perform(Act act) {
    var operations = cluster.operations;
    if (act instanceof Act.Create create) {
      return operations.putIfAbsent(name(act), create.operation()) == null;
    } else if (act instanceof Act.Cancel cancel) {
      GpuNodeOperation operation = cancel.operation().operation();
      boolean before = operation.getSpec().getCancel();
      operation.getSpec().setCancel(true);
      return !before;
    } else if (act instanceof Act.Release release) {
      assertThat(release.operation().isFinal()).as(release.operation().name()).isTrue();
      operations.remove(release.operation().name());
      return true;
    } else if (act instanceof Act.Withdraw withdraw) {
      assertThat(withdraw.operation().isClaimed()).isFalse();
      operations.remove(withdraw.operation().name());
      return true;
    } else if (act instanceof Act.Abandon abandon) {
      operations.remove(abandon.operation().name());
      return true;
    } else if (act instanceof Act.MarkPod mark) {
      if (marks.isEmpty() || !marks.get(marks.size() - 1).equals(mark.mark())) {
        marks.add(mark.mark());
      }
      return false;
    }
    delete();
    return true;
  }

  /** The user deletes the object. */
  void delete() {
    checkpoint.getMetadata().setDeletionTimestamp(now.toString());
  }

  private static String name(Act act) {
    if (act instanceof Act.Create create) {
      return create.operation().getMetadata().getName();
    }
    return act.getClass().getSimpleName();
  }

  /** The agent's side of the operation of that type. */
  FakeAgent agent(OperationType type, int number) {
    return new FakeAgent(this, operation(type, number).orElseThrow());
  }

  Optional<GpuNodeOperation> operation(OperationType type, int number) {
    String uid = checkpoint.getMetadata().getUid();
    return Optional.ofNullable(
        cluster.operations.get(
            new OperationName(RequesterKind.CHECKPOINT, uid, type, number).text()));
  }

  List<OperationView> operations() {
    return cluster.operations.values().stream().map(OperationView::of).toList();
  }

  GpuCheckpointStatus status() {
    return Objects.requireNonNullElseGet(checkpoint.getStatus(), GpuCheckpointStatus::new);
  }

  CheckpointPhase phase() {
    return Objects.requireNonNull(status().getPhase(), "no phase yet");
  }

  Pod pod() {
    return cluster.pod("ml", "trainer").orElseThrow();
  }

  /** As {@code True/Verified: sentence}. */
  String condition(String type) {
    return Objects.requireNonNullElse(status().getConditions(), List.<Condition>of()).stream()
        .filter(condition -> condition.type().equals(type))
        .map(it -> it.status() + "/" + it.reason() + ": " + it.message())
        .findFirst()
        .orElse("none");
  }

  void later(Duration time) {
    now = now.plus(time);
  }
}
