package dev.stasis.agent.criu;

import dev.stasis.agent.container.Container;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The command line of a dump. criu runs inside the container's net, uts and ipc namespaces, so that
 * the images contain nothing of the old pod's network, hostname or shared memory. It runs outside
 * the container's mounts, so that it can read the container from there.
 *
 * @param runtime the program stasis-runtime
 * @param container the container to dump
 * @param ownMountNamespace inode of criu's own mount namespace: a process in the same one is dumped
 *     without its mounts
 * @param images an empty folder for the images
 * @param work a folder for log and statistics
 */
public record DumpPlan(
    Path runtime,
    CriuBundle bundle,
    Container container,
    long ownMountNamespace,
    Path images,
    Path work,
    CriuOptions options) {

  /** The log's name in the folder {@code work}. */
  public static final String LOG = "dump.log";

  /**
   * Returns the command line.
   *
   * @param place options of {@code stasis-runtime enter} that place criu among the node's helpers.
   *     A restore has none: its criu becomes the workload's parent, in the target's cgroups.
   */
  public List<String> command(List<String> place) {
    String pid = Integer.toString(container.root().pid());
    List<String> line = new ArrayList<>();
    line.add(runtime.toString());
    line.add("enter");
    line.addAll(place);
    add(line, "--pid", pid);
    add(line, "--start", Long.toString(container.root().startTime()));
    add(line, "--ns", "net,uts,ipc");
    if (container.uid() != 0 || container.gid() != 0) {
      // With the target's ids as real ids, criu may read the target's limits, even if root lacks
      // CAP_SYS_RESOURCE.
      add(line, "--real-uid", Integer.toString(container.uid()));
      add(line, "--real-gid", Integer.toString(container.gid()));
    }
    add(line, "--log", work.resolve("criu.out").toString());
    line.add("--");
    line.add(bundle.program().toString());
    line.addAll(criuArguments());
    return line;
  }

  List<String> criuArguments() {
    List<String> line = new ArrayList<>();
    line.add("dump");
    // A node's criu configuration must have no effect.
    line.add("--no-default-config");
    add(line, "--tree", Integer.toString(container.root().pid()));
    add(line, "--images-dir", images.toString());
    add(line, "--work-dir", work.toString());
    add(line, "--log-file", LOG);
    line.add("-v" + options.logLevel());
    // criu never ends a workload: the caller does so, after the artifact is stored.
    line.add("--leave-stopped");
    // A container's cgroups belong to its runtime; the kubelet removes those that it does not know.
    line.add("--manage-cgroups=ignore");
    if (!sharesOurMounts()) {
      add(line, "--root", "/proc/" + container.root().pid() + "/root");
      new ExternalMounts(container.mounts())
          .list().stream()
              .map(mount -> mount.mountPoint())
              .distinct()
              .forEach(path -> add(line, "--external", "mnt[" + path + "]:" + path));
      line.add("--enable-external-masters");
    }
    if (options.deadDevices()) {
      add(line, "--external", "dead-device[/dev/nvidia]");
    }
    options.saved().forEach(one -> add(line, "--external", one.external()));
    line.add("--shell-job");
    line.add("--ext-unix-sk");
    line.add("--file-locks");
    line.add("--link-remap");
    add(line, "--ghost-limit", Long.toString(options.ghostLimit()));
    line.add("--force-irmap");
    // Peers are not affected; the handling of connections is chosen on restore.
    line.add("--tcp-established");
    line.add("--skip-in-flight");
    // Locking needs iptables, which images lack, and packets do not harm a stopped tree.
    add(line, "--network-lock", "skip");
    add(line, "--timeout", Integer.toString(options.seizeSeconds()));
    add(line, "--libdir", bundle.plugins().toString());
    return line;
  }

  private boolean sharesOurMounts() {
    return container.namespaces().getOrDefault("mnt", -1L) == ownMountNamespace;
  }

  private static void add(List<String> line, String option, String value) {
    line.add(option);
    line.add(value);
  }
}
