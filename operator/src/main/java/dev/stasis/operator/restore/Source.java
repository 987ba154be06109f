package dev.stasis.operator.restore;

import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.common.ArtifactStatus;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.compat.Fingerprint;
import dev.stasis.operator.holder.Sought;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;

/** What the GpuCheckpoint gives. */
sealed interface Source {

  /**
   * All that a restore needs.
   *
   * @param checkpoint the object, Ready
   * @param artifact where it lies
   * @param image of the workload, as a target has to name it
   * @param pod as it was frozen
   * @param container the one that was frozen
   * @param argv its command line; needed only where the pod has no command
   * @param wanted what a place must have
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

    /** The place that it needs. */
    Sought sought() {
      return new Sought(wanted, image, pod, container, node(), artifact.getNode());
    }

    /** Node on which it was frozen; empty text when nobody wrote it down. */
    String node() {
      return checkpoint.getStatus().getPod() == null
              || checkpoint.getStatus().getPod().node() == null
          ? ""
          : checkpoint.getStatus().getPod().node();
    }
  }

  /** It may still come. */
  record NotYet(Reason reason, String sentence) implements Source {}

  /** It never will. */
  record Never(Fault fault) implements Source {}
}
