package dev.stasis.agent.engine;

import dev.stasis.agent.process.ProcessId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How the device memory of a workload is saved. Chosen before the freeze, and reported to users in
 * advance.
 */
public sealed interface DataPath {

  /**
   * The driver's Checkpoint copies all of it into the processes.
   *
   * @param whyNotDirect the reason, for a workload with the library of the direct path; else null
   */
  record Driver(@Nullable String whyNotDirect) implements DataPath {}

  /**
   * The keeper takes over the large allocations of these processes. The driver's Checkpoint copies
   * the remainder, and all memory of other processes.
   *
   * @param library its path in the container
   * @param bytes the library's count before the freeze
   * @param only whether this path is required: memory was passed to a keeper before, and the driver
   *     would checkpoint it and then fail to restore it
   */
  record Direct(List<ProcessId> processes, String library, long bytes, boolean only)
      implements DataPath {
    public Direct {
      processes = List.copyOf(processes);
    }
  }

  /**
   * Neither is possible: memory was handed to a keeper before, or whether it was is not known, and
   * something rules out the direct path now.
   */
  record None(String why) implements DataPath {}
}
