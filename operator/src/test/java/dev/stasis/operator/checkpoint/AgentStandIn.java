package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.Api;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.CheckpointTimings;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Explanation;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.Hardware;
import dev.stasis.api.v1beta1.common.StoreDurability;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.Claim;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Plays the agent's part on a real API server: it claims and carries out whatever it is told to, as
 * far as it is let.
 */
final class AgentStandIn implements ResourceEventHandler<GpuNodeOperation>, AutoCloseable {

  /** How far a freeze goes by itself. */
  enum Limit {
    UNCLAIMED,
    CLAIMED,
    FROZEN,
    SAVED,
    DONE
  }

  /** Of every artifact: 48.9 GiB. */
  private static final long BYTES = 52_505_706_496L;

  final Set<String> seen = ConcurrentHashMap.newKeySet();
  private final SingleNodeCluster cluster;
  private final Clock clock = Clock.systemUTC();
  private final SharedIndexInformer<GpuNodeOperation> informer;
  private volatile Limit limit = Limit.DONE;
  private volatile @Nullable StoreDurability durability;
  private volatile @Nullable String storeTrouble;
  private volatile boolean findsDamage;

  AgentStandIn(SingleNodeCluster cluster) {
    this.cluster = cluster;
    this.informer =
        cluster
            .client
            .resources(GpuNodeOperation.class)
            .inNamespace(cluster.system)
            .withLabel(Api.NODE_LABEL, cluster.node)
            .inform(this);
  }

  /** Lets it go on so far. */
  void until(Limit further) {
    limit = further;
    informer.getStore().list().forEach(this::work);
  }

  /** Has artifacts uploaded, which the store promises to have before the pod goes. */
  void uploadsTo(StoreDurability promised) {
    durability = promised;
  }

  /** Keeps uploads waiting for that reason; null lets them end. */
  void storeIsAway(@Nullable String why) {
    storeTrouble = why;
    informer.getStore().list().forEach(this::work);
  }

  /** Verifications find damage from now on. */
  void findsDamage(boolean damage) {
    findsDamage = damage;
  }

  @Override
  public void onAdd(GpuNodeOperation operation) {
    seen.add(operation.getMetadata().getName());
    work(operation);
  }

  @Override
  public void onUpdate(GpuNodeOperation before, GpuNodeOperation after) {
    work(after);
  }

  @Override
  public void onDelete(GpuNodeOperation gone, boolean finalStateUnknown) {}

  private synchronized void work(GpuNodeOperation stale) {
    GpuNodeOperation operation = cluster.client.resource(stale).get();
    if (operation == null) {
      return;
    }
    GpuNodeOperationStatus status =
        Objects.requireNonNullElseGet(operation.getStatus(), GpuNodeOperationStatus::new);
    OperationPhase phase = Objects.requireNonNullElse(status.getPhase(), OperationPhase.PENDING);
    if (phase.isFinal() || limit == Limit.UNCLAIMED) {
      return;
    }
    boolean dropped =
        operation.getSpec().getCancel() || operation.getMetadata().getDeletionTimestamp() != null;
    if (dropped) {
      write(
          operation,
          it -> end(it, OperationPhase.CANCELLED, Outcome.UNDONE, WorkloadState.RUNNING));
      return;
    }
    if (phase == OperationPhase.PENDING) {
      write(operation, this::claim);
    } else if (isFreeze(operation)) {
      freeze(operation, phase);
    } else {
      finish(operation);
    }
  }

  private void freeze(GpuNodeOperation operation, OperationPhase phase) {
    String step = Objects.requireNonNullElse(operation.getStatus().getStep(), "");
    if (limit.ordinal() >= Limit.FROZEN.ordinal() && phase == OperationPhase.CLAIMED) {
      write(operation, it -> step(it, "lock"));
    } else if (limit.ordinal() >= Limit.SAVED.ordinal() && step.equals("lock")) {
      write(operation, it -> step(it, "dump"));
    } else if (limit == Limit.DONE && step.equals("dump") && phase == OperationPhase.RUNNING) {
      Afterwards afterwards =
          Objects.requireNonNull(operation.getSpec().getFreeze()).getAfterwards();
      write(
          operation,
          it -> {
            publish(operation, it);
            if (afterwards == Afterwards.HOLD) {
              it.setPhase(OperationPhase.HELD);
            } else {
              boolean stays =
                  afterwards == Afterwards.SUSPEND
                      || operation.getSpec().getType() == OperationType.SUSPEND;
              end(
                  it,
                  OperationPhase.SUCCEEDED,
                  Outcome.DONE,
                  stays ? WorkloadState.SUSPENDED : WorkloadState.RUNNING);
            }
          });
    }
  }

