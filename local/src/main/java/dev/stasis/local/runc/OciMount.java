package dev.stasis.local.runc;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A mount of an OCI configuration. */
public record OciMount(String destination, String type, String source, List<String> options) {

  public OciMount {
    options = List.copyOf(options);
  }

  /** A bind mount of a host folder or file. */
  public static OciMount bind(Path source, String destination, boolean readOnly) {
    return new OciMount(
        destination,
        "bind",
        source.toString(),
        List.of("rbind", "rprivate", readOnly ? "ro" : "rw"));
  }

  /** The default mounts of every container. */
  static List<OciMount> usual() {
    List<String> safe = List.of("nosuid", "noexec", "nodev");
    return List.of(
        new OciMount("/proc", "proc", "proc", safe),
        new OciMount(
            "/dev", "tmpfs", "tmpfs", List.of("nosuid", "strictatime", "mode=755", "size=65536k")),
        new OciMount(
            "/dev/pts",
            "devpts",
            "devpts",
            List.of("nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620")),
        new OciMount("/dev/mqueue", "mqueue", "mqueue", safe),
        new OciMount("/sys", "sysfs", "sysfs", List.of("nosuid", "noexec", "nodev", "ro")));
  }

  Map<String, Object> json() {
    return Map.of("destination", destination, "type", type, "source", source, "options", options);
  }
}
