package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointSpec;
import dev.stasis.api.v1beta1.checkpoint.ImportSource;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.ObservedPod;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.api.v1beta1.operation.ExpectedWorkload;
import dev.stasis.api.v1beta1.operation.FreezeOrder;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1beta1.operation.OperationPod;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.operation.Operations;
import dev.stasis.operator.status.Backoff;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Creates, cancels and deletes the operations of a GpuCheckpoint. */
final class CheckpointOperations {

  /**
   * A store may be unreachable for long. A request that waits for the upload has its own deadline.
   */
  private static final TimeSpan UPLOAD = TimeSpan.of("24h");

  /** At 50 MiB a second a day is enough for 4 TiB. */
  private static final TimeSpan VERIFICATION = TimeSpan.of("24h");

  private final Operations operations;

  CheckpointOperations(Operations operations) {
    this.operations = operations;
  }

  GpuNodeOperation freeze(
      CheckpointContext context, FreezeAttempt attempt, CheckpointValidator.Admitted admitted) {
    GpuCheckpointSpec spec = context.spec();
    FreezeOrder freeze = new FreezeOrder();
    freeze.copyFreeze(spec.getOptions());
    freeze.setDryRun(spec.getOptions().getDryRun());
    freeze.setAfterwards(afterwards(spec.getAfterCheckpoint()));
    freeze.setRequireRestorable(spec.getOptions().getRequireRestorable());
    admitted.maxFrozen().ifPresent(longest -> freeze.setMaxFrozen(TimeSpan.of(longest)));
    GpuNodeOperationSpec order = GpuNodeOperationSpec.of(attempt.type(), admitted.node());
    order.setPod(OperationPod.of(admitted.pod().getMetadata(), admitted.container()));
    order.setDeadline(left(context, attempt));
    if (!spec.getOptions().getDryRun()) {
      freeze.setPodTemplate(context.status().getPodTemplate());
    }
    if (attempt.writes()) {
      freeze.setNamespaceUid(context.namespaceObject().getMetadata().getUid());
      order.setArtifact(
          new ArtifactReference(
              admitted.store().orElseThrow().getMetadata().getName(),
              location(context),
              context.namespace(),
              context.uid(),
              null));
    }
    order.setFreeze(freeze);
    return create(context, attempt.number(), order);
  }

  /** Creates the operation that verifies an artifact that is in the store already. */
  GpuNodeOperation importing(
      CheckpointContext context, ImportSource from, String store, String node) {
    GpuNodeOperationSpec order = GpuNodeOperationSpec.of(OperationType.IMPORT, node);
    order.setArtifact(
        new ArtifactReference(
            store, from.location(), context.namespace(), context.uid(), from.sha256()));
    order.setExpected(
        new ExpectedWorkload(
            context.spec().podName(),
            context.spec().getOptions().getContainerName(),
            context.namespaceObject().getMetadata().getUid()));
    order.setDeadline(TimeSpan.of(Duration.between(context.now(), context.deadline())));
    return create(context, 1, order);
  }

  /** Creates the operation that resumes or ends the workload of a freeze. */
  void follow(CheckpointContext context, OperationType type, FreezeAttempt freeze) {
    ObservedPod pod = Objects.requireNonNull(context.status().getPod(), "set by the freeze");
    GpuNodeOperationSpec order =
        GpuNodeOperationSpec.of(type, Objects.requireNonNull(pod.node(), "set by the freeze"));
    order.setPod(
        new OperationPod(
            context.namespace(),
            pod.name(),
            Objects.requireNonNull(pod.uid(), "set by the freeze"),
            Objects.requireNonNull(pod.container(), "set by the freeze")));
    order.setOfOperation(freeze.name(context));
    order.setDeadline(Operations.WAY_BACK);
    create(context, freeze.number(), order);
  }

  /** Creates the operation that uploads the artifact from the node whose disk holds it. */
  void upload(CheckpointContext context, ArtifactStatus artifact) {
    String node = Objects.requireNonNull(artifact.getNode(), "it is on a node");
    ofArtifact(context, OperationType.UPLOAD, node, artifact, UPLOAD);
  }

  void verify(CheckpointContext context, ArtifactStatus artifact, String node) {
    ofArtifact(context, OperationType.VERIFY, node, artifact, VERIFICATION);
  }

