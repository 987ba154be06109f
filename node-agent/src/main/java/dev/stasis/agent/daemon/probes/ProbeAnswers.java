package dev.stasis.agent.daemon.probes;

import dev.stasis.agent.process.HelperCgroups;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Answers probes by {@code stasis-runtime answer}: a child that works on duplicates of the
 * workload's listening sockets, only while the workload is stopped, and hands everybody else who
 * connects meanwhile to the workload once it goes on. It outlives the agent, and ends by itself
 * when the workload goes on or ends.
 */
public final class ProbeAnswers {

  private static final System.Logger LOG = System.getLogger(ProbeAnswers.class.getName());

  /**
   * A child is started and has its sockets in some milliseconds; a loaded machine is given time.
   */
  private static final long BEGIN_SECONDS = 10;

  private final Path runtime;
  private final ListeningSockets sockets;

  /**
   * By that program.
   *
   * @param runtime the program stasis-runtime
   */
  public ProbeAnswers(Path runtime, ProcFs proc) {
    this.runtime = runtime;
    this.sockets = new ListeningSockets(proc);
  }

  /** Probes that are being answered; closing it hands over what was kept. */
  public static final class Answering implements AutoCloseable {
    private final List<Process> children;

    private Answering(List<Process> children) {
      this.children = children;
    }

    /** Whether anything is answered at all. */
    public boolean isEmpty() {
      return children.isEmpty();
    }

    /** Ends the answering; call it when the workload goes on. Kept connections live on. */
    @Override
    public void close() {
      children.forEach(Process::destroy);
    }
  }

  /**
   * Begins to answer.
   *
   * @param tree the processes of the workload, all of them stopped
   * @param probes what to answer; a port on which nobody of the tree listens is passed over, as the
   *     kubelet found nobody there before
   * @throws IOException when a child cannot do it; then nothing is answered
   */
  public Answering begin(List<ProcessId> tree, List<ContainerProbe> probes)
      throws IOException, InterruptedException {
    Map<ListeningSockets.Socket, List<ContainerProbe>> bySocket = new LinkedHashMap<>();
    for (ContainerProbe probe : probes) {
      for (ListeningSockets.Socket socket : sockets.of(tree, probe.port())) {
        bySocket.computeIfAbsent(socket, unused -> new ArrayList<>()).add(probe);
      }
    }
    if (bySocket.isEmpty()) {
      return new Answering(List.of());
    }
    List<String> command = new ArrayList<>(List.of(runtime.toString(), "enter"));
    command.addAll(new HelperCgroups().enterOptions());
    command.addAll(List.of("--", runtime.toString(), "answer"));
    bySocket.forEach((socket, asked) -> command.addAll(arguments(socket, asked)));
    Process child =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectInput(Path.of("/dev/null").toFile())
            .start();
    awaitBegin(child);
    return new Answering(List.of(child));
  }

  private static List<String> arguments(
      ListeningSockets.Socket socket, List<ContainerProbe> probes) {
    List<String> arguments = new ArrayList<>();
    arguments.add("--socket");
    arguments.add(socket.process() + ":" + socket.fd());
    for (ContainerProbe probe : probes) {
      if (probe instanceof ContainerProbe.Http http) {
        arguments.addAll(List.of("--http", http.path()));
      } else if (probe instanceof ContainerProbe.Grpc) {
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
      throw new IOException("probes: wanted somebody to answer them, found " + said);
    }
  }

  private static void read(FutureTask<String> first, BufferedReader lines) {
    first.run();
    try (lines) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        LOG.log(Level.INFO, "probes of a workload that stood still: " + line);
      }
    } catch (IOException e) {
      LOG.log(Level.DEBUG, "the probes' answerer has ended", e);
    }
  }
}
