package dev.stasis.agent.daemon.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Checks that the kubelet and the container runtime use the same cgroup driver. The kubelet does
 * not report it, but the cgroup of all its pods is a slice with systemd. If the two differ, a pod's
 * memory limit is not the one that applies to its containers.
 *
 * @param cgroups mount point of the cgroups: version 2, or one folder per controller
 */
record CgroupDrivers(Path cgroups) {

  private static final String SYSTEMD = "systemd";

  /** One sentence on the problem; empty if none is known. */
  Optional<String> mismatch(Optional<String> ofRuntime) {
    boolean slice = isThere("kubepods.slice");
    boolean plain = isThere("kubepods");
    if (ofRuntime.isEmpty() || slice == plain) {
      return Optional.empty();
    }
    String ofKubelet = slice ? SYSTEMD : "cgroupfs";
    return ofKubelet.equals(ofRuntime.get())
        ? Optional.empty()
        : Optional.of(
            "cgroup driver of the container runtime: expected %s as for the kubelet, got %s"
                .formatted(ofKubelet, ofRuntime.get()));
  }

  private boolean isThere(String group) {
    if (Files.isDirectory(cgroups.resolve(group))) {
      return true;
    }
    try (Stream<Path> controllers = Files.list(cgroups)) {
      List<Path> all = controllers.toList();
      return all.stream().anyMatch(one -> Files.isDirectory(one.resolve(group)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
