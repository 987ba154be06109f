package dev.stasis.operator.trace;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.ConditionedStatus;
import dev.stasis.api.v1beta1.common.Phase;
import dev.stasis.api.v1beta1.common.PhaseTime;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The phases that a request has passed through.
 *
 * @param phases in order
 * @param message the message of its status
 */
record PhaseHistory(List<Entered> phases, String message) {

  /** Phases in which a request rests or ends; later phases are not part of its trace. */
  private static final Set<String> ENDS =
      Set.of("Ready", "Suspended", "Explained", "Succeeded", "Failed", "Cancelled", "RolledBack");

  /** A phase, and when it was entered. */
  record Entered(String phase, Instant at) {}

  static PhaseHistory of(HasMetadata request) {
    if (request instanceof GpuCheckpoint checkpoint) {
      var status = checkpoint.getStatus();
      return of(status, status == null ? null : status.getPhases());
    }
    if (request instanceof GpuRestore restore) {
      var status = restore.getStatus();
      return of(status, status == null ? null : status.getPhases());
    }
    var status = ((GpuMigration) request).getStatus();
    return of(status, status == null ? null : status.getPhases());
  }

  private static <P extends Enum<P> & Phase<P>> PhaseHistory of(
      @Nullable ConditionedStatus status, @Nullable List<PhaseTime<P>> phases) {
    return new PhaseHistory(
        Objects.requireNonNullElse(phases, List.<PhaseTime<P>>of()).stream()
            .map(one -> new Entered(one.phase().value(), one.time()))
            .toList(),
        status == null ? "" : String.valueOf(status.getMessage()));
  }

  boolean isOver() {
    return !phases.isEmpty() && ENDS.contains(last().phase());
  }

  Entered last() {
    return phases.get(phases.size() - 1);
  }
}