  /** What brings back or ends is done at once, and so is the operation that it names. */
  private void finish(GpuNodeOperation operation) {
    if (operation.getSpec().getType() == OperationType.IMPORT) {
      write(operation, it -> imported(operation, it));
      return;
    }
    if (operation.getSpec().getType() == OperationType.UPLOAD) {
      upload(operation);
      return;
    }
    if (operation.getSpec().getType() == OperationType.VERIFY && findsDamage) {
      write(operation, AgentStandIn::damaged);
      return;
    }
    WorkloadState left =
        operation.getSpec().getType() == OperationType.END
            ? WorkloadState.ENDED
            : WorkloadState.RUNNING;
    write(operation, it -> end(it, OperationPhase.SUCCEEDED, Outcome.DONE, left));
    informer.getStore().list().stream()
        .filter(
            held ->
                held.getMetadata().getName().equals(operation.getSpec().getOfOperation())
                    && held.getStatus().getPhase() == OperationPhase.HELD)
        .forEach(held -> write(held, it -> end(it, OperationPhase.SUCCEEDED, Outcome.DONE, left)));
  }

  private void upload(GpuNodeOperation operation) {
    String trouble = storeTrouble;
    if (trouble != null) {
      if (!trouble.equals(operation.getStatus().getMessage())) {
        write(
            operation,
            it -> {
              it.setPhase(OperationPhase.RUNNING);
              it.setMessage(trouble);
            });
      }
      return;
    }
    write(
        operation,
        it -> {
          publish(operation, it);
          ArtifactStatus artifact = Objects.requireNonNull(it.getArtifact());
          artifact.setNode(null);
          artifact.setStoredBytes(BYTES / 2);
          artifact.setNewBytes(BYTES / 10);
          it.setTimings(null);
          it.setMessage(null);
          it.setPhase(OperationPhase.SUCCEEDED);
          it.setOutcome(Outcome.DONE);
        });
  }

  private static void damaged(GpuNodeOperationStatus status) {
    status.setPhase(OperationPhase.FAILED);
    status.setOutcome(Outcome.UNDONE);
    status.setMessage("chunk 3 of pages-1.img: expected the bytes that were written");
    status.setFaults(
        List.of(
            new Fault(
                "ArtifactDamaged",
                null,
                null,
                null,
                "verify",
                null,
                "chunk 3 of pages-1.img: expected the bytes that were written")));
  }

  private static boolean isFreeze(GpuNodeOperation operation) {
    OperationType type = operation.getSpec().getType();
    return type == OperationType.CHECKPOINT || type == OperationType.SUSPEND;
  }

  private void claim(GpuNodeOperationStatus status) {
    status.setPhase(OperationPhase.CLAIMED);
    status.setClaimedBy(new Claim("agent", "boot-1", clock.instant()));
    status.setHardware(new Hardware("580.1", null, "None", Samples.FINGERPRINT, "h"));
    status.setExplanation(new Explanation(null, null, BYTES, null, null, null, null, null));
  }

  private static void step(GpuNodeOperationStatus status, String step) {
    status.setPhase(OperationPhase.RUNNING);
    status.setStep(step);
    status.setWorkload(WorkloadState.FROZEN);
  }

  private void publish(GpuNodeOperation operation, GpuNodeOperationStatus status) {
    if (operation.getSpec().getArtifact() == null) {
      return;
    }
    ArtifactStatus artifact = new ArtifactStatus();
    artifact.setStore(cluster.store);
    artifact.setNode(cluster.node);
    artifact.setLocation(operation.getSpec().getArtifact().location());
    artifact.setBytes(BYTES);
    artifact.setSha256("a".repeat(64));
    artifact.setDurability(durability);
    status.setArtifact(artifact);
    CheckpointTimings timings = new CheckpointTimings();
    timings.setFrozenMilliseconds(14_100L);
    status.setTimings(timings);
  }

  /** Every byte of it is right. */
  private void imported(GpuNodeOperation operation, GpuNodeOperationStatus status) {
    publish(operation, status);
    Objects.requireNonNull(status.getArtifact()).setUid("uid-0");
    Objects.requireNonNull(status.getArtifact())
        .setNamespaceUid(Objects.requireNonNull(operation.getSpec().getExpected()).namespaceUid());
    status.setTimings(null);
    status.setContainerName("main");
    status.setArgv(List.of("python", "train.py"));
    status.setPodTemplate(ImportReportTest.pod(Map.of()));
    status.setPhase(OperationPhase.SUCCEEDED);
    status.setOutcome(Outcome.DONE);
  }

  private static void end(
      GpuNodeOperationStatus status, OperationPhase phase, Outcome outcome, WorkloadState left) {
    status.setPhase(phase);
    status.setOutcome(outcome);
    status.setWorkload(left);
    status.setSourceRunning(
        left == WorkloadState.RUNNING ? ConditionValue.TRUE : ConditionValue.FALSE);
  }

  private void write(GpuNodeOperation operation, Consumer<GpuNodeOperationStatus> change) {
    try {
      cluster
          .client
          .resource(operation)
          .editStatus(
              it -> {
                if (it.getStatus() == null) {
                  it.setStatus(new GpuNodeOperationStatus());
                }
                change.accept(it.getStatus());
                return it;
              });
    } catch (KubernetesClientException e) {
      // Gone or changed meanwhile: its next event says so.
    }
  }

  @Override
  public void close() {
    informer.stop();
  }
}
