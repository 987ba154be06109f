package dev.stasis.operator.testing;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.operation.Claim;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Agents without nodes: each operation is claimed, and ends as the test says for its node; one that
 * is cancelled ends Cancelled.
 */
public final class FakeAgent implements AutoCloseable {

  private final KubernetesClient client;
  private final Map<String, Consumer<GpuNodeOperationStatus>> ends = new ConcurrentHashMap<>();
  private final OperationWork work = new OperationWork(this::look);
  private final SharedIndexInformer<GpuNodeOperation> operations;

  public FakeAgent(KubernetesClient client, String namespace) {
    this.client = client;
    this.operations = client.resources(GpuNodeOperation.class).inNamespace(namespace).inform(work);
  }

  /** How operations of that node end; without it they are claimed and run for ever. */
  public void ends(String node, Consumer<GpuNodeOperationStatus> end) {
    ends.put(node, end);
    operations.getStore().list().forEach(operation -> work.soon(operation));
  }

  /** One that fails for that reason, everything undone. */
  public static Consumer<GpuNodeOperationStatus> fails(Outcome outcome, String reason) {
    return status -> {
      status.setPhase(OperationPhase.FAILED);
      status.setOutcome(outcome);
      status.setReason(reason);
      status.setFaults(
          List.of(
              new Fault(
                  reason,
                  "gpu.model",
                  "NVIDIA H200",
                  "NVIDIA H100",
                  null,
                  null,
                  "gpu.model: expected NVIDIA H200, got NVIDIA H100")));
    };
  }

  private void look(GpuNodeOperation seen) {
    var handle =
        client
            .resources(GpuNodeOperation.class)
            .inNamespace(seen.getMetadata().getNamespace())
            .withName(seen.getMetadata().getName());
    GpuNodeOperation operation = handle.get();
    if (operation == null) {
      return;
    }
    GpuNodeOperationStatus status = operation.getStatus();
    if (status != null && status.getPhase() != null && status.getPhase().isFinal()) {
      return;
    }
    Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    GpuNodeOperationStatus next = status == null ? new GpuNodeOperationStatus() : status;
    Consumer<GpuNodeOperationStatus> end = ends.get(operation.getSpec().getNodeName());
    boolean cancelled =
        operation.getSpec().getCancel() || operation.getMetadata().getDeletionTimestamp() != null;
    if (next.getClaimedBy() == null) {
      next.setClaimedBy(new Claim("fake", null, now));
      next.setPhase(OperationPhase.RUNNING);
      next.setStep(
          operation.getSpec().getType() == OperationType.DOWNLOAD ? "download" : "criu-restore");
    } else if (cancelled) {
      next.setPhase(OperationPhase.CANCELLED);
      next.setOutcome(Outcome.UNDONE);
    } else if (end != null) {
      end.accept(next);
    } else {
      return;
    }
    operation.setStatus(next);
    client.resource(operation).updateStatus();
  }

  @Override
  public void close() {
    operations.close();
    work.end();
  }
}
