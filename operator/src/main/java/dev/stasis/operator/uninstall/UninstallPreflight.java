package dev.stasis.operator.uninstall;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.checkpoint.CheckpointPhase;
import dev.stasis.api.v1beta1.checkpoint.DesiredState;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.node.FrozenWorkload;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.operation.OperationView;
import dev.stasis.operator.status.BroughtBack;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.CurrentPhase;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/** Finds what prevents an uninstall: frozen workloads, and workloads that exist only in a store. */
public final class UninstallPreflight {

  private final InstalledResources installed;

  /** Uses these resources. */
  public UninstallPreflight(InstalledResources installed) {
    this.installed = installed;
  }

  /**
   * Returns what prevents an uninstall that is not forced: evicted workloads, operations, and
   * workloads that were frozen when their node was removed.
   */
  public List<Blocker> blockers() {
    List<Blocker> blockers = new ArrayList<>();
    for (GpuCheckpoint checkpoint : installed.checkpoints()) {
      if (isOnlyCopy(checkpoint)) {
        String name = checkpoint.getMetadata().getName();
        blockers.add(
            new Blocker(
                title(checkpoint)
                    + " is the only copy of the evicted pod "
                    + checkpoint.getSpec().podName(),
                "kubectl stasis restore " + name + in(checkpoint) + " --wait",
                "its artifact stays in its store, and the pod can be restored after Stasis is"
                    + " installed again"));
      }
    }
    for (GpuNodeOperation operation : installed.operations()) {
      if (isWork(operation)) {
        var requester = operation.getSpec().getRequester();
        blockers.add(
            new Blocker(
                operation.getSpec().getType().value()
                    + " on node "
                    + operation.getSpec().getNodeName()
                    + " for "
                    + requester.kind()
                    + " "
                    + requester.namespace()
                    + "/"
                    + requester.name()
                    + " is not finished",
                remedy(
                    operation.getSpec().getType(),
                    requester.name() + " -n " + requester.namespace()),
                givenUp(operation)));
      }
    }
    for (GpuNode node : installed.nodes()) {
      if (isRemoved(node)) {
        blockers.add(
            new Blocker(
                "GpuNode "
                    + node.getMetadata().getName()
                    + " reports that "
                    + String.join(" and ", frozen(node))
                    + ", but the node was removed",
                "kubectl delete gpunode " + node.getMetadata().getName(),
                "if the machine still runs, its workloads stay frozen until thawed on it"));
      }
    }
    return blockers;
  }

  /** A checkpoint that is Ready is not cancelled, although its upload continues. */
  private static String remedy(OperationType type, String object) {
    return type == OperationType.UPLOAD
        ? "wait until its condition Stored is True, or: kubectl delete gpucheckpoint "
            + object
            + " (this also deletes its artifact, unless options.deletionPolicy is Retain)"
        : "kubectl stasis cancel " + object;
  }

  private static String givenUp(GpuNodeOperation operation) {
    return operation.getSpec().getType() == OperationType.UPLOAD
        ? "the upload stops; until Stasis is installed again and continues it, the artifact is only"
            + " on the disk of node "
            + operation.getSpec().getNodeName()
        : "the request is cancelled, and the uninstall waits until the operation ends";
  }

  /** Returns the steps that resume suspended workloads. */
  public List<Step> resumes() {
    return installed.checkpoints().stream()
        .filter(UninstallPreflight::isSuspended)
        .map(one -> Step.resume(one.getMetadata().getNamespace(), one.getMetadata().getName()))
        .toList();
  }

  /** Returns the steps that cancel requests in progress, for a forced uninstall. */
  public List<Step> cancels() {
    List<Step> steps = new ArrayList<>();
    installed.checkpoints().stream()
        .filter(one -> !isOver(one) && !isSuspended(one))
        .forEach(one -> steps.add(cancel(one)));
    installed.restores().stream()
        .filter(one -> !CurrentPhase.of(one).successors().isEmpty())
        .forEach(one -> steps.add(cancel(one)));
    installed.migrations().stream()
        .filter(one -> !CurrentPhase.of(one).successors().isEmpty())
        .forEach(one -> steps.add(cancel(one)));
    return steps;
  }

