package dev.stasis.e2e.kube;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The processes of this machine whose cgroup bears a name: those of a container, or of a pod.
 *
 * @param name part of the cgroup's path: a container's id, or a pod's uid
 */
record ContainerProcesses(String name) {

  private static final Path PROC = Path.of("/proc");

  /** Their folders below /proc; none, where the node is another machine. */
  List<Path> folders() {
    try (Stream<Path> all = Files.list(PROC)) {
      return all.filter(process -> process.getFileName().toString().matches("[0-9]+"))
          .filter(this::isOne)
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Kills them all. */
  void kill() {
    for (Path process : folders()) {
      ProcessHandle.of(Long.parseLong(process.getFileName().toString()))
          .ifPresent(ProcessHandle::destroyForcibly);
    }
  }

  private boolean isOne(Path process) {
    try {
      String cgroup = Files.readString(process.resolve("cgroup"));
      // systemd's names have no dashes.
      return cgroup.contains(name) || cgroup.contains(name.replace('-', '_'));
    } catch (IOException e) {
      return false; // it has ended meanwhile
    }
  }
}
