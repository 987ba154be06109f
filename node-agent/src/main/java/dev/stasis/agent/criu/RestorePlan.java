package dev.stasis.agent.criu;

import dev.stasis.agent.container.Cgroup;
import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.OutsidePipe;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The command line of a restore into a waiting container. criu runs in the holder's namespaces and
 * cgroups, but with its own root: a private tmpfs with criu, its images and its work folder, which
 * no process of the container can see or rename. The holder's root is at {@value #ROOT}, and each
 * mount that the workload gets has a folder below {@value #MOUNTS}. No path that criu opens is
 * therefore under the container's control. criu creates one pid namespace nested in the holder's.
 * Processes that were stopped when dumped are restored stopped.
 *
 * <p>The /proc of criu's root is a new mount. The workload gets the holder's own, so that its
 * masked paths stay masked.
 *
 * @param runtime the program stasis-runtime
 * @param holder the waiting container
 * @param mounts the holder's mount for each mount of the source
 * @param pipes the source's pipes with an end outside the container
 * @param addresses the pod's address for each address of the source
 * @param images the images, verified
 * @param work a folder for log and statistics
 */
public record RestorePlan(
    Path runtime,
    CriuBundle bundle,
    Container holder,
    List<MountPair> mounts,
    List<OutsidePipe> pipes,
    List<AddressPair> addresses,
    Path images,
    Path work,
    CriuOptions options) {

  /** The log's name in the folder {@code work}. */
  public static final String LOG = "restore.log";

  /**
   * The file in the folder {@code work} with the pid of the restored root process in the holder's
   * namespace.
   */
  public static final String PID_FILE = "workload.pid";

  /** The container's root file system, in criu's own root. */
  static final String ROOT = "/root";

  /** The folder of the container's mounts, in criu's own root. */
  static final String MOUNTS = "/mounts";

  /** The first descriptor passed on; criu opens those below it first. */
  private static final int FIRST_FD = 10;

  public RestorePlan {
    mounts = List.copyOf(mounts);
    pipes = List.copyOf(pipes);
    addresses = List.copyOf(addresses);
  }

  public List<String> command() {
    int pid = holder.init().pid();
    List<String> line = new ArrayList<>();
    line.add(runtime.toString());
    line.add("enter");
    add(line, "--pid", Integer.toString(pid));
    add(line, "--start", Long.toString(holder.init().startTime()));
    add(line, "--ns", "net,uts,ipc,cgroup,pid,mnt");
    for (Cgroup cgroup : holder.cgroups()) {
      add(line, "--cgroup", cgroup.folder().toString());
    }
    line.add("--own-root");
    line.add("--fresh-proc");
    add(line, "--bring-ro", bundle.folder() + "=/criu");
    add(line, "--bring-ro", images + "=/images");
    add(line, "--bring", work + "=/work");
    add(line, "--root-bind", ROOT);
    for (int i = 0; i < mounts.size(); i++) {
      add(line, "--take", mounts.get(i).target() + "=" + MOUNTS + "/" + i);
    }
    for (int i = 0; i < standardStreams().size(); i++) {
      OutsidePipe pipe = standardStreams().get(i);
      String mode = pipe.written() ? "w" : "r";
      add(line, "--fd", (FIRST_FD + i) + "=" + mode + ":/proc/" + pid + "/fd/" + pipe.fd());
    }
    add(line, "--log", work.resolve("criu.out").toString());
    line.add("--");
    line.add("/criu/criu");
    line.addAll(criuArguments());
    return line;
  }

  List<String> criuArguments() {
    List<String> line = new ArrayList<>();
    line.add("restore");
    line.add("--no-default-config");
    add(line, "--images-dir", "/images");
    add(line, "--work-dir", "/work");
    add(line, "--log-file", LOG);
    line.add("-v" + options.logLevel());
    line.add("--restore-detached");
    add(line, "--pidfile", "/work/" + PID_FILE);
    add(line, "--root", ROOT);
    for (int i = 0; i < mounts.size(); i++) {
      add(line, "--external", "mnt[" + mounts.get(i).source() + "]:" + MOUNTS + "/" + i);
    }
    for (AddressPair pair : addresses) {
      add(line, "--external", "address[" + pair.source() + "]:" + pair.target());
    }
    line.add("--enable-external-masters");
    line.add("--manage-cgroups=ignore");
    line.add("--shell-job");
    line.add("--ext-unix-sk");
    line.add("--file-locks");
    line.add("--link-remap");
    // Device files are reopened by path, which opens the target's own.
    line.add("--evasive-devices");
    add(line, "--network-lock", "skip");
    line.add(options.tcp() == CriuOptions.Tcp.KEEP ? "--tcp-established" : "--tcp-close");
    for (int i = 0; i < standardStreams().size(); i++) {
      String key = "pipe:[" + standardStreams().get(i).inode() + "]";
      add(line, "--inherit-fd", "fd[" + (FIRST_FD + i) + "]:" + key);
    }
    if (options.appArmorProfile() != null) {
      add(line, "--lsm-profile", "apparmor:" + options.appArmorProfile());
    }
    add(line, "--libdir", "/criu/plugins");
    return line;
  }

  private List<OutsidePipe> standardStreams() {
    return pipes.stream().filter(OutsidePipe::isStandardStream).toList();
  }

  private static void add(List<String> line, String option, String value) {
    line.add(option);
    line.add(value);
  }
}
