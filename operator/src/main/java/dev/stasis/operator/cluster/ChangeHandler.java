package dev.stasis.operator.cluster;

import io.fabric8.kubernetes.client.informers.ResourceEventHandler;

/** Called for every change. */
public record ChangeHandler<R>(Runnable call) implements ResourceEventHandler<R> {

  @Override
  public void onAdd(R added) {
    call.run();
  }

  @Override
  public void onUpdate(R before, R after) {
    call.run();
  }

  @Override
  public void onDelete(R gone, boolean finalStateUnknown) {
    call.run();
  }
}
