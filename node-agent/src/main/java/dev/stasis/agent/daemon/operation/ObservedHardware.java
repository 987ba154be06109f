package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.engine.Inspected;
import dev.stasis.agent.engine.PlaceFingerprint;
import dev.stasis.api.text.HumanBytes;
import dev.stasis.api.v1beta1.common.Hardware;
import dev.stasis.api.v1beta1.common.ObservedGpu;
import dev.stasis.compat.Fingerprint;
import dev.stasis.compat.Property;
import dev.stasis.compat.Scope;
import java.util.List;

/** The hardware of a container, in terms of the API. */
final class ObservedHardware {

  private final PlaceFingerprint fingerprints;

  ObservedHardware(PlaceFingerprint fingerprints) {
    this.fingerprints = fingerprints;
  }

  /**
   * The hardware of a workload, with its requirements for another place.
   *
   * @param image id of its image
   */
  Hardware of(Inspected workload, String image) {
    return of(workload.gpus(), workload.seen(), withImage(fingerprints.wanted(workload), image));
  }

  /**
   * The GPUs that a container sees.
   *
   * @param image id of its image
   */
  Hardware of(NodeGpus gpus, List<Gpu> seen, String image) {
    return of(gpus, seen, fingerprint(gpus, seen, image));
  }

  private static Hardware of(NodeGpus gpus, List<Gpu> seen, Fingerprint fingerprint) {
    return new Hardware(
        gpus.driverVersion(),
        seen.stream()
            .map(
                gpu ->
                    new ObservedGpu(
                        gpu.uuid().text(),
                        gpu.model(),
                        gpu.memoryTotal(),
                        new HumanBytes(gpu.memoryTotal()).text(),
                        gpu.pciBusId(),
                        gpu.computeCapability()))
            .toList(),
        fingerprint.value(Property.GPU_INTERCONNECT).orElse(null),
        fingerprint.text(),
        seen.isEmpty() ? null : fingerprint.only(Scope.GPUS).hash());
  }

  /** The offer of a place: its node, its GPUs, its image. */
  Fingerprint fingerprint(NodeGpus gpus, List<Gpu> seen, String image) {
    return withImage(fingerprints.of(gpus, seen), image);
  }

  private static Fingerprint withImage(Fingerprint place, String image) {
    return image.isEmpty() ? place : place.with(Property.IMAGE_DIGEST, image);
  }
}
