package dev.stasis.operator.restore;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.Room;
import dev.stasis.api.v1beta1.operation.ArtifactReference;
import dev.stasis.compat.Fingerprint;
import dev.stasis.operator.holder.Sought;
import dev.stasis.operator.room.RoomPlan;
import dev.stasis.operator.room.TargetRoom;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The input from the GpuCheckpoint. */
sealed interface Source {

  /**
   * Everything that a restore needs.
   *
   * @param checkpoint the object, Ready
   * @param artifact its location
   * @param image image of the workload, as a target must name it
   * @param pod the pod at the freeze
   * @param container the frozen container
   * @param argv its command line; needed only if the pod has no command
   * @param wanted requirements for the node
   */
  record Ready(
      GpuCheckpoint checkpoint,
      ArtifactStatus artifact,
      String image,
      Pod pod,
      String container,
      List<String> argv,
      Fingerprint wanted)
      implements Source {
    public Ready {
      argv = List.copyOf(argv);
    }

    /** Returns the requirements for the place. */
    Sought sought() {
      return new Sought(wanted, image, pod, container, node(), artifact.getNode());
    }

    /**
     * Returns the reference to the artifact for an agent.
     *
     * @param namespaceUid uid of its namespace, for a remote store
     */
    ArtifactReference reference(@Nullable String namespaceUid) {
      ObjectMeta metadata = checkpoint.getMetadata();
      return new ArtifactReference(
          Objects.requireNonNull(artifact.getStore(), "read before"),
          Objects.requireNonNull(artifact.getLocation(), "read before"),
          metadata.getNamespace(),
          Objects.requireNonNullElse(artifact.getUid(), metadata.getUid()),
          artifact.getSha256(),
          namespaceUid);
    }

    /** Returns the additional memory of a target compared with the source; empty if none. */
    Optional<RoomPlan.Memory> raisedMemory() {
      TargetRoom room = new TargetRoom();
      long gpuBytes = Objects.requireNonNullElse(artifact.getGpuBytes(), 0L);
      Room known = checkpoint.getStatus().getRoom();
      Long needed = known == null ? null : known.neededBytes();
      return room.limit(pod, container)
          .flatMap(
              bytes ->
                  room.raised(
                      pod, container, Objects.requireNonNullElse(needed, bytes + gpuBytes)));
    }

    /** The node of the freeze; empty if unknown. */
    String node() {
      return checkpoint.getStatus().getPod() == null
              || checkpoint.getStatus().getPod().node() == null
          ? ""
          : checkpoint.getStatus().getPod().node();
    }
  }

  /** It may become available. */
  record NotYet(Reason reason, String sentence) implements Source {}

  /** It never becomes available. */
  record Never(Fault fault) implements Source {}
}
