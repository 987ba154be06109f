package dev.stasis.local.runc;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stasis.local.host.HostProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Creates, changes and ends containers. Independent of pods. */
public final class Runc {

  private static final ObjectMapper JSON = new ObjectMapper();

  private final Path root;
  private final HostProgram host;

  /**
   * @param root runc's state folder for these containers
   */
  public Runc(Path root, HostProgram host) {
    this.root = root;
    this.host = host;
  }

  /**
   * Starts a container and returns when its first process runs.
   *
   * @param image the folder with the image's files, which are not changed
   * @param output the file to which its output is appended
   * @throws IOException with runc's message
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
    // In a new session: a Ctrl-C for us must not reach the container. Not detached, so that runc
    // holds the other end of its output and reports its exit code.
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

  /** Sends a signal to the first process; it may be gone already. */
  public void signal(String id, String signal) {
    host.attempt("runc", "--root", root.toString(), "kill", id, signal);
  }

  /**
   * Kills everything in the container and deletes its state; its files are kept, without the mount.
   */
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

  /** Returns its version. */
  public String version() {
    String words = host.must("runc", "--version").lines().findFirst().orElse("");
    return words.replaceFirst("^runc version ", "");
  }

  /** Returns the containers that runc knows. */
  public List<String> ids() {
    return host.must("runc", "--root", root.toString(), "list", "--quiet").lines().toList();
  }
}
