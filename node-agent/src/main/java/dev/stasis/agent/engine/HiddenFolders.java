package dev.stasis.agent.engine;

import dev.stasis.agent.process.Mount;
import dev.stasis.compat.Fingerprint;
import dev.stasis.compat.Property;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Folders of /proc and /sys over which container runtimes mount an empty file system. criu's
 * restore fails where the target's kernel lacks such a folder.
 */
final class HiddenFolders {

  /** Those of containerd and CRI-O, but for those of processors. */
  private static final List<String> KNOWN =
      List.of(
          "/proc/acpi",
          "/proc/asound",
          "/proc/scsi",
          "/sys/devices/virtual/powercap",
          "/sys/firmware");

  private static final Pattern THROTTLED =
      Pattern.compile("/sys/devices/system/cpu/cpu([0-9]{1,6})/thermal_throttle");

  /** More processors than Linux supports. */
  private static final int MOST_CPUS = 16_384;

  /** Returns what a node has of them. */
  Fingerprint offered(Path proc) {
    Path root = proc.resolve("self/root");
    int cpus = 0;
    while (cpus < MOST_CPUS
        && Files.isDirectory(root.resolve("sys/devices/system/cpu/cpu" + cpus))
        && Files.isDirectory(
            root.resolve("sys/devices/system/cpu/cpu" + cpus + "/thermal_throttle"))) {
      cpus++;
    }
    return Fingerprint.empty()
        .with(
            Property.HIDDEN_FOLDERS,
            KNOWN.stream()
                .filter(folder -> Files.isDirectory(root.resolve(folder.substring(1))))
                .collect(Collectors.joining(" ")))
        .with(Property.THROTTLED_CPUS, Integer.toString(cpus));
  }

  /** Returns what a container with these mounts has hidden. */
  Fingerprint hidden(List<Mount> mounts) {
    List<String> paths = mounts.stream().map(Mount::mountPoint).toList();
    Fingerprint hidden = Fingerprint.empty();
    String folders = KNOWN.stream().filter(paths::contains).collect(Collectors.joining(" "));
    if (!folders.isEmpty()) {
      hidden = hidden.with(Property.HIDDEN_FOLDERS, folders);
    }
    int cpus =
        paths.stream()
            .map(THROTTLED::matcher)
            .filter(Matcher::matches)
            .mapToInt(cpu -> Integer.parseInt(cpu.group(1)) + 1)
            .max()
            .orElse(0);
    return cpus == 0 ? hidden : hidden.with(Property.THROTTLED_CPUS, Integer.toString(cpus));
  }
}