  void delete(CheckpointContext context, ArtifactStatus artifact, String node) {
    ofArtifact(context, OperationType.DELETE_ARTIFACT, node, artifact, Operations.WAY_BACK);
  }

  /** Creates the operation that records on that node that the artifact outlives its object. */
  void retain(CheckpointContext context, ArtifactStatus artifact, String node) {
    ofArtifact(context, OperationType.RETAIN_ARTIFACT, node, artifact, Operations.WAY_BACK);
  }

  private void ofArtifact(
      CheckpointContext context,
      OperationType type,
      String node,
      ArtifactStatus artifact,
      TimeSpan deadline) {
    GpuNodeOperationSpec order = GpuNodeOperationSpec.of(type, node);
    order.setArtifact(reference(context, artifact));
    order.setDeadline(deadline);
    create(context, 1, order);
  }

  private GpuNodeOperation create(
      CheckpointContext context, int number, GpuNodeOperationSpec spec) {
    GpuNodeOperation operation = operations.draft(context.self(), number, spec);
    operations.create(operation);
    return operation;
  }

  /** Requests that the agent undoes an operation. */
  void cancel(OperationView operation) {
    operations.cancel(operation.operation());
  }

  /** Deletes a finished operation. */
  void release(OperationView operation) {
    operations.release(operation.operation());
  }

  /** Deletes an operation unless an agent has claimed it. */
  void withdraw(OperationView operation) {
    operations.withdraw(operation.operation());
  }

  /** Deletes an operation that its agent will not finish. */
  void abandon(OperationView operation) {
    operations.abandon(operation.operation());
  }

  /**
   * Deletes a failed operation, so that it is created again. The wait grows with the time for which
   * it has been failing.
   *
   * @param since when it was created for the first time
   */
  void retry(CheckpointContext context, OperationView failed, Instant since) {
    Instant end = failed.entered();
    Duration wait =
        new Backoff(context.config().progressEvery(), Backoff.PATIENT).after(since, end);
    if (context.now().isBefore(end.plus(wait))) {
      context.requeueAt(end.plus(wait));
    } else {
      release(failed);
    }
  }

  private static ArtifactReference reference(CheckpointContext context, ArtifactStatus artifact) {
    return new ArtifactReference(
        Objects.requireNonNull(artifact.getStore(), "an artifact has a store"),
        Objects.requireNonNullElseGet(artifact.getLocation(), () -> location(context)),
        context.namespace(),
        Objects.requireNonNullElse(artifact.getUid(), context.uid()),
        artifact.getSha256(),
        artifact.getDurability() == null ? null : context.namespaceObject().getMetadata().getUid());
  }

  /**
   * Returns the location below the root of the store. The uid distinguishes objects of one name.
   */
  private static String location(CheckpointContext context) {
    return context.namespace()
        + "/"
        + context.object().getMetadata().getName()
        + "-"
        + context.uid();
  }

  static @Nullable ObservedPod pod(OperationView view) {
    OperationPod pod = view.operation().getSpec().getPod();
    return pod == null
        ? null
        : new ObservedPod(pod.name(), pod.uid(), pod.containerName(), view.node());
  }

  /** Returns the pod as it was before the freeze. */
  static @Nullable Map<String, Object> template(OperationView view) {
    FreezeOrder freeze = view.operation().getSpec().getFreeze();
    return freeze == null ? null : freeze.getPodTemplate();
  }

  private static Afterwards afterwards(AfterCheckpoint after) {
    return switch (after) {
      case RESUME -> Afterwards.RESUME;
      case SUSPEND -> Afterwards.SUSPEND;
      case EVICT -> Afterwards.HOLD;
      case UNRECOGNIZED -> throw new IllegalArgumentException("afterCheckpoint: " + after);
    };
  }

  /** Returns the rest of the object's deadline; a later suspension has its own. */
  private static TimeSpan left(CheckpointContext context, FreezeAttempt attempt) {
    Duration whole = context.spec().getOptions().getDeadline().duration();
    Instant from = attempt.number() == 1 ? context.created() : context.now();
    Duration left = Duration.between(context.now(), from.plus(whole));
    return TimeSpan.of(left);
  }
}
