package dev.stasis.operator.store;

import dev.stasis.api.v1beta1.store.ClaimVolume;
import dev.stasis.api.v1beta1.store.VolumeStatus;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaimSpec;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether the claim of a store can be used, and decides which volume is the store's: the one
 * that the first agent reports. It stays the only one for as long as the store exists.
 *
 * @param namespace the operator's namespace, in which the claims of stores are
 */
record ClaimCheck(String namespace) {

  private static final List<String> ACCEPTED = List.of("ReadWriteMany", "ReadWriteOnce");

  /**
   * Returns the volume for the status.
   *
   * @param source the claim in the spec
   * @param claim the claim in the API server
   * @param before the volume in the status
   * @param views what the agents report
   */
  VolumeStatus volume(
      ClaimVolume source,
      Optional<PersistentVolumeClaim> claim,
      @Nullable VolumeStatus before,
      List<StoreFacts.View> views) {
    String id = before == null ? null : before.id();
    if (claim.isEmpty()) {
      return new VolumeStatus(
          id,
          before == null ? null : before.name(),
          before == null ? null : before.accessModes(),
          fault(source, "it in namespace " + namespace, "none; create it"));
    }
    PersistentVolumeClaimSpec spec = claim.get().getSpec();
    List<String> modes = List.copyOf(spec.getAccessModes());
    String message = message(source, claim.get(), modes);
    if (id == null && message == null) {
      // Sorted by node: a repeated decision on the same reports has the same result.
      id =
          views.stream()
              .map(view -> view.seen().volumeId())
              .filter(Objects::nonNull)
              .findFirst()
              .orElse(null);
    }
    return new VolumeStatus(id, spec.getVolumeName(), modes, message);
  }

  private @Nullable String message(
      ClaimVolume source, PersistentVolumeClaim claim, List<String> modes) {
    String phase = claim.getStatus() == null ? "Pending" : claim.getStatus().getPhase();
    if (claim.getMetadata().getDeletionTimestamp() != null) {
      return fault(
          source,
          "a claim that stays",
          "one that is being deleted; its artifacts can still be restored");
    }
    if (modes.stream().noneMatch(ACCEPTED::contains)) {
      return fault(
          source, "access mode ReadWriteMany, or ReadWriteOnce for one node", modes.toString());
    }
    if ("Block".equals(claim.getSpec().getVolumeMode())) {
      return fault(source, "volumeMode Filesystem", "Block");
    }
    if (!"Bound".equals(phase)) {
      return fault(
          source,
          "phase Bound",
          "%s; see kubectl -n %s describe pvc %s".formatted(phase, namespace, source.claimName()));
    }
    return null;
  }

  private static String fault(ClaimVolume source, String expected, String actual) {
    return "persistentVolumeClaim %s: expected %s, got %s"
        .formatted(source.claimName(), expected, actual);
  }
}
