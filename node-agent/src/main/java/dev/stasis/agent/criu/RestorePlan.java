package dev.stasis.agent.criu;

import dev.stasis.agent.container.Cgroup;
import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.OutsidePipe;
import dev.stasis.agent.process.Mount;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A restore into a waiting container, as a command line. criu runs in the holder's namespaces and
 * cgroups and makes one nested pid namespace below the holder's. What was dumped stopped comes back
 * stopped.
 *
 * <p>The holder's own /proc stays in place: a fresh one would hide its masked paths, and criu would
 * then hand the unmasked ones to the workload.
 *
 * @param runtime the program stasis-runtime
 * @param holder the container that waits
 * @param mounts which mount of the holder stands for which one of the source
 * @param pipes the source's pipes that led outside
 * @param images the images, verified
 * @param work a folder for log and statistics
 */
public record RestorePlan(
    Path runtime,
    CriuBundle bundle,
    Container holder,
    List<MountPair> mounts,
    List<OutsidePipe> pipes,
    Path images,
    Path work,
    CriuOptions options) {

  /** The log's name in the folder {@code work}. */
  public static final String LOG = "restore.log";

  /** The holder's folder, where it waits for the pid file. */
  private static final String HOLDER = "/.stasis";

  /** The first descriptor handed over; below it lie those that criu opens first. */
  private static final int FIRST_FD = 10;

  public RestorePlan {
    mounts = List.copyOf(mounts);
    pipes = List.copyOf(pipes);
  }

  public List<String> command() {
    int pid = holder.init().pid();
    List<String> line = new ArrayList<>();
    line.add(runtime.toString());
    line.add("enter");
    add(line, "--pid", Integer.toString(pid));
    add(line, "--start", Long.toString(holder.init().startTime()));
    add(line, "--ns", "net,uts,ipc,pid,mnt");
    for (Cgroup cgroup : holder.cgroups()) {
      add(line, "--cgroup", cgroup.folder().toString());
    }
    add(line, "--bring", bundle.folder() + "=" + HOLDER + "/criu");
    add(line, "--bring", images + "=" + HOLDER + "/ckpt");
    add(line, "--bring", work + "=" + HOLDER + "/work");
    if (wantsScratch()) {
      add(line, "--bring", scratch() + "=/tmp");
    }
    add(line, "--root-bind", HOLDER + "/root");
    for (int i = 0; i < standardStreams().size(); i++) {
      OutsidePipe pipe = standardStreams().get(i);
      String mode = pipe.written() ? "w" : "r";
      add(line, "--fd", (FIRST_FD + i) + "=" + mode + ":/proc/" + pid + "/fd/" + pipe.fd());
    }
    add(line, "--log", work.resolve("criu.out").toString());
    line.add("--");
    line.add(HOLDER + "/criu/criu");
    line.addAll(criuArguments());
    return line;
  }

  List<String> criuArguments() {
    List<String> line = new ArrayList<>();
    line.add("restore");
    line.add("--no-default-config");
    add(line, "--images-dir", HOLDER + "/ckpt");
    add(line, "--work-dir", HOLDER + "/work");
    add(line, "--log-file", LOG);
    line.add("-v" + options.logLevel());
    line.add("--restore-detached");
    add(line, "--pidfile", HOLDER + "/workload.pid");
    add(line, "--root", HOLDER + "/root");
    for (MountPair pair : mounts) {
      add(line, "--external", "mnt[" + pair.source() + "]:" + pair.target());
    }
    line.add("--enable-external-masters");
    line.add("--manage-cgroups=ignore");
    line.add("--shell-job");
    line.add("--ext-unix-sk");
    line.add("--file-locks");
    line.add("--link-remap");
    // Device files are reopened by path: the target's own stand there.
    line.add("--evasive-devices");
    line.add(options.tcp() == CriuOptions.Tcp.KEEP ? "--tcp-established" : "--tcp-close");
    for (int i = 0; i < standardStreams().size(); i++) {
      String key = "pipe:[" + standardStreams().get(i).inode() + "]";
      add(line, "--inherit-fd", "fd[" + (FIRST_FD + i) + "]:" + key);
    }
    add(line, "--libdir", HOLDER + "/criu/plugins");
    return line;
  }

  /** An empty folder of the host that stands for /tmp while criu works: it must exist. */
  Path scratch() {
    return work.resolve("tmp");
  }

  /**
   * criu makes folders in /tmp, which an image may lack or have read-only. Where /tmp, or something
   * below it, is a mount of the container's own, that one must stay to be seen.
   */
  private boolean wantsScratch() {
    return holder.mounts().stream()
        .map(Mount::mountPoint)
        .noneMatch(path -> path.equals("/tmp") || path.startsWith("/tmp/"));
  }

  private List<OutsidePipe> standardStreams() {
    return pipes.stream().filter(OutsidePipe::isStandardStream).toList();
  }

  private static void add(List<String> line, String option, String value) {
    line.add(option);
    line.add(value);
  }
}
