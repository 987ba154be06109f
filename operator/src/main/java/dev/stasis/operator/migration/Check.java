package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.GpuCheckpointStore;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What is known of the source without asking its agent. */
sealed interface Check {

  /**
   * It can be tried.
   *
   * @param pod the source
   * @param container the workload's
   * @param store through which it goes
   * @param maxFrozen how long it may stand still; empty: as long as it takes
   * @param namespaceUid uid of the namespace, where it is known
   */
  record Admitted(
      Pod pod,
      String container,
      GpuCheckpointStore store,
      Optional<Duration> maxFrozen,
      @Nullable String namespaceUid)
      implements Check {}

  /** It cannot be done. */
  record Refused(List<Fault> faults) implements Check {
    public Refused {
      faults = List.copyOf(faults);
    }
  }

  /** It cannot be done now. */
  record Wait(Reason reason, String sentence) implements Check {}

  /** Nobody asks any more. */
  record Done() implements Check {}
}
