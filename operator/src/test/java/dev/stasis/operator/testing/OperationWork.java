package dev.stasis.operator.testing;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;

/** Looks at each operation that came or changed, one after the other in a thread of its own. */
public final class OperationWork implements ResourceEventHandler<GpuNodeOperation> {

  private final ExecutorService thread = Executors.newSingleThreadExecutor();
  private final Consumer<GpuNodeOperation> look;

  public OperationWork(Consumer<GpuNodeOperation> look) {
    this.look = look;
  }

  /** Looks at it once more, behind what is waiting. */
  public void soon(GpuNodeOperation operation) {
    soon(() -> lookAt(operation));
  }

  public void soon(Runnable some) {
    thread.execute(some);
  }

  private void lookAt(GpuNodeOperation seen) {
    try {
      look.accept(seen);
    } catch (KubernetesClientException e) {
      // Changed or gone meanwhile, or the API server is busy: no change of it may come.
      if (!isOver()) {
        soon(seen);
      }
    }
  }

  @Override
  public void onAdd(GpuNodeOperation operation) {
    soon(operation);
  }

  @Override
  public void onUpdate(GpuNodeOperation before, GpuNodeOperation operation) {
    soon(operation);
  }

  @Override
  public void onDelete(GpuNodeOperation operation, boolean unknown) {}

  public boolean isOver() {
    return thread.isShutdown();
  }

  public void end() {
    thread.shutdownNow();
  }
}
