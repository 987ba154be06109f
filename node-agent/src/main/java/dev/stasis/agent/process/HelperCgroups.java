package dev.stasis.agent.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The cgroups of helpers that must outlive the agent: criu's dump, the mover, the guard, the driver
 * worker. The runtime kills every process in the cgroup of the agent's container when the container
 * ends, and so does the kernel when the container is out of memory.
 */
public final class HelperCgroups {

  /**
   * One cgroup in each hierarchy, below its root, where neither kubelet nor runtime expects
   * processes.
   */
  public static final String NAME = "stasis-helpers";

  /**
   * Losing a helper in the middle of its work costs more than losing a container. -1000 would
   * exempt it from the OOM killer entirely.
   */
  private static final String OOM_SCORE_ADJ = "-900";

  private final ProcFs proc;
  private final Path root;

  public HelperCgroups() {
    this(new ProcFs(), Path.of("/sys/fs/cgroup"));
  }

  HelperCgroups(ProcFs proc, Path root) {
    this.proc = proc;
    this.root = root;
  }

  /**
   * Returns the command line that runs a helper outside the agent's container, in a session of its
   * own.
   *
   * @param runtime the program {@code stasis-runtime}
   * @param helper the helper and its first arguments; the caller adds the others
   */
  public List<String> command(Path runtime, String... helper) {
    List<String> command = new ArrayList<>(List.of(runtime.toString(), "enter"));
    command.addAll(enterOptions());
    command.add("--");
    command.addAll(List.of(helper));
    return command;
  }

  /**
   * Returns the options of {@code stasis-runtime enter} that place a helper. All of them are best
   * effort: a helper in the agent's own cgroup is better than none.
   */
  public List<String> enterOptions() {
    List<String> options = new ArrayList<>();
    folders().forEach(folder -> options.addAll(List.of("--try-cgroup", folder.toString())));
    options.addAll(List.of("--try-oom-score-adj", OOM_SCORE_ADJ));
    return options;
  }

  /** One for each hierarchy in which this process is not already at the root. */
  List<Path> folders() {
    return proc.cgroups((int) ProcessHandle.current().pid()).stream()
        .filter(membership -> !membership.path().equals("/"))
        .map(this::folder)
        .filter(folder -> Files.isWritable(folder.resolve("cgroup.procs")))
        .toList();
  }

  private Path folder(CgroupMembership membership) {
    Path hierarchy = hierarchy(membership);
    if (membership.controllers().contains("cpuset")) {
      return hierarchy; // A new cpuset has no processors, so that no process can join it.
    }
    Path own = hierarchy.resolve(NAME);
    try {
      Files.createDirectories(own);
      return own;
    } catch (IOException e) {
      return hierarchy; // The root accepts processes too; they are only not accounted separately.
    }
  }

  private Path hierarchy(CgroupMembership membership) {
    if (!membership.isUnified()) {
      return root.resolve(String.join(",", membership.controllers()).replace("name=", ""));
    }
    // Beside version 1 hierarchies, the unified hierarchy has its own mount point.
    Path hybrid = root.resolve("unified");
    return Files.isDirectory(hybrid) ? hybrid : root;
  }
}
