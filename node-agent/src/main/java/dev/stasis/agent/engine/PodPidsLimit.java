package dev.stasis.agent.engine;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/**
 * Reads how many processes and threads the kubelet lets a pod have, from the cgroup of any pod: the
 * kubelet gives all of them the same limit.
 */
final class PodPidsLimit {

  /** Linux gives out no higher process id. */
  private static final long NONE = 4_194_304;

  /** The name holds the pod's uid: pod0e1f..., kubepods-burstable-pod0e1f....slice. */
  private static final Pattern POD =
      Pattern.compile(".*pod[0-9a-f]{8}[0-9a-f_-]{24,28}(\\.slice)?");

  private final Path cgroups;

  /**
   * A reader.
   *
   * @param cgroups where the host's cgroups are mounted
   */
  PodPidsLimit(Path cgroups) {
    this.cgroups = cgroups;
  }

  /** Returns a number above every possible one where there is no limit, or no pod. */
  long read() {
    for (String hierarchy : List.of("", "pids")) {
      for (String pods : List.of("kubepods.slice", "kubepods")) {
        OptionalLong limit = below(cgroups.resolve(hierarchy).resolve(pods), true);
        if (limit.isPresent()) {
          return limit.getAsLong();
        }
      }
    }
    return NONE;
  }

  /** Pods that are guaranteed their resources lie in the folder itself, others in one of theirs. */
  private static OptionalLong below(Path folder, boolean classes) {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, Files::isDirectory)) {
      for (Path entry : entries) {
        boolean pod = POD.matcher(String.valueOf(entry.getFileName())).matches();
        OptionalLong limit =
            pod ? limit(entry) : classes ? below(entry, false) : OptionalLong.empty();
        if (limit.isPresent()) {
          return limit;
        }
      }
    } catch (IOException | DirectoryIteratorException e) {
      return OptionalLong.empty(); // No such hierarchy here, or the pod has ended.
    }
    return OptionalLong.empty();
  }

  private static OptionalLong limit(Path pod) throws IOException {
    Path file = pod.resolve("pids.max");
    if (!Files.exists(file)) {
      return OptionalLong.empty();
    }
    String text = Files.readString(file).trim();
    return OptionalLong.of(text.matches("[0-9]{1,18}") ? Long.parseLong(text) : NONE);
  }
}
