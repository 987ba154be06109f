package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.engine.PlaceFingerprint;
import dev.stasis.api.v1alpha1.common.Hardware;
import dev.stasis.api.v1alpha1.common.ObservedGpu;
import dev.stasis.compat.Fingerprint;
import dev.stasis.compat.Property;
import dev.stasis.compat.Scope;
import java.util.List;

/** What a container runs on, in the words of the API. */
final class ObservedHardware {

  private final PlaceFingerprint fingerprints;

  ObservedHardware(PlaceFingerprint fingerprints) {
    this.fingerprints = fingerprints;
  }

  /**
   * The GPUs that a container sees.
   *
   * @param image id of its image
   */
  Hardware of(NodeGpus gpus, List<Gpu> seen, String image) {
    Fingerprint fingerprint = fingerprint(gpus, seen, image);
    return new Hardware(
        gpus.driverVersion(),
        seen.stream()
            .map(
                gpu ->
                    new ObservedGpu(
                        gpu.uuid().text(),
                        gpu.model(),
                        gpu.memoryTotal(),
                        HumanText.size(gpu.memoryTotal()),
                        gpu.pciBusId(),
                        gpu.computeCapability()))
            .toList(),
        fingerprint.value(Property.GPU_INTERCONNECT).orElse(null),
        fingerprint.text(),
        seen.isEmpty() ? null : fingerprint.only(Scope.GPUS).hash());
  }

  /** What a place has: its node, its GPUs, its image. */
  Fingerprint fingerprint(NodeGpus gpus, List<Gpu> seen, String image) {
    Fingerprint place = fingerprints.of(gpus, seen);
    return image.isEmpty() ? place : place.with(Property.IMAGE_DIGEST, image);
  }
}
