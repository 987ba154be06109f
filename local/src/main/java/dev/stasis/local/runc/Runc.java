package dev.stasis.local.runc;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stasis.local.host.HostProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Makes, changes and ends containers. Knows nothing of pods. */
public final class Runc {

  private static final ObjectMapper JSON = new ObjectMapper();

  private final Path root;
  private final HostProgram host;

  /**
   * @param root where runc keeps what it knows of these containers
   */
  public Runc(Path root, HostProgram host) {
    this.root = root;
    this.host = host;
  }

  /**
   * Starts a container and returns when its first process runs.
   *
   * @param image the folder with the image's files, which stay as they are
   * @param output the file to which its output is added
   * @throws IOException with runc's own words
   */
  public RunningContainer start(ContainerConfig config, Bundle bundle, Path image, Path output)
      throws IOException {
    for (Path folder : List.of(bundle.rootfs(), bundle.upper(), bundle.work())) {
      Files.createDirectories(folder);
    }
    Files.createDirectories(output.getParent());
    host.must(
        "mount",
        "-t",
        "overlay",
        "overlay",
        "-o",
        "lowerdir=%s,upperdir=%s,workdir=%s".formatted(image, bundle.upper(), bundle.work()),
        bundle.rootfs().toString());
    JSON.writeValue(bundle.config().toFile(), config.json(bundle));
    // In a session of its own: a Ctrl-C meant for us must not reach the container.
    // Not detached: so runc is who holds the other end of its output, and tells how it ended.
    List<String> command =
        List.of(
            "setsid",
            "runc",
            "--root",
            root.toString(),
            "--log",
            bundle.runcLog().toString(),
            "run",
            "--bundle",
            bundle.folder().toString(),
            "--pid-file",
            bundle.pidFile().toString(),
            config.id());
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectInput(Path.of("/dev/null").toFile())
              .redirectOutput(ProcessBuilder.Redirect.appendTo(output.toFile()))
              .start();
      return new StartWatch(bundle).await(config, process);
    } catch (IOException e) {
      remove(config.id(), bundle);
      throw e;
    }
  }

  /** Sends a signal to the first process; that it is gone already is no fault. */
  public void signal(String id, String signal) {
    host.attempt("runc", "--root", root.toString(), "kill", id, signal);
  }

  /** Kills everything in the container and forgets it; its files stay, but for the mount. */
  public void remove(String id, Bundle bundle) {
    host.attempt("runc", "--root", root.toString(), "delete", "--force", id);
    host.attempt("umount", "-l", bundle.rootfs().toString());
  }

  /** Sets the memory limit of a running container. */
  public void limitMemory(String id, long bytes) {
    String limit = Long.toString(bytes);
    host.must("runc", "--root", root.toString(), "update", "--memory", limit, id);
  }

  /** Runs a command in a container. */
  public HostProgram.Result exec(String id, List<String> command, Duration deadline) {
    List<String> all = new ArrayList<>(List.of("runc", "--root", root.toString(), "exec", id));
    all.addAll(command);
    return host.run(deadline, all);
  }

  /** Its version. */
  public String version() {
    String words = host.must("runc", "--version").lines().findFirst().orElse("");
    return words.replaceFirst("^runc version ", "");
  }

  /** The containers that runc knows here. */
  public List<String> ids() {
    return host.must("runc", "--root", root.toString(), "list", "--quiet").lines().toList();
  }
}
