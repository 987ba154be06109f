package dev.stasis.agent.direct;

import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.process.ChildStart;
import dev.stasis.agent.process.MemoryMapping;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcLimitException;
import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The keepers of this node: one for each container with device memory on the direct path, from
 * before its freeze until its processes have ended. While they run it rests: it has no memory of
 * theirs, only its contexts. A keeper runs outside the agent's container and outlives the agent.
 */
public final class Keepers {

  private static final System.Logger LOG = System.getLogger(Keepers.class.getName());

  /** The file name of the library, by which its mapping is found. */
  private static final String LIBRARY = "libstasis-gate.so";

  /** The command of the program that makes it a keeper. */
  private static final String SERVE = "serve";

  /** The memory in which it publishes its state. */
  private static final String PAGE = "stasis-gate";

  /** It reads a page of memory: milliseconds, more on a busy machine. */
  private static final Duration LOOK_LIMIT = Duration.ofSeconds(10);

  /** A killed process has ended in milliseconds; one that waits in the kernel runs no more code. */
  private static final Duration KILL_LIMIT = Duration.ofSeconds(5);

  /** One that dies while it ends is replaced, since the second holder still has the memory. */
  private static final int ENDS = 3;

  /** Ends the file name of the second holder's socket. */
  private static final String HOLDER = ".hold";

  /** Begins the file name of a keeper's socket. */
  private static final String PREFIX = "k-";

  /** A path of a socket has at most 90 bytes for the keeper: the state folder's must stay short. */
  private static final int NAME_DIGITS = 20;

  private final KeeperSettings settings;
  private final Path runtime;
  private final Path stateDir;
  private final ProcFs proc;
  private final Duration startLimit;

  /**
   * The keepers of a node.
   *
   * @param runtime the program {@code stasis-runtime}, which starts them outside the agent's
   *     container
   * @param stateDir folder of their sockets
   */
  public Keepers(KeeperSettings settings, Path runtime, Path stateDir, ProcFs proc) {
    this(settings, runtime, stateDir, proc, ProgramSocket.START_LIMIT);
  }

  Keepers(KeeperSettings settings, Path runtime, Path stateDir, ProcFs proc, Duration startLimit) {
    this.startLimit = startLimit;
    this.settings = settings;
    this.runtime = runtime;
    this.stateDir = stateDir;
    this.proc = proc;
  }

  /** Returns whether the keeper program exists. */
  public boolean available() {
    return Files.isExecutable(settings.program());
  }

  /** Returns the path of the library in its container; empty when the process has not loaded it. */
  public Optional<String> library(ProcessId process) {
    return proc.maps(process.pid()).stream()
        .map(MemoryMapping::path)
        .filter(path -> path.endsWith("/" + LIBRARY))
        .findFirst();
  }

  /**
   * Returns whether the library of a process has started to keep a table, which it shows in this
   * page; also true for a process with more mappings than are read. Without the page, nothing is
   * given back to the process.
   */
  public boolean active(ProcessId process) {
    try {
      return proc.strict().maps(process.pid()).stream()
          .anyMatch(mapping -> mapping.path().startsWith("/memfd:" + PAGE));
    } catch (ProcLimitException e) {
      return true;
    }
  }

  /**
   * Reads the report of a process's library, without a keeper and without a change.
   *
   * @throws KeeperFailure if it does not answer: it has another version, or no GPU context yet
   */
  public Gate look(ProcessId process) throws KeeperFailure, InterruptedException {
    KeeperAnswer answer = KeeperAnswer.parse(asked(process));
    if (!answer.ok()) {
      throw new KeeperFailure(answer.text(), false);
    }
    return answer
        .gate()
        .orElseThrow(() -> new KeeperFailure("the library's state is unknown", false));
  }

