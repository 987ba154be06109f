package dev.stasis.operator.prepare;

import dev.stasis.operator.target.Holder;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSecurityContext;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Preloads the library of the direct data path in a container. An init container copies it from the
 * holder's image into an emptyDir, because a restricted namespace allows no hostPath. The library
 * is a file of the workload like any other: a checkpoint contains it, and a restore writes it back.
 */
final class GateLibrary {

  /** Value of the label. */
  static final String DIRECT = "direct";

  /** Name of the init container, and of the volume for the library. */
  static final String NAME = "stasis-gate";

  private static final String FOLDER = "/.stasis-gate";
  private static final String FILE = "/libstasis-gate.so";
  private static final String PRELOAD = "LD_PRELOAD";

  private final String image;

  /**
   * The library of an installation.
   *
   * @param image the holder's image, which also contains the library
   */
  GateLibrary(String image) {
    this.image = image;
  }

  /** Changes a container without an {@code LD_PRELOAD} of its user, and its pod. */
  void into(Pod pod, Container container, Preparation.Record found) {
    Preparation.environment(container, Map.of(PRELOAD, FOLDER + FILE), found);
    boolean mounted =
        container.getVolumeMounts().stream().anyMatch(mount -> mount.getName().equals(NAME));
    if (!found.isSet(container.getName() + "/" + PRELOAD) || mounted) {
      return;
    }
    VolumeMount mount = new VolumeMountBuilder().withName(NAME).withMountPath(FOLDER).build();
    List<VolumeMount> mounts = new ArrayList<>(container.getVolumeMounts());
    mounts.add(mount);
    container.setVolumeMounts(mounts);
    PodSpec spec = pod.getSpec();
    if (spec.getInitContainers().stream().anyMatch(it -> it.getName().equals(NAME))) {
      return;
    }
    List<Container> init = new ArrayList<>(spec.getInitContainers());
    init.add(
        0,
        Holder.installer(
                NAME,
                image,
                List.of("/stasis-runtime", "install", "--dir", FOLDER, "--file", FILE),
                container,
                user(spec))
            .withVolumeMounts(mount)
            .build());
    spec.setInitContainers(init);
    List<Volume> volumes = new ArrayList<>(spec.getVolumes());
    volumes.add(new VolumeBuilder().withName(NAME).withNewEmptyDir().endEmptyDir().build());
    spec.setVolumes(volumes);
  }

  private static @Nullable Long user(PodSpec spec) {
    return Optional.ofNullable(spec.getSecurityContext())
        .map(PodSecurityContext::getRunAsUser)
        .orElse(null);
  }
}
