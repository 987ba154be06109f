package dev.stasis.agent.engine;

import dev.stasis.agent.direct.Gate;
import dev.stasis.agent.direct.KeeperFailure;
import dev.stasis.agent.direct.Keepers;
import dev.stasis.agent.process.ProcessId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the data path of a running workload. For one without the library only its mappings are
 * read.
 */
final class DataPathChooser {

  private final Keepers keepers;
  private final WayBack wayBack;

  DataPathChooser(Keepers keepers, WayBack wayBack) {
    this.keepers = keepers;
    this.wayBack = wayBack;
  }

  DataPath choose(CheckpointRequest request, List<ProcessId> cuda) throws InterruptedException {
    CheckpointRequest.DataPathChoice asked = request.options().dataPath();
    Map<ProcessId, Gate> direct = new LinkedHashMap<>();
    String library = "";
    long bytes = 0;
    boolean handed = false;
    @Nullable String against =
        keepers.available() ? null : "expected stasis-keeper on this node, got none";
    if (asked != CheckpointRequest.DataPathChoice.MOVER) {
      against = "data path: expected the default, got " + asked;
    }
    for (ProcessId process : cuda) {
      Optional<String> found = keepers.library(process);
      if (found.isEmpty()) {
        continue;
      }
      library = found.get();
      if (!keepers.available()) {
        // Whether memory was passed on cannot be determined.
        handed |= keepers.active(process);
        continue;
      }
      if (!keepers.active(process)) {
        // A process without a context, such as a launcher that counts the GPUs: it has no memory.
        continue;
      }
      try {
        Gate gate = keepers.look(process);
        handed |= gate.handed();
        if (gate.refused()) {
          against = "process %s uses %s".formatted(process, gate.notes());
        } else if (gate.state() != Gate.State.OPEN) {
          against = "gate of process %s: expected OPEN, got %s".formatted(process, gate.state());
        } else if (gate.blocks() > 0) {
          direct.put(process, gate);
          bytes += gate.bytes();
        }
      } catch (KeeperFailure e) {
        handed = true; // Whether memory was passed on is not known.
        against = e.getMessage();
      }
    }
    if (library.isEmpty()) {
      return new DataPath.Driver(null);
    }
    if (against == null && request.after() != After.SUSPEND) {
      against = noWayBack(direct); // The GPU is empty when a suspended workload resumes.
    }
    if (against != null) {
      return handed ? new DataPath.None(against) : new DataPath.Driver(against);
    }
    return direct.isEmpty()
        ? new DataPath.Driver("expected allocations of 1 MiB or more, got none")
        : new DataPath.Direct(List.copyOf(direct.keySet()), library, bytes, handed);
  }

  private @Nullable String noWayBack(Map<ProcessId, Gate> direct) {
    try {
      return wayBack.missing(direct).orElse(null);
    } catch (StepFailure e) {
      return e.getMessage();
    }
  }
}
