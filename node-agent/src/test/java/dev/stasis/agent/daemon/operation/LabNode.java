package dev.stasis.agent.daemon.operation;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.daemon.kubelet.ContainerExec;
import dev.stasis.agent.daemon.kubelet.ContainerProcess;
import dev.stasis.agent.daemon.kubelet.NodeApiException;
import dev.stasis.agent.daemon.kubelet.PodContainer;
import dev.stasis.agent.daemon.kubelet.PodContainers;
import dev.stasis.agent.daemon.kubelet.PodGpus;
import dev.stasis.agent.daemon.kubelet.PodMount;
import dev.stasis.agent.process.ProcFs;
import dev.stasis.agent.process.ProcessId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/** A runtime and a kubelet of files: which container runs for which pod, with which GPUs. */
final class LabNode implements PodContainers, PodGpus, ContainerExec {

  private static final ObjectMapper JSON = new ObjectMapper();

  private final Path folder;

  LabNode(Path folder) {
    this.folder = folder;
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** One container. */
  record Entry(
      String namespace,
      String pod,
      String podUid,
      String container,
      String id,
      int pid,
      List<String> gpus,
      Set<String> volumes) {}

  void add(Entry entry) {
    Path fresh = folder.resolve(entry.podUid() + "." + UUID.randomUUID());
    try {
      Files.write(fresh, JSON.writeValueAsBytes(entry));
      // An agent may be reading it.
      Files.move(
          fresh,
          folder.resolve(entry.podUid() + ".json"),
          StandardCopyOption.ATOMIC_MOVE,
          StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Optional<Entry> entry(String podUid) {
    try {
      return Optional.of(
          JSON.readValue(Files.readAllBytes(folder.resolve(podUid + ".json")), Entry.class));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public Located locate(String podUid, String container) {
    Optional<Entry> found = entry(podUid);
    Optional<ProcessId> process = found.flatMap(entry -> new ProcFs().id(entry.pid()));
    if (found.isEmpty() || process.isEmpty() || !found.get().container().equals(container)) {
      return new Located.NotRunning("container " + container + ": expected running, got none");
    }
    return new Located.Running(
        container(found.get()),
        new ContainerProcess(process.get(), List.of("/bin/gpu-counter"), List.of()));
  }

  private static PodContainer container(Entry entry) {
    return new PodContainer(
        entry.namespace(),
        entry.pod(),
        entry.podUid(),
        entry.container(),
        entry.id(),
        new PodContainer.Image("counter:test", "sha256:c0", List.of()),
        entry.volumes().stream()
            .map(path -> new PodMount(Path.of("/"), path, false, Optional.empty()))
            .toList());
  }

  @Override
  public String version() {
    return "files";
  }

  @Override
  public Optional<PodContainer> byId(String containerId) {
    return entries().map(LabNode::container).filter(it -> it.id().equals(containerId)).findFirst();
  }

  /** The kubelet does not say which GPUs a container has, until it is told to again. */
  void hideGpus(boolean hidden) {
    try {
      if (hidden) {
        Files.writeString(folder.resolve("hidden"), "");
      } else {
        Files.delete(folder.resolve("hidden"));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public List<GpuUuid> of(String namespace, String pod, String container) throws NodeApiException {
    if (Files.exists(folder.resolve("hidden"))) {
      throw new NodeApiException("pod-resources: connection refused");
    }
    return entries()
        .filter(entry -> entry.pod().equals(pod) && entry.namespace().equals(namespace))
        .flatMap(entry -> entry.gpus().stream())
        .map(GpuUuid::parse)
        .toList();
  }

  private Stream<Entry> entries() {
    try (var files = Files.list(folder)) {
      return files
          .filter(file -> file.toString().endsWith(".json"))
          .map(file -> entry(file.getFileName().toString().replace(".json", "")).orElseThrow())
          .toList()
          .stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Writes the command down; one that begins with {@code fail} fails, {@code for-ever} runs until
   * it is killed, and {@code until-failed} fails at {@link #fail}.
   */
  @Override
  public Result run(String containerId, List<String> command, Duration deadline) {
    try {
      Files.writeString(
          folder.resolve("ran"),
          String.join(" ", command) + "\n",
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    if (command.get(0).startsWith("for-ever")) {
      try {
        // Its deadline kills it; a cancel interrupts the call.
        boolean unusedNever = new CountDownLatch(1).await(deadline.toMillis(), MILLISECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      return new Result.TimedOut(deadline);
    }
    if (command.get(0).startsWith("until-failed")) {
      // Its test may run in another process than the agent, and has no other way to say it.
      Awaitility.await().atMost(deadline).until(() -> Files.exists(folder.resolve("failed")));
      return new Result.Exited(1, "");
    }
    return new Result.Exited(command.get(0).startsWith("fail") ? 1 : 0, "");
  }

  /** Ends commands that run until then. */
  void fail() throws IOException {
    Files.createFile(folder.resolve("failed"));
  }

  /** What was run in containers, in order. */
  List<String> ran() {
    try {
      return Files.exists(folder.resolve("ran"))
          ? Files.readAllLines(folder.resolve("ran"))
          : List.of();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