  /**
   * Returns descriptions of frozen workloads and operations in progress; empty if Stasis can be
   * removed.
   *
   * @param force whether uploads, and workloads on removed nodes, are not waited for
   */
  public List<String> pending(boolean force) {
    List<String> pending = new ArrayList<>();
    installed.nodes().stream()
        .filter(one -> !force || !isRemoved(one))
        .forEach(one -> pending.addAll(frozen(one)));
    installed.operations().stream()
        .filter(UninstallPreflight::isWork)
        .filter(one -> !force || one.getSpec().getType() != OperationType.UPLOAD)
        .forEach(
            one -> pending.add("operation " + one.getMetadata().getName() + " is not finished"));
    installed.checkpoints().stream()
        .filter(UninstallPreflight::isUnfinished)
        .forEach(one -> pending.add(title(one) + " is " + CurrentPhase.of(one)));
    return pending;
  }

  private boolean isRemoved(GpuNode node) {
    return installed.removedNodes().contains(node.getMetadata().getName());
  }

  private static List<String> frozen(GpuNode node) {
    List<FrozenWorkload> frozen = node.getStatus() == null ? null : node.getStatus().getFrozen();
    return Objects.requireNonNullElse(frozen, List.<FrozenWorkload>of()).stream()
        .map(
            one ->
                "pod "
                    + one.pod().namespace()
                    + "/"
                    + one.pod().name()
                    + " on node "
                    + node.getMetadata().getName()
                    + " is "
                    + Objects.requireNonNullElse(one.state(), "frozen"))
        .toList();
  }

  /**
   * Returns whether the workload is suspended, or may be evicted: when the operation of an eviction
   * ends, the status of its checkpoint has not yet reported that its artifact is the only copy.
   */
  private static boolean isUnfinished(GpuCheckpoint checkpoint) {
    return switch (CurrentPhase.of(checkpoint)) {
      case SUSPENDED, RESUMING -> true;
      case FREEZING, SAVING -> checkpoint.getSpec().getAfterCheckpoint() == AfterCheckpoint.EVICT;
      case PENDING, IMPORTING, READY, EXPLAINED, FAILED, CANCELLED, UNRECOGNIZED -> false;
    };
  }

  private static Step cancel(HasMetadata object) {
    return Step.cancel(
        object.getKind(), object.getMetadata().getNamespace(), object.getMetadata().getName());
  }

  /** Nothing is lost with an explanation, or with an artifact that is deleted later. */
  private static boolean isWork(GpuNodeOperation operation) {
    boolean explains =
        operation.getSpec().getFreeze() != null
            && Boolean.TRUE.equals(operation.getSpec().getFreeze().getDryRun());
    return !OperationView.of(operation).isFinal()
        && !explains
        && operation.getSpec().getType() != OperationType.DELETE_ARTIFACT
        && operation.getSpec().getType() != OperationType.RETAIN_ARTIFACT
        && operation.getSpec().getType() != OperationType.VERIFY
        && operation.getSpec().getType() != OperationType.RESUME;
  }

  private boolean isOnlyCopy(GpuCheckpoint checkpoint) {
    if (CurrentPhase.of(checkpoint) != CheckpointPhase.READY) {
      return false;
    }
    return Conditions.of(checkpoint.getStatus()).isEvicted()
        && installed.restores().stream().noneMatch(it -> brought(it, checkpoint));
  }

  private static boolean brought(GpuRestore restore, GpuCheckpoint checkpoint) {
    return restore.getMetadata().getNamespace().equals(checkpoint.getMetadata().getNamespace())
        && restore.getSpec().checkpointName().equals(checkpoint.getMetadata().getName())
        && new BroughtBack(checkpoint).by(restore, Set.of(RestorePhase.SUCCEEDED));
  }

  private static boolean isSuspended(GpuCheckpoint checkpoint) {
    return checkpoint.getSpec().getAfterCheckpoint() == AfterCheckpoint.SUSPEND
        && CurrentPhase.of(checkpoint) == CheckpointPhase.SUSPENDED
        && checkpoint.getSpec().getDesiredState() != DesiredState.RUNNING;
  }

  private static boolean isOver(GpuCheckpoint checkpoint) {
    return switch (CurrentPhase.of(checkpoint)) {
      case READY, EXPLAINED, FAILED, CANCELLED -> true;
      case PENDING, FREEZING, SAVING, RESUMING, SUSPENDED, IMPORTING, UNRECOGNIZED -> false;
    };
  }

  private static String title(GpuCheckpoint checkpoint) {
    return "GpuCheckpoint "
        + checkpoint.getMetadata().getNamespace()
        + "/"
        + checkpoint.getMetadata().getName();
  }

  private static String in(GpuCheckpoint checkpoint) {
    return " -n " + checkpoint.getMetadata().getNamespace();
  }
}