  private String asked(ProcessId process) throws KeeperFailure, InterruptedException {
    try {
      Process child =
          new ChildStart()
              .start(
                  new ProcessBuilder(
                          settings.program().toString(),
                          "look",
                          "" + process.pid(),
                          "" + process.startTime())
                      .redirectError(ProcessBuilder.Redirect.DISCARD));
      try (InputStream answer = child.getInputStream()) {
        if (!child.waitFor(LOOK_LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
          child.destroyForcibly();
          throw new KeeperFailure(
              "stasis-keeper look: expected an answer within 10 s, got none", false);
        }
        return new String(answer.readAllBytes(), StandardCharsets.UTF_8).strip();
      }
    } catch (IOException e) {
      throw new KeeperFailure("look: " + e.getMessage(), false);
    }
  }

  /** Connects to a container's keeper; starts one if none answers. */
  public Keeper open(String containerId) throws KeeperFailure, InterruptedException {
    ProgramSocket socket = socket(containerId);
    Path log = stateDir.resolve("keeper.log");
    try {
      Optional<SocketChannel> channel = socket.connect();
      Optional<ProcessHandle> started =
          channel.isPresent() ? Optional.empty() : running(socket.path());
      if (started.isPresent()) {
        channel = socket.await(started.get());
      }
      if (channel.isEmpty()) {
        if (started.isPresent() && started.get().isAlive()) {
          kill(containerId, started.get());
        }
        channel = socket.await(start(socket, log).toHandle());
      }
      if (channel.isPresent()) {
        return Keeper.over(channel.get());
      }
      throw new KeeperFailure("the keeper did not start; see " + log, false);
    } catch (IOException e) {
      throw new KeeperFailure("the keeper did not start: " + e.getMessage(), false);
    }
  }

  /**
   * Ends a keeper that did not listen in time, before another one starts beside it. It is safe: the
   * second holder has all memory that it may have.
   */
  private static void kill(String containerId, ProcessHandle keeper) throws InterruptedException {
    LOG.log(
        System.Logger.Level.WARNING,
        "Keeper did not listen and is ended: container={0} pid={1}",
        containerId,
        "" + keeper.pid());
    keeper.destroyForcibly();
    try {
      keeper.onExit().get(KILL_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      LOG.log(System.Logger.Level.WARNING, "keeper " + keeper.pid(), e);
    }
  }

  private Process start(ProgramSocket socket, Path log) throws IOException {
    return socket.start(
        settings,
        runtime,
        ProcessBuilder.Redirect.appendTo(log.toFile()),
        SERVE,
        "--socket",
        socket.path().toString());
  }

  /**
   * Returns a container's keeper, which may not listen yet: the thread that started it was
   * interrupted, or its agent has died. A second one would take the first one's socket and memory.
   * A process chooses its own command line, and its length: those of containers do not count.
   */
  private Optional<ProcessHandle> running(Path socket) {
    Optional<String> ours = namespace((int) ProcessHandle.current().pid());
    return proc.processes().stream()
        .map(stat -> stat.id().pid())
        .filter(pid -> proc.command(pid).containsAll(List.of(SERVE, socket.toString())))
        .filter(pid -> namespace(pid).equals(ours))
        .flatMap(pid -> ProcessHandle.of(pid).stream())
        .findFirst();
  }

  private Optional<String> namespace(int pid) {
    return proc.link(pid, "ns/pid");
  }

  /** Starts a container's keeper, or finds it, and makes it ready for these GPUs. */
  public void prepare(String containerId, Collection<GpuUuid> gpus)
      throws KeeperFailure, InterruptedException {
    try (Keeper keeper = open(containerId)) {
      keeper.use(gpus);
    }
  }

  /**
   * Releases all memory of a container's keeper, and ends it, with its contexts. Only if the
   * workload has ended, or has no kernel on the GPU: a kernel that runs for more than 4 s would not
   * survive the end of a context on its GPU. Has no effect without a keeper.
   */
  public void end(String containerId) throws InterruptedException {
    leave(containerId, Keeper::end);
  }

  /**
   * Releases all memory of a container's keeper, whose contexts remain until the workload's
   * processes have ended. Only if the workload has its memory. Has no effect without a keeper.
   */
  public void rest(String containerId) throws InterruptedException {
    leave(containerId, Keeper::rest);
  }

  private interface Farewell {
    void say(Keeper keeper) throws KeeperFailure, InterruptedException;
  }

  private void leave(String containerId, Farewell farewell) throws InterruptedException {
    Path socket = socket(containerId).path();
    Path holder = socket.resolveSibling(socket.getFileName() + HOLDER);
    if (!Files.exists(socket) && !Files.exists(holder) && running(socket).isEmpty()) {
      return;
    }
    for (int tries = 1; ; tries++) {
      try (Keeper keeper = open(containerId)) {
        farewell.say(keeper);
        return;
      } catch (KeeperFailure e) {
        if (!e.connectionLost() || tries == ENDS) {
          LOG.log(
              System.Logger.Level.ERROR,
              "Device memory may still be held: container={0} reason={1}",
              containerId,
              e.getMessage());
          return;
        }
      }
    }
  }

  /**
   * Returns the containers that may have a keeper: the beginning of each one's id, which the other
   * methods accept.
   */
  public Set<String> known() throws IOException {
    Set<String> names = new TreeSet<>();
    try (DirectoryStream<Path> sockets = Files.newDirectoryStream(stateDir, PREFIX + "*")) {
      for (Path socket : sockets) {
        String name = String.valueOf(socket.getFileName()).substring(PREFIX.length());
        names.add(name.endsWith(HOLDER) ? name.substring(0, name.indexOf(HOLDER)) : name);
      }
    }
    return names;
  }

  private ProgramSocket socket(String containerId) {
    String name = containerId.substring(0, Math.min(NAME_DIGITS, containerId.length()));
    return new ProgramSocket(stateDir.resolve(PREFIX + name), startLimit);
  }
}
