package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1alpha1.operation.GpuNodeOperationSpec;
import dev.stasis.api.v1alpha1.operation.OperationPod;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Whether a pod is being deleted. A workload that is ended before that is started anew by the
 * kubelet, cold, so nobody's word is taken for it but the API server's.
 */
final class DeletedPod {

  private static final System.Logger LOG = System.getLogger(DeletedPod.class.getName());

  /** A request takes milliseconds; one that takes longer is not worth the standstill. */
  private static final Duration STANDS_STILL = Duration.ofSeconds(2);

  private final AgentParts parts;

  DeletedPod(AgentParts parts) {
    this.parts = parts;
  }

  /** Refuses an End that comes too early. */
  void require(GpuNodeOperationSpec spec) throws Refused, ApiUnreachable {
    if (!of(Objects.requireNonNull(spec.getPod()))) {
      throw new Refused(
          Faults.of("PodNotDeleted", "pod.metadata.deletionTimestamp", "a time", "none"));
    }
  }

  /**
   * Why what was written of a workload down to this moment would end as soon as it came back: its
   * kubelet has told it to end. The workload stands still meanwhile, so nobody waits for an API
   * server that is away: it cannot tell the kubelet either.
   */
  Optional<String> toldToEnd(OperationPod wanted, Executor executor) throws InterruptedException {
    CompletableFuture<Boolean> look =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return of(wanted);
              } catch (ApiUnreachable e) {
                throw new CompletionException(e);
              }
            },
            executor);
    try {
      return look.get(STANDS_STILL.toMillis(), TimeUnit.MILLISECONDS)
          ? Optional.of(
              "pod.metadata.deletionTimestamp: wanted none before the workload is written down,"
                  + " found one, or that the pod is gone: the workload was told to end meanwhile")
          : Optional.empty();
    } catch (ExecutionException | TimeoutException e) {
      LOG.log(System.Logger.Level.WARNING, "whether pod {0} is deleted: {1}", wanted.name(), e);
      return Optional.empty();
    }
  }

  /** Whether it is, or is gone, or another one has its name. */
  boolean of(OperationPod wanted) throws ApiUnreachable {
    Optional<Pod> found = parts.pods().find(wanted.namespace(), wanted.name());
    return found.isEmpty()
        || !wanted.uid().equals(found.get().getMetadata().getUid())
        || found.get().getMetadata().getDeletionTimestamp() != null;
  }
}
