package dev.stasis.local.gate;

import java.nio.file.Path;
import java.util.Optional;

/** Where the output of containers is. */
@FunctionalInterface
public interface PodLogs {

  /**
   * The output of a container's newest attempt.
   *
   * @param container empty for the pod's first
   */
  Optional<Log> find(String namespace, String pod, String container);

  /**
   * @param file all that it has printed
   * @param pid of its first process, or of one that has ended
   */
  record Log(Path file, long pid) {}
}
