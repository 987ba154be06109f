package dev.stasis.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.artifact.Progress;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;

/** The NFS server of the virtual machine of e2e/nfs/run, and its clients. */
final class NfsLab implements AutoCloseable {
  /** Set by e2e/nfs/run: the script that controls the server. */
  static final String SERVER = "STASIS_NFS_SERVER";

  static final String WHY_NOT = "no NFS server to stop and start: e2e/nfs/run has one";

  static final String RIGHTS = "rw,no_root_squash";
  static final String HARD = "vers=4.2,hard";

  private final List<Path> mounted = new ArrayList<>();
  private final Process process;
  private final Writer commands;
  private final BufferedReader results;
  private boolean undisturbed = true;

  /**
   * Starts the only process that controls the server: while the server is gone, a JVM that writes
   * to it cannot start one, because the new process closes the JVM's files, which waits.
   */
  NfsLab() {
    try {
      process =
          new ProcessBuilder(Objects.requireNonNull(System.getenv(SERVER)), "serve")
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    commands = process.outputWriter();
    results = process.inputReader();
  }

  /** Exports a new file system under a name that is not used again, and returns the name. */
  String export(String name, int mebibytes, String rights) throws Exception {
    String own = name + "-" + Long.toHexString(System.nanoTime());
    server("export", own, "" + mebibytes, rights);
    return own;
  }

  /** Takes the network or the server away. */
  void lose(String how) throws Exception {
    if (how.equals("gone")) {
      network("gone");
    } else {
      stopServer();
    }
  }

  /** Runs something in the middle of an upload, before any of its chunks is published. */
  static Progress once(Callable<?> action) {
    AtomicBoolean done = new AtomicBoolean();
    return (bytes, total) -> {
      if (bytes > 0 && done.compareAndSet(false, true)) {
        try {
          action.call();
        } catch (Exception e) {
          throw new IllegalStateException(e);
        }
      }
    };
  }

  /** Mounts an export as this node does. */
  Path mount(int node, String export, String options) throws Exception {
    Path folder = Files.createTempDirectory("nfs-" + node + "-");
    server("mount", "" + node, export, folder.toString(), options);
    mounted.add(folder);
    return folder;
  }

  void stopServer() throws Exception {
    undisturbed = false;
    server("stop");
  }

  void startServer() throws Exception {
    server("start");
  }

  /**
   * Sets the state of the network of all nodes.
   *
   * @param state whole; gone: answers of the server are lost; slow or late: they are delayed
   */
  void network(String state) throws Exception {
    undisturbed = false;
    server("network", state);
  }

  /** Returns what the server has in an export. */
  Path onServer(String export) {
    return Path.of("/run/nfs/disks", export);
  }

  @Override
  public void close() throws Exception {
    if (!undisturbed) {
      network("whole");
      startServer();
    }
    for (Path folder : mounted) {
      server("umount", folder.toString());
    }
    commands.close();
    process.waitFor();
  }

  private void server(String... words) throws IOException {
    String command = String.join(" ", words);
    commands.write(command + "\n");
    commands.flush();
    assertThat(results.readLine()).as(command).isEqualTo("ok");
  }
}
