package dev.stasis.operator.metric;

import dev.stasis.api.v1beta1.GpuMigration;
import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.Phase;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.cluster.Informers;
import io.fabric8.kubernetes.api.model.HasMetadata;
import jakarta.inject.Singleton;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Counts a completion when the watch shows that it was written, and therefore once: a
 * reconciliation with a failed write, or with an outdated status, is repeated.
 */
@Singleton
public class CompletionMetrics {

  private record Due(String phase, Runnable count) {}

  /** The pending counts of each object's last reconciliation, by uid. */
  private final Map<String, Due> due = new ConcurrentHashMap<>();

  public CompletionMetrics(Informers informers) {
    informers.listen(GpuRestore.class, this::look);
    informers.listen(GpuMigration.class, this::look);
  }

  /**
   * Called before the status is written.
   *
   * @param phase the phase that the object enters
   * @param count called once the phase is written; never if it is not
   */
  public void onceWritten(HasMetadata object, String phase, Runnable count) {
    due.put(object.getMetadata().getUid(), new Due(phase, count));
  }

  void look(Changed<? extends HasMetadata> change) {
    String uid = change.subject().getMetadata().getUid();
    if (change.after().isEmpty()) {
      due.remove(uid);
      return;
    }
    Due wanted = due.get(uid);
    if (wanted != null
        && wanted.phase().equals(phase(change.after()))
        && !wanted.phase().equals(phase(change.before()))
        && due.remove(uid, wanted)) {
      wanted.count().run();
    }
  }

  /** Empty: it has no phase, or did not exist. */
  private static String phase(Optional<? extends HasMetadata> object) {
    Phase<?> phase = null;
    if (object.orElse(null) instanceof GpuRestore restore && restore.getStatus() != null) {
      phase = restore.getStatus().getPhase();
    } else if (object.orElse(null) instanceof GpuMigration move && move.getStatus() != null) {
      phase = move.getStatus().getPhase();
    }
    return phase == null ? "" : phase.value();
  }
}
