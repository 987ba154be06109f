package dev.stasis.agent.process;

import java.util.Arrays;
import java.util.List;

/**
 * A process's place in one cgroup hierarchy (a line of {@code /proc/PID/cgroup}).
 *
 * @param hierarchy its number, 0 for the unified one (cgroup v2)
 * @param controllers what it controls ({@code memory}, {@code name=systemd}); empty for v2
 * @param path the cgroup below the hierarchy's root, beginning with a slash
 */
public record CgroupMembership(int hierarchy, List<String> controllers, String path) {

  public CgroupMembership {
    controllers = List.copyOf(controllers);
  }

  public boolean isUnified() {
    return hierarchy == 0;
  }

  static CgroupMembership parse(String line) {
    String[] field = line.split(":", 3);
    if (field.length < 3) {
      throw new IllegalArgumentException("cgroup: expected NUMBER:CONTROLLERS:PATH, got " + line);
    }
    List<String> controllers = field[1].isEmpty() ? List.of() : Arrays.asList(field[1].split(","));
    return new CgroupMembership(Integer.parseInt(field[0]), controllers, field[2]);
  }
}
