package dev.stasis.agent.criu;

import dev.stasis.agent.process.ProcessId;
import dev.stasis.agent.process.RuntimeQuestion;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads the seccomp filters of a process by {@code stasis-runtime filters}. */
public final class SeccompFilterReader {

  /** The runtime gives a container one or two filters, and its threads have the same. */
  private static final int MOST = 1024;

  private static final String THREAD = "thread ";

  private final Path runtime;

  public SeccompFilterReader(Path runtime) {
    this.runtime = runtime;
  }

  /**
   * Returns the filters of the main thread, oldest first. The process is stopped briefly.
   *
   * @throws IOException if they cannot be read, with the reason
   */
  public List<SeccompProgram> read(ProcessId process) throws IOException, InterruptedException {
    List<SeccompProgram> filters = new ArrayList<>();
    for (String line : new RuntimeQuestion(runtime, "filters", MOST).ask(process)) {
      filters.add(SeccompProgram.of(line));
    }
    return filters;
  }

  /**
   * Returns the filters of all threads, oldest first, by one thread for each set. Each thread is
   * stopped briefly; threads that were stopped before stay stopped.
   *
   * @throws IOException if they cannot be read, with the reason
   */
  public Map<String, List<SeccompProgram>> threads(ProcessId process)
      throws IOException, InterruptedException {
    Map<String, List<SeccompProgram>> threads = new LinkedHashMap<>();
    List<SeccompProgram> filters = new ArrayList<>();
    for (String line : new RuntimeQuestion(runtime, "filters", MOST).ask(process, "--threads")) {
      if (line.startsWith(THREAD)) {
        filters = new ArrayList<>();
        threads.put(line, filters);
      } else {
        filters.add(SeccompProgram.of(line));
      }
    }
    return threads;
  }
}
