package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.migration.GpuMigrationStatus;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.operator.operation.OperationView;
import java.util.Optional;
import java.util.stream.Stream;

/** How far it is, in the words of the agent that is at work. */
final class Progress {

  private final GpuMigrationStatus status;

  Progress(GpuMigrationStatus status) {
    this.status = status;
  }

  /** Takes over what the agents say. */
  void of(View view) {
    // The bytes of a stream are known at the end that sends.
    Optional<OperationView> working =
        Stream.of(
                view.work().freeze().filter(it -> !view.isHeld()),
                view.restore(),
                view.work().last(OperationType.SEND),
                view.work().last(OperationType.RECEIVE),
                view.work().freeze())
            .flatMap(Optional::stream)
            .filter(it -> !it.isFinal())
            .findFirst();
    clear();
    working.ifPresent(it -> takeOver(it.status()));
    view.artifact()
        .ifPresent(
            artifact -> {
              status.setBytes(view.isShared() ? Long.valueOf(0) : artifact.getBytes());
              status.setSize(view.isShared() ? "0" : artifact.getSize());
            });
  }

  private void takeOver(GpuNodeOperationStatus said) {
    status.setStep(said.getStep());
    status.setDoneBytes(said.getDoneBytes());
    status.setTotalBytes(said.getTotalBytes());
    status.setProgress(said.getProgress());
    status.setBytesPerSecond(said.getBytesPerSecond());
    status.setRate(said.getRate());
  }

  void clear() {
    status.setStep(null);
    status.setDoneBytes(null);
    status.setTotalBytes(null);
    status.setProgress(null);
    status.setBytesPerSecond(null);
    status.setRate(null);
  }
}
