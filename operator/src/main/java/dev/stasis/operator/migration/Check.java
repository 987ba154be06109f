package dev.stasis.operator.migration;

import dev.stasis.api.v1beta1.GpuCheckpointStore;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The state of the source that is known without its agent. */
sealed interface Check {

  /**
   * The migration can be tried.
   *
   * @param pod the source
   * @param container the workload's container
   * @param store the store to use
   * @param maxFrozen maximum freeze time; empty if there is no limit
   * @param namespaceUid uid of the namespace, if known
   */
  record Admitted(
      Pod pod,
      String container,
      GpuCheckpointStore store,
      Optional<Duration> maxFrozen,
      @Nullable String namespaceUid)
      implements Check {}

  /** The migration is refused. */
  record Refused(List<Fault> faults) implements Check {
    public Refused {
      faults = List.copyOf(faults);
    }
  }

  /** The migration must wait. */
  record Wait(Reason reason, String sentence) implements Check {}

  /** The migration is no longer requested. */
  record Done() implements Check {}
}
