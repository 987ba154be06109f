package dev.stasis.local.kubelet;

import dev.stasis.agent.daemon.kubelet.PodMount;
import dev.stasis.local.host.HostProgram;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.PodSecurityContext;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The volumes of a pod: emptyDirs, on disk or in memory, and host folders. */
final class PodVolumes {

  private final PodFolder folder;
  private final PodSpec spec;
  private final HostProgram host;

  PodVolumes(PodFolder folder, PodSpec spec, HostProgram host) {
    this.folder = folder;
    this.spec = spec;
    this.host = host;
  }

  void make() throws IOException, PodRefusal {
    for (Volume volume : spec.getVolumes()) {
      if (volume.getEmptyDir() != null) {
        makeEmptyDir(volume);
      } else if (volume.getHostPath() == null) {
        throw PodRefusal.notHere("volume " + volume.getName() + ": a type other than emptyDir");
      }
    }
  }

  private void makeEmptyDir(Volume volume) throws IOException {
    Path path = folder.volume(volume.getName());
    Files.createDirectories(path);
    if ("Memory".equals(volume.getEmptyDir().getMedium())) {
      host.must("mount", "-t", "tmpfs", "-o", "mode=1777", "emptydir", path.toString());
    }
    // As in Kubernetes: any user of a container may write.
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxrwxrwx"));
    PodSecurityContext context = spec.getSecurityContext();
    if (context != null && context.getFsGroup() != null) {
      host.must("chgrp", context.getFsGroup().toString(), path.toString());
      host.must("chmod", "g+s", path.toString());
    }
  }

  /** The mounts of a container. */
  List<PodMount> of(Container container) throws PodRefusal {
    List<PodMount> mounts = new ArrayList<>();
    for (VolumeMount mount : container.getVolumeMounts()) {
      Volume volume =
          spec.getVolumes().stream()
              .filter(it -> it.getName().equals(mount.getName()))
              .findFirst()
              .orElseThrow(
                  () ->
                      new PodRefusal(
                          "CreateContainerConfigError",
                          "volumeMount: expected a volume of the pod, got " + mount.getName()));
      mounts.add(mount(volume, mount));
    }
    return mounts;
  }

  private PodMount mount(Volume volume, VolumeMount mount) {
    boolean own = volume.getEmptyDir() != null;
    Path path = own ? folder.volume(volume.getName()) : Path.of(volume.getHostPath().getPath());
    if (mount.getSubPath() != null && !mount.getSubPath().isEmpty()) {
      path = path.resolve(mount.getSubPath());
    }
    return new PodMount(
        path,
        mount.getMountPath(),
        Boolean.TRUE.equals(mount.getReadOnly()),
        own ? Optional.of(volume.getName()) : Optional.empty());
  }

  void remove() {
    for (Volume volume : spec.getVolumes()) {
      if (volume.getEmptyDir() != null && "Memory".equals(volume.getEmptyDir().getMedium())) {
        host.attempt("umount", "-l", folder.volume(volume.getName()).toString());
      }
    }
  }
}
