package dev.stasis.agent.daemon.probes;

import dev.stasis.agent.process.ChildStart;
import dev.stasis.agent.process.HelperCgroups;
import dev.stasis.agent.process.OpenFile;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Answers probes with {@code stasis-runtime answer}: a child that uses duplicates of the workload's
 * listening sockets while the workload is stopped. It passes all other connections to the workload
 * once it resumes. The child outlives the agent, and ends by itself when the workload resumes or
 * ends.
 */
public final class ProbeAnswers {

  private static final System.Logger LOG = System.getLogger(ProbeAnswers.class.getName());

  /**
   * A child starts and duplicates its sockets within milliseconds; this allows for a loaded
   * machine.
   */
  private static final long BEGIN_SECONDS = 10;

  private final Path runtime;
  private final ListeningSockets sockets;

  /**
   * Uses that program.
   *
   * @param runtime the program stasis-runtime
   */
  public ProbeAnswers(Path runtime, ProcFs proc) {
    this.runtime = runtime;
    this.sockets = new ListeningSockets(proc);
  }

  /** Probes that are being answered; closing it passes on the kept connections. */
  public static final class Answering implements AutoCloseable {
    private final List<Process> children;

    private Answering(List<Process> children) {
      this.children = children;
    }

    public boolean isEmpty() {
      return children.isEmpty();
    }

    /** Stops answering; called when the workload resumes. Kept connections continue. */
    @Override
    public void close() {
      children.forEach(Process::destroy);
    }
  }

  /**
   * Starts to answer.
   *
   * @param tree the processes of the workload, all of them stopped
   * @param probes the probes to answer; a port without a listener in the tree is skipped, since the
   *     kubelet's probe failed before too
   * @throws IOException if a child cannot answer; then no probe is answered
   */
  public Answering begin(List<ProcessId> tree, List<ContainerProbes.ContainerProbe> probes)
      throws IOException, InterruptedException {
    Map<ListeningSockets.Socket, List<ContainerProbes.ContainerProbe>> bySocket =
        new LinkedHashMap<>();
    for (ContainerProbes.ContainerProbe probe : probes) {
      for (ListeningSockets.Socket socket : sockets.of(tree, probe.port())) {
        bySocket.computeIfAbsent(socket, unused -> new ArrayList<>()).add(probe);
      }
    }
    if (bySocket.isEmpty()) {
      return new Answering(List.of());
    }
    List<String> command = new HelperCgroups().command(runtime, runtime.toString(), "answer");
    bySocket.forEach((socket, asked) -> command.addAll(arguments(socket, asked)));
    Process child =
        new ChildStart()
            .start(
                new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectInput(Path.of("/dev/null").toFile()));
    awaitBegin(child);
    return new Answering(List.of(child));
  }

  private static List<String> arguments(
      ListeningSockets.Socket socket, List<ContainerProbes.ContainerProbe> probes) {
    List<String> arguments = new ArrayList<>();
    arguments.add("--socket");
    arguments.add(socket.process() + ":" + socket.fd());
    for (ContainerProbes.ContainerProbe probe : probes) {
      if (probe instanceof ContainerProbes.ContainerProbe.Http http) {
        arguments.addAll(List.of("--http", http.path()));
      } else if (probe instanceof ContainerProbes.ContainerProbe.Grpc) {
        arguments.add("--grpc");
      }
    }
    return arguments;
  }

  private static void awaitBegin(Process child) throws IOException, InterruptedException {
    BufferedReader lines = child.inputReader(StandardCharsets.UTF_8);
    FutureTask<String> first = new FutureTask<>(() -> String.valueOf(lines.readLine()));
    Thread reader = new Thread(() -> read(first, lines), "probe-answers");
    reader.setDaemon(true);
    reader.start();
    String said;
    try {
      said = first.get(BEGIN_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      said = String.valueOf(e.getCause());
    } catch (TimeoutException e) {
      said = "nothing after " + BEGIN_SECONDS + " s";
    }
    if (!said.equals("answering")) {
      child.destroyForcibly();
      throw new IOException("the probe responder did not start: " + said);
    }
  }

  private static void read(FutureTask<String> first, BufferedReader lines) {
    first.run();
    try (lines) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        LOG.log(Level.INFO, "Probe responder: " + line);
      }
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "Probe responder has exited", e);
    }
  }

  /** Finds listening sockets of processes. */
  static final class ListeningSockets {

    private static final String LISTEN = "0A";
    private static final int HEX = 16;

    private final ProcFs proc;

    ListeningSockets(ProcFs proc) {
      this.proc = proc;
    }

    /** A descriptor of a listening socket. */
    record Socket(ProcessId process, int fd) {}

    /**
     * Every socket of these processes that listens on a port, at any address; one descriptor for
     * each socket.
     */
    List<Socket> of(List<ProcessId> tree, int port) throws IOException {
      List<Socket> found = new ArrayList<>();
      if (tree.isEmpty()) {
        return found;
      }
      // All processes of a container are in one network namespace.
      Set<Long> wanted = inodes(tree.get(0).pid(), port);
      for (ProcessId process : tree) {
        for (OpenFile file : proc.openFiles(process.pid())) {
          if (file.target().startsWith("socket:[")
              && file.inode().isPresent()
              && wanted.remove(file.inode().getAsLong())) {
            found.add(new Socket(process, file.fd()));
          }
        }
      }
      return found;
    }

    private Set<Long> inodes(int pid, int port) throws IOException {
      Set<Long> inodes = new HashSet<>();
      for (String table : List.of("net/tcp", "net/tcp6")) {
        Path file = proc.folder(pid).resolve(table);
        if (Files.exists(file)) {
          // One line at a time: a workload can have any number of sockets.
          try (BufferedReader lines = Files.newBufferedReader(file)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
              // sl, local address, remote address, state, queues, timer, retransmits, uid, timeout,
              // inode
              String[] field = line.trim().split("\\s+");
              if (field.length > 9 && field[3].equals(LISTEN) && port(field[1]) == port) {
                inodes.add(Long.parseLong(field[9]));
              }
            }
          }
        }
      }
      return inodes;
    }

    private static int port(String address) {
      return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1), HEX);
    }
  }
}
