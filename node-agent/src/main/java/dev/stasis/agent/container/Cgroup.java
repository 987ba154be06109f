package dev.stasis.agent.container;

import java.nio.file.Path;
import java.util.List;

/**
 * The container's place in one hierarchy.
 *
 * @param controllers the hierarchy's controllers (cgroup v1); empty for the unified one
 * @param hierarchy the folder where the hierarchy is mounted
 * @param folder the cgroup itself, at or below that folder
 */
public record Cgroup(List<String> controllers, Path hierarchy, Path folder) {

  public Cgroup {
    controllers = List.copyOf(controllers);
  }

  public boolean isUnified() {
    return controllers.isEmpty();
  }

  public boolean controls(String controller) {
    return controllers.contains(controller);
  }
}
