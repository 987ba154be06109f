package dev.stasis.agent.testing;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/**
 * A runc container with a root file system of its own (an overlay, without a shell), its own
 * namespaces, its output in a pipe that ends in a log file, and simulated GPUs bound into place as
 * a container toolkit would.
 */
public final class GpuContainer implements AutoCloseable {

  /** A step takes milliseconds; a busy machine is given time. */
  private static final Duration LIMIT = Duration.ofSeconds(120);

  private final ContainerSpec spec;
  private final String id;
  private final Path folder;
  private final Sh sh = new Sh();
  private final StepLog steps;

  private GpuContainer(ContainerSpec spec, String id, Path folder) {
    this.spec = spec;
    this.id = id;
    this.folder = folder;
    this.steps = new StepLog(spec.gpus().counter());
  }

  /** Makes and starts a container. */
  public static GpuContainer start(ContainerSpec spec) {
    // 64 hex digits, as a container runtime names its containers.
    StringBuilder id = new StringBuilder();
    while (id.length() < 64) {
      id.append("%08x".formatted(ThreadLocalRandom.current().nextInt()));
    }
    try {
      GpuContainer container =
          new GpuContainer(
              spec, id.toString(), Files.createTempDirectory(Path.of("/var/tmp"), "stasis-box"));
      container.makeAndRun();
      return container;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void makeAndRun() throws IOException {
    Path image = folder.resolve("image");
    spec.fillImage(image);
    for (String name : List.of("upper", "work", "rootfs")) {
      Files.createDirectories(folder.resolve(name));
    }
    sh.must(
        "mount",
        "-t",
        "overlay",
        "overlay",
        "-o",
        "lowerdir=%s,upperdir=%s,workdir=%s"
            .formatted(image, folder.resolve("upper"), folder.resolve("work")),
        folder.resolve("rootfs").toString());
    if (spec.holder()) {
      makeHolderFolder();
    }
    new ObjectMapper().writeValue(folder.resolve("config.json").toFile(), spec.config(id, folder));
    // The container's output is a pipe, as under a shim; whoever reads it lives until the last
    // writer ends.
    String script =
        "exec setsid sh -c 'runc --root \"$1\" --log \"$2/runc.err\" run -d --bundle \"$2\" --pid-file \"$2/pid\" \"$3\""
            + " 2>&1 </dev/null | cat >>\"$2/log\"' sh \"$1\" \"$2\" \"$3\" >/dev/null 2>&1 &";
    sh.must("sh", "-c", script, "sh", runcRoot(), folder.toString(), id);
    // A container starts in a second; a busy machine is given time.
    Awaitility.await("the container's pid")
        .atMost(Duration.ofSeconds(120))
        .pollInterval(Duration.ofMillis(20))
        .until(() -> Files.exists(folder.resolve("pid")) || !startError().isEmpty());
    if (!Files.exists(folder.resolve("pid"))) {
      String error = startError();
      close();
      throw new IllegalStateException("runc: " + error);
    }
  }

  private void makeHolderFolder() throws IOException {
    Path brought = folder.resolve("stasis");
    for (String name : List.of("criu", "ckpt", "root", "work")) {
      Files.createDirectories(brought.resolve(name));
    }
    Files.copy(spec.runtime(), brought.resolve("stasis-runtime"));
    // As an emptyDir of a pod: the holder, whoever it is, writes its own files there.
    sh.must("chmod", "0777", brought.toString());
  }

  private String startError() throws IOException {
    Path errors = folder.resolve("runc.err");
    String said = Files.exists(errors) ? Files.readString(errors) : "";
    // It may warn and start all the same.
    return said.contains("level=error") || said.contains("level=fatal") ? said : "";
  }

  private String runcRoot() {
    return folder.resolve("runc").toString();
  }

  public String id() {
    return id;
  }

  /** Host pid of the container's first process. */
  public int pid() {
    try {
      return Integer.parseInt(Files.readString(folder.resolve("pid")).trim());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The paths of its volumes, as those of a pod. */
  public Set<String> volumes() {
    Set<String> volumes = new HashSet<>(spec.volumes().keySet());
    volumes.add("/.stasis");
    return volumes;
  }

  /** The folder that stands at {@code /.stasis} in a holder. */
  public Path holderFolder() {
    return folder.resolve("stasis");
  }

  /** The writable layer. */
  public Path upper() {
    return folder.resolve("upper");
  }

  /** The names of all files in the writable layer. */
  public List<String> namesBelowUpper() {
    try (Stream<Path> files = Files.walk(upper())) {
      return files.map(file -> file.getFileName().toString()).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Everything that the container printed. */
  public List<String> lines() {
    try {
      String text = Files.readString(folder.resolve("log"));
      // The last line may be half written.
      return new ArrayList<>(text.substring(0, text.lastIndexOf('\n') + 1).lines().toList());
    } catch (NoSuchFileException e) {
      return List.of();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits until the container has printed a line like that. */
  public String awaitLine(Predicate<String> wanted) {
    return Awaitility.await("a line of the container")
        .atMost(LIMIT)
        .pollInterval(Duration.ofMillis(50))
        .until(
            () -> lines().stream().filter(wanted).findFirst().orElse(""), line -> !line.isEmpty());
  }

  /** Waits until {@code more} further steps were printed, all of them right. */
  public void awaitSteps(int more) {
    int before = lines().size();
    Awaitility.await("further steps of the workload, last lines " + tail())
        .atMost(LIMIT)
        .pollInterval(Duration.ofMillis(50))
        .until(() -> lines().size() >= before + more);
    if (lines().stream().anyMatch(line -> line.contains("BAD"))) {
      throw new AssertionError("wrong numbers: " + lines());
    }
  }

  /**
   * Checks what was printed with the workload's own verifier: no step lost, repeated or wrong, of
   * the first process and of each child that counts.
   *
   * @param mib of device memory, as the workload was told
   */
  public void verify(int mib) {
    verify(mib, List.of());
  }

  /**
   * As {@link #verify(int)}, for a workload that began somewhere else.
   *
   * @param before all that it had printed there, also beyond the moment of its checkpoint
   */
  public void verify(int mib, List<String> before) {
    steps.verify(mib, before, lines());
  }

  private List<String> tail() {
    List<String> all = lines();
    return all.subList(Math.max(0, all.size() - 3), all.size());
  }

  /** Whether the container's first process is there. */
  public boolean running() {
    Path exe = Path.of("/proc/" + pid() + "/stat");
    try {
      String stat = Files.readString(exe);
      return stat.charAt(stat.lastIndexOf(')') + 2) != 'Z';
    } catch (IOException e) {
      return false;
    }
  }

  /** Kills everything in the container and forgets the container, not its folder. */
  public void end() {
    sh.must("runc", "--root", runcRoot(), "delete", "--force", id);
  }

  @Override
  public void close() {
    sh.run("runc", "--root", runcRoot(), "delete", "--force", id);
    sh.run("umount", "-l", folder.resolve("rootfs").toString());
    sh.run("rm", "-rf", folder.toString());
  }
}
