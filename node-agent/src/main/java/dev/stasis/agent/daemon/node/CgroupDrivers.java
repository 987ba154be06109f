package dev.stasis.agent.daemon.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Whether the kubelet and the container runtime have the same one make control groups. The kubelet
 * does not say; but the group of all its pods is a slice where it is systemd. Where the two differ
 * a pod's memory limit is not the one that its containers live under.
 *
 * @param cgroups where the control groups are mounted: of version 2, or one folder a controller
 */
record CgroupDrivers(Path cgroups) {

  private static final String SYSTEMD = "systemd";

  /** What is wrong, in one sentence; empty as long as nothing is known to be. */
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
            "cgroup driver: wanted the kubelet's (%s) of the container runtime, found %s"
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
