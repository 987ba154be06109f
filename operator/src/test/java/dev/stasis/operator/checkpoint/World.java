package dev.stasis.operator.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.cluster.ClusterParts;
import dev.stasis.operator.cluster.SharingSerialization;
import dev.stasis.operator.event.Story;
import dev.stasis.operator.operation.OperationName;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.RequesterKind;
import dev.stasis.operator.pod.PodConditionUpdate;
import dev.stasis.operator.pod.PodWrites;
import dev.stasis.operator.pod.Template;
import dev.stasis.operator.status.Changes;
import dev.stasis.operator.testing.FakeCluster;
import dev.stasis.operator.testing.Kstatus;
import dev.stasis.operator.testing.TestConfig;
import dev.stasis.operator.workflow.WorkflowRunner;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * One GpuCheckpoint in a cluster, with an operator that is started anew for every turn: each turn
 * is decided twice, by two operators, and both have to decide the same.
 */
final class World {

  static final Instant START = Instant.parse("2026-11-21T10:00:00Z");

  final SharingSerialization serialization = ClusterParts.serialization();
  final FakeCluster cluster = new FakeCluster();
  final List<Question> asked = new ArrayList<>();
  final List<PodConditionUpdate> marks = new ArrayList<>();
  final Set<Story> stories = new LinkedHashSet<>();
  final GpuCheckpoint checkpoint;
  PodWrites.Answer evictAnswer = new PodWrites.Accepted();
  PodWrites.Answer resizeAnswer = new PodWrites.Accepted();
  Instant now = START;
  TestConfig config = TestConfig.usual();
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

  /** Reconciles once; returns whether it changed anything. */
  boolean turn() {
    if (gone) {
      return false;
    }
    var before = changes.snapshot(status());
    GpuCheckpoint copy = serialization.clone(checkpoint);
    List<Question> twinQuestions = new ArrayList<>();
    Reconciliation twin = reconciled(copy, twinQuestions::add);
    List<Question> questions = new ArrayList<>();
    Reconciliation made =
        reconciled(
            checkpoint,
            question -> {
              questions.add(question);
              happen(question);
            });
    assertThat(twinQuestions).hasSameSizeAs(questions);
    assertThat(changes.snapshot(twin.status())).isEqualTo(changes.snapshot(made.status()));
    assertThat(twin.acts().stream().map(World::name))
        .containsExactlyElementsOf(made.acts().stream().map(World::name).toList());
    asked.addAll(questions);
    boolean acted = false;
    for (Act act : made.acts()) {
      acted |= perform(act);
    }
    stories.addAll(made.stories());
    again = made.requeueAfter();
    gone = made.removed();
    if (checkpoint.getMetadata().getDeletionTimestamp() == null) {
      new Kstatus().check(checkpoint);
    }
    boolean changed = !changes.snapshot(status()).equals(before);
    if (changed) {
      writes++;
    }
    return changed || acted || !questions.isEmpty() && moved(questions);
  }

  private boolean moved(List<Question> questions) {
    return questions.stream().anyMatch(ask -> !isDry(ask)) && isAccepted(questions);
  }

  private boolean isAccepted(List<Question> questions) {
    return questions.get(questions.size() - 1) instanceof Question.Evict
        ? evictAnswer instanceof PodWrites.Accepted
        : resizeAnswer instanceof PodWrites.Accepted;
  }

  private static boolean isDry(Question ask) {
    if (ask instanceof Question.Depart depart) {
      return depart.dryRun();
    }
    return ask instanceof Question.Evict evict ? evict.dryRun() : ((Question.Resize) ask).dryRun();
  }

  /** Reconciles once; what it does has no effect. */
  Reconciliation look() {
    return reconciled(checkpoint, question -> {});
  }

  /**
   * One reconciliation.
   *
   * @param acts what it did, in order
   * @param stories the events it recorded
   * @param mayWait how long the status may wait to be written
   */
  record Reconciliation(
      GpuCheckpointStatus status,
      List<Act> acts,
      List<Story> stories,
      Duration requeueAfter,
      boolean removed,
      Duration mayWait) {}

  private Reconciliation reconciled(GpuCheckpoint object, Consumer<Question> questions) {
    List<Act> acts = new ArrayList<>();
    List<Story> told = new ArrayList<>();
    AskedPods pods = new AskedPods(this, questions, acts);
    if (object.getStatus() == null) {
      object.setStatus(new GpuCheckpointStatus());
    }
    CheckpointContext context =
        new CheckpointObserver(
                cluster,
                pods,
                told::add,
                new Template(serialization),
                new RestorableCondition(),
                pod -> Optional.empty(),
                Clock.fixed(now, ZoneOffset.UTC),
                config)
            .observe(object);
    CheckpointSteps steps = steps(pods, acts);
    CheckpointWorkflow workflow = context.isImport() ? steps.ofImport() : steps.ofPod();
    WorkflowRunner<CheckpointContext, CheckpointPhase> runner =
        new WorkflowRunner<>(workflow, config);
    CheckpointPhase before = context.phase();
    boolean removable = context.isDeleted() && runner.isRemovable(context);
    boolean removed = removable && workflow.release(context);
    Optional<Duration> requeue = removable ? context.requeue().soonest() : runner.advance(context);
    return new Reconciliation(
        context.status(),
        acts,
        told,
        requeue.orElse(Requeue.IDLE),
        removed,
        workflow.mayWait(before, context));
  }

  /** Returns the steps as the product has them. */
  CheckpointSteps steps() {
    List<Act> acts = new ArrayList<>();
    return steps(new AskedPods(this, question -> {}, acts), acts);
  }

  private CheckpointSteps steps(AskedPods pods, List<Act> acts) {
    return new CheckpointSteps(
        new FakeOperations(acts),
        pods,
        pods.departure(),
        new Template(serialization),
        deleted -> acts.add(new Act.DeleteSelf()));
  }

  private void happen(Question ask) {
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
      GpuNodeOperation operation = cancel.operation();
      boolean before = operation.getSpec().getCancel();
      operation.getSpec().setCancel(true);
      return !before;
    } else if (act instanceof Act.Release release) {
      OperationView view = OperationView.of(release.operation());
      assertThat(view.isFinal()).as(view.name()).isTrue();
      operations.remove(view.name());
      return true;
    } else if (act instanceof Act.Withdraw withdraw) {
      OperationView view = OperationView.of(withdraw.operation());
      assertThat(view.isClaimed()).isFalse();
      operations.remove(view.name());
      return true;
    } else if (act instanceof Act.Abandon abandon) {
      operations.remove(abandon.operation().getMetadata().getName());
      return true;
    } else if (act instanceof Act.Condition condition) {
      if (marks.isEmpty() || !marks.get(marks.size() - 1).equals(condition.update())) {
        marks.add(condition.update());
      }
      return false;
    } else if (act instanceof Act.TakeBack) {
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
