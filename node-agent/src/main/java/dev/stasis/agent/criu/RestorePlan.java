package dev.stasis.agent.criu;

import dev.stasis.agent.container.Cgroup;
import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.OutsidePipe;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A restore into a waiting container, as a command line. criu runs in the holder's namespaces and
 * cgroups, but in a root of its own: a private tmpfs with criu, its images and its working folder,
 * which no process of the container can see or rename. The holder's root is {@value #ROOT} there,
 * and each mount that the workload gets has a place of its own below {@value #MOUNTS}. So nothing
 * that criu opens by a path is the container's. criu makes one nested pid namespace below the
 * holder's. What was dumped stopped is restored stopped.
 *
 * <p>The /proc of criu's root is a fresh one. The workload gets the holder's own, whose masked
 * paths stay masked.
 *
 * @param runtime the program stasis-runtime
 * @param holder the container that waits
 * @param mounts which mount of the holder stands for which one of the source
 * @param pipes the source's pipes that led outside
 * @param addresses the pod's address for each one of the source
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

  /** The file in the folder {@code work} with the restored root process, as the holder sees it. */
  public static final String PID_FILE = "workload.pid";

  /** The container's root file system, in criu's own root. */
  static final String ROOT = "/root";

  /** The folder of the container's mounts, in criu's own root. */
  static final String MOUNTS = "/mounts";

  /** The first descriptor handed over; below it lie those that criu opens first. */
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
    // Device files are reopened by path: the target's own stand there.
    line.add("--evasive-devices");
    add(line, "--network-lock", "skip");
    line.add(options.tcp() == CriuOptions.Tcp.KEEP ? "--tcp-established" : "--tcp-close");
    for (int i = 0; i < standardStreams().size(); i++) {
      String key = "pipe:[" + standardStreams().get(i).inode() + "]";
      add(line, "--inherit-fd", "fd[" + (FIRST_FD + i) + "]:" + key);
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
