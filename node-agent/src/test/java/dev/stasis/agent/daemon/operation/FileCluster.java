package dev.stasis.agent.daemon.operation;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import dev.stasis.api.skew.NewerObjects;
import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/**
 * An API server of files: several processes see it, writes are compared and swapped by
 * resourceVersion, what was written is kept, and it may be away.
 */
final class FileCluster implements ClusterApi {

  /**
   * A JVM starts in a second, an operation takes another, and a sender is patient for a minute; a
   * busy machine is given time.
   */
  static final Duration LIMIT = Duration.ofSeconds(180);

  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .addModules(new JavaTimeModule(), new NewerObjects())
          .disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .build();

  private final Path folder;
  private final Path store;
  private final LabRemoteStore remote;
  final AtomicBoolean storeIsAway = new AtomicBoolean(); // once

  private volatile Predicate<GpuNodeOperationStatus> last = status -> false;

  FileCluster(Path folder, Path store) {
    this.folder = folder;
    this.store = store;
    this.remote = new LabRemoteStore(folder.resolve("remote"));
    try {
      Files.createDirectories(folder.resolve("operations"));
      Files.createDirectories(folder.resolve("pods"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Nobody gets an answer until it is back. */
  void goAway() {
    write(folder.resolve("away"), "");
  }

  /** Goes away when it has taken such a status: nothing that comes later is written. */
  void goAwayAfter(Predicate<GpuNodeOperationStatus> written) {
    last = written;
  }

  void comeBack() {
    last = status -> false;
    var unused = locked(() -> Files.deleteIfExists(folder.resolve("away")));
  }

  private void requireAnswer() throws ApiUnreachable {
    if (Files.exists(folder.resolve("away"))) {
      throw new ApiUnreachable("connection refused", new IOException("away"));
    }
  }

  GpuNodeOperation create(GpuNodeOperation operation) {
    return locked(
        () -> {
          operation.getMetadata().setUid(UUID.randomUUID().toString());
          operation.getMetadata().setCreationTimestamp(Instant.now().toString());
          operation.getMetadata().setResourceVersion("1");
          put(operation);
          return operation;
        });
  }

  /** Changes the spec or the metadata, as the operator or a user does. */
  void edit(String name, Consumer<GpuNodeOperation> change) {
    locked(
        () -> {
          GpuNodeOperation operation = get(name).orElseThrow();
          change.accept(operation);
          bump(operation);
          put(operation);
          return operation;
        });
  }

  void remove(String name) {
    locked(
        () -> {
          Files.delete(file(name));
          return name;
        });
  }

  /** Somebody deletes a pod: it has a time of deletion, and is there until its kubelet is done. */
  void delete(Pod pod) {
    put(
        new PodBuilder(pod)
            .editMetadata()
            .withDeletionTimestamp(Instant.now().toString())
            .endMetadata()
            .build());
  }

  void put(Pod pod) {
    write(folder.resolve("pods").resolve(pod.getMetadata().getName() + ".json"), pod);
  }

  Optional<GpuNodeOperation> get(String name) {
    return read(file(name), GpuNodeOperation.class);
  }

  GpuNodeOperationStatus status(String name) {
    return get(name).map(GpuNodeOperation::getStatus).orElseGet(GpuNodeOperationStatus::new);
  }

  /** Every status that was written of an operation, oldest first. */
  List<GpuNodeOperationStatus> history(String name) {
    return locked(
        () -> {
          List<GpuNodeOperationStatus> all = new ArrayList<>();
          for (String line : Files.readAllLines(folder.resolve(name + ".history"))) {
            all.add(JSON.readValue(line, GpuNodeOperationStatus.class));
          }
          return all;
        });
  }

  GpuNodeOperationStatus await(String name, Predicate<GpuNodeOperationStatus> wanted) {
    FileReadings readings = new FileReadings(JSON);
    return Awaitility.await(name)
        .atMost(LIMIT)
        .pollInterval(Duration.ofMillis(20))
        .until(() -> readings.status(file(name)), wanted);
  }

  GpuNodeOperationStatus awaitEnd(String name) {
    return await(name, status -> status.getPhase() != null && status.getPhase().isFinal());
  }

  GpuNodeOperationStatus await(String name, OperationPhase phase) {
    return await(name, status -> status.getPhase() == phase);
  }

  @Override
  public List<GpuNodeOperation> operations() throws ApiUnreachable {
    requireAnswer();
    return files().stream().flatMap(file -> read(file, GpuNodeOperation.class).stream()).toList();
  }

  private List<Path> files() {
    try (Stream<Path> files = Files.list(folder.resolve("operations"))) {
      return files.filter(file -> file.toString().endsWith(".json")).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public Optional<GpuNodeOperation> operation(String name) throws ApiUnreachable {
    requireAnswer();
    return get(name);
  }

  @Override
  public Optional<Pod> pod(String namespace, String name) throws ApiUnreachable {
    requireAnswer();
    return read(folder.resolve("pods").resolve(name + ".json"), Pod.class)
        .filter(pod -> pod.getMetadata().getNamespace().equals(namespace));
  }

  @Override
  public StoreRoot store(String name) throws ApiUnreachable {
    if (storeIsAway.getAndSet(false)) {
      throw new ApiUnreachable("connection refused", new IOException("away"));
    }
    return new StoreRoot(
        store,
        true,
        LabStores.imports(name),
        name.equals(LabStores.REMOTE) ? remote.place() : null);
  }

  /** Returns the remote store. */
  LabRemoteStore remote() {
    return remote;
  }

  @Override
  public Written writeStatus(GpuNodeOperation operation) {
    try {
      requireAnswer();
    } catch (ApiUnreachable e) {
      return new Written.Failed("connection refused");
    }
    return locked(
        () -> {
          String name = operation.getMetadata().getName();
          Optional<GpuNodeOperation> found = get(name);
          if (found.isEmpty()) {
            return new Written.Gone();
          }
          GpuNodeOperation now = found.get();
          if (!now.getMetadata()
              .getResourceVersion()
              .equals(operation.getMetadata().getResourceVersion())) {
            return new Written.Conflict();
          }
          Outcome end = status(name).getOutcome();
          if (end != null && end != operation.getStatus().getOutcome()) {
            return new Written.Failed("status.outcome: is immutable once set");
          }
          now.setStatus(operation.getStatus());
          bump(now);
          Files.writeString(
              folder.resolve(name + ".history"),
              JSON.writeValueAsString(now.getStatus()) + "\n",
              StandardOpenOption.CREATE,
              StandardOpenOption.APPEND);
          // Before anybody can see the status: nobody else's write comes in between.
          if (last.test(now.getStatus())) {
            goAway();
          }
          put(now);
          return new Written.Done(now);
        });
  }

  @Override
  public AutoCloseable watch(Watcher watcher) {
    ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();
    FileReadings readings = new FileReadings(JSON);
    Map<String, FileReadings.Reading> known = new HashMap<>();
    var unused =
        thread.scheduleWithFixedDelay(
            () -> look(watcher, readings, known), 0, 50, TimeUnit.MILLISECONDS);
    return thread::shutdownNow;
  }

  private void look(
      Watcher watcher, FileReadings readings, Map<String, FileReadings.Reading> known) {
    if (Files.exists(folder.resolve("away"))) {
      return;
    }
    Map<String, FileReadings.Reading> now = new HashMap<>();
    for (Path file : files()) {
      readings.read(file).ifPresent(reading -> now.put(reading.uid(), reading));
    }
    now.forEach(
        (uid, reading) -> {
          if (known.get(uid) != reading) {
            watcher.changed(reading.operation());
          }
        });
    known.forEach(
        (uid, reading) -> {
          if (!now.containsKey(uid)) {
            watcher.gone(reading.name(), uid);
          }
        });
    known.clear();
    known.putAll(now);
  }

  private static void bump(GpuNodeOperation operation) {
    int version = Integer.parseInt(operation.getMetadata().getResourceVersion());
    operation.getMetadata().setResourceVersion(Integer.toString(version + 1));
  }

  private Path file(String name) {
    return folder.resolve("operations").resolve(name + ".json");
  }

  private void put(GpuNodeOperation operation) {
    write(file(operation.getMetadata().getName()), operation);
  }

  private static void write(Path file, Object content) {
    try {
      Path fresh = file.resolveSibling(file.getFileName() + "." + UUID.randomUUID());
      JSON.writeValue(fresh.toFile(), content);
      Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static <T> Optional<T> read(Path file, Class<T> type) {
    try {
      return Optional.of(JSON.readValue(Files.readAllBytes(file), type));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Something done by one process at a time. */
  private interface Deed<T> {
    T done() throws IOException;
  }

  private synchronized <T> T locked(Deed<T> deed) {
    try (FileChannel channel =
            FileChannel.open(
                folder.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock lock = channel.lock()) {
      return deed.done();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
