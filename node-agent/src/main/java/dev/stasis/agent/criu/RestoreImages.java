package dev.stasis.agent.criu;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Determines from an artifact's images what criu would give to the restored processes. The images
 * are untrusted: incomplete, oversized or contradictory content causes an {@link ImageFault}.
 */
public final class RestoreImages {

  /** A GPU container has a few thousand threads at most. */
  private static final int MOST_THREADS = 100_000;

  /** The kernel's limit of mounts in a namespace. */
  private static final int MOST_MOUNTS = 100_000;

  /** Paths in /proc/PID/mountinfo are not longer. */
  private static final int PATH = 4096;

  private static final int PSTREE_MAGIC = 0x50273030;
  private static final int MOUNTS_MAGIC = 0x55563928;
  private static final int PROC = 1;
  private static final int READ_ONLY = 1;

  private final Path folder;

  public RestoreImages(Path folder) {
    this.folder = folder;
  }

  /** One process: its pid and those of all its threads. */
  private record Process(int pid, Set<Integer> threads) {}

  @FunctionalInterface
  private interface Reading<T> {
    T read(InputStream in) throws IOException;
  }

  /** Passes each thread that would run to the consumer. */
  public void threads(Consumer<ImageThread> told) throws IOException {
    int own = required("inventory.img", in -> new IdsImage().ofInventory(in));
    SeccompImage seccomp = new SeccompImage();
    if (Files.exists(folder.resolve("seccomp.img"))) {
      required("seccomp.img", seccomp::read);
    }
    for (Process process : required("pstree.img", RestoreImages::processes)) {
      CoreImage main = core(process.pid());
      if (main.isDead()) {
        continue;
      }
      boolean userNamespace = isOther(process.pid(), main, own);
      for (int tid : process.threads()) {
        CoreImage core = tid == process.pid() ? main : core(tid);
        told.accept(thread(core, main, seccomp, userNamespace));
      }
    }
  }

  /** Returns the mounts that would be created; empty if the images have none. */
  public List<ImageMount> mounts() throws IOException {
    List<ImageMount> mounts = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "mountpoints-*.img")) {
      for (Path file : files) {
        String name = String.valueOf(file.getFileName());
        required(
            name,
            in -> {
              new CriuImage(name, CriuImage.COMMON, MOUNTS_MAGIC)
                  .read(in, MOST_MOUNTS - mounts.size(), entry -> mounts.add(mount(entry)));
              return mounts;
            });
      }
    }
    return mounts;
  }

  /** Returns what would be created of inotify. */
  public ImageWatches watches() throws IOException {
    return required(ImageWatches.FILE, ImageWatches::read);
  }

  /** A thread without its own filters gets those that the main thread applies to all threads. */
  private static ImageThread thread(
      CoreImage core, CoreImage main, SeccompImage seccomp, boolean userNamespace)
      throws IOException {
    OptionalInt last = core.filter();
    int mode = core.seccomp();
    OptionalInt mains = main.filter();
    if (mode == 0 && mains.isPresent() && seccomp.synchronizes(mains.getAsInt())) {
      last = mains;
      mode = main.seccomp();
    }
    List<SeccompProgram> filters = last.isPresent() ? seccomp.chain(last.getAsInt()) : List.of();
    return new ImageThread(core.tid(), core.rights(mode, filters.size()), filters, userNamespace);
  }

  private CoreImage core(int tid) throws IOException {
    return required("core-" + tid + ".img", in -> new CoreImage(tid).read(in));
  }

  private boolean isOther(int pid, CoreImage main, int own) throws IOException {
    String name = "ids-" + pid + ".img";
    boolean other = main.userNamespace().orElse(own) != own;
    return Files.exists(folder.resolve(name))
        ? other | required(name, in -> new IdsImage().ofProcess(name, in)) != own
        : other;
  }

  private static List<Process> processes(InputStream in) throws IOException {
    List<Process> processes = new ArrayList<>();
    int[] left = {MOST_THREADS};
    new CriuImage("pstree.img", CriuImage.COMMON, PSTREE_MAGIC)
        .read(
            in,
            MOST_THREADS,
            entry -> {
              int pid = 0;
              Set<Integer> threads = new LinkedHashSet<>();
              while (entry.next()) {
                switch (entry.field()) {
                  case 1 -> pid = entry.number();
                  case 5 ->
                      entry.numbers(
                          tid -> {
                            if (left[0]-- == 0) {
                              throw entry.fault("at most " + MOST_THREADS + " threads", "more");
                            }
                            threads.add(tid);
                          });
                  default -> {}
                }
              }
              threads.add(pid);
              processes.add(new Process(pid, threads));
            });
    if (processes.isEmpty()) {
      throw new ImageFault("criu image pstree.img", "a process", "none");
    }
    return processes;
  }

  private static ImageMount mount(ImageMessage entry) throws IOException {
    int type = 0;
    int id = 0;
    int parent = 0;
    int flags = 0;
    String path = "";
    String external = "";
    boolean oldExternal = false;
    while (entry.next()) {
      switch (entry.field()) {
        case 1 -> type = entry.number();
        case 2 -> id = entry.number();
        case 4 -> parent = entry.number();
        case 5 -> flags = entry.number();
        case 7 -> path = entry.text(PATH);
        case 13 -> oldExternal = entry.number() != 0;
        case 18 -> external = entry.text(PATH);
        default -> {}
      }
    }
    if (oldExternal) {
      // criu would take the root for the key.
      throw new ImageFault(
          "mount " + path + " in the images", "a key of its own", "the old format");
    }
    return new ImageMount(id, parent, path, external, type == PROC, (flags & READ_ONLY) != 0);
  }

  private <T> T required(String name, Reading<T> reading) throws IOException {
    try (InputStream in = new BufferedInputStream(Files.newInputStream(folder.resolve(name)))) {
      return reading.read(in);
    } catch (NoSuchFileException e) {
      throw new ImageFault("criu image " + name, "one", "none");
    }
  }
}
