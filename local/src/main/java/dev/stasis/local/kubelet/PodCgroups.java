package dev.stasis.local.kubelet;

import dev.stasis.local.host.HostProgram;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The cgroups of pods, below our own. A pod's own cgroup has no limit; those of its containers
 * have.
 *
 * @param parent name of the cgroup that holds all pods
 */
record PodCgroups(String parent, HostProgram host) {

  private static final Path TOP = Path.of("/sys/fs/cgroup");

  String of(String podUid, String containerId) {
    return "/" + parent + "/pod" + podUid + "/" + containerId;
  }

  /** Removes the cgroup of a pod after its containers are gone. */
  void remove(String podUid) {
    for (Path hierarchy : hierarchies()) {
      Path pod = hierarchy.resolve(parent).resolve("pod" + podUid);
      if (Files.isDirectory(pod)) {
        host.attempt("rmdir", pod.toString());
      }
    }
  }

  void removeAll() {
    for (Path hierarchy : hierarchies()) {
      Path all = hierarchy.resolve(parent);
      if (Files.isDirectory(all)) {
        host.attempt("find", all.toString(), "-depth", "-type", "d", "-exec", "rmdir", "{}", "+");
      }
    }
  }

  /** With version 1 there is one for each controller, with version 2 one for all. */
  private static List<Path> hierarchies() {
    List<Path> all = new ArrayList<>(List.of(TOP));
    try (Stream<Path> folders = Files.list(TOP)) {
      folders.filter(Files::isDirectory).forEach(all::add);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return all;
  }
}
