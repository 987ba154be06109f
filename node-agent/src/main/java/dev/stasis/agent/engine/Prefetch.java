package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.direct.Keeper;
import dev.stasis.agent.direct.KeeperFailure;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Loads device memory onto the GPU of a waiting container while its files arrive from another node,
 * if the GPU has room for the workload twice. {@link Prefill} continues with what the keeper has by
 * then. Nothing depends on it: if it fails, the restore reads the files.
 *
 * <p>What it has loaded is given up when it is closed, unless it is kept for the restore. Then the
 * keeper gives it up when the container ends.
 */
public final class Prefetch implements AutoCloseable {

  private static final System.Logger LOG = System.getLogger(Prefetch.class.getName());

  /** The folder of the direct path in an artifact, and the suffixes of the keeper's files there. */
  private static final String FOLDER = "device/";

  private static final String DATA = ".data";
  private static final String TABLE = ".chunks";

  /** The keeper loads whole chunks of this size. */
  private static final long CHUNK = 8L << 20;

  /** The most regions that a keeper accepts are 65,536, with less than 64 bytes each. */
  private static final int MOST_TABLE_BYTES = 4 << 20;

  /** A command ends within milliseconds when its connection is closed; this is for a busy node. */
  private static final Duration STOP_LIMIT = Duration.ofSeconds(5);

  /** While nothing arrives: memory on the GPU of a container that has ended is soon another's. */
  private static final long ALIVE_MILLIS = 1000;

  private final NodeParts node;
  private final Container target;
  private final Gpu gpu;
  private final Path folder;
  private final Thread thread;
  private final Map<String, Arriving> files = new HashMap<>();
  private volatile boolean stopped;
  private boolean kept;
  private long workloadBytes;
  private long loadedBytes;
  private long loadingNanos;

  /** The data of one process; what is loaded, by the beginnings of its parts. */
  private static final class Arriving {
    private final ArrivedParts parts = new ArrivedParts();
    private final Map<Long, Long> loaded = new HashMap<>();
    private boolean hasTable;
    private boolean reserved;
  }

  private record Part(Path path, Arriving file, long from, long to) {}

  private Prefetch(NodeParts node, Container target, Gpu gpu, Path folder) {
    this.node = node;
    this.target = target;
    this.gpu = gpu;
    this.folder = folder.toAbsolutePath();
    this.thread = new Thread(this::run, "prefetch of " + target.id());
    thread.setDaemon(true);
  }

  /**
   * Starts the keeper of a waiting container, without waiting for it: a context takes up to a
   * second, and a keeper that does not start a minute, which the transfer would lose.
   *
   * @param folder receives the files
   */
  static Prefetch begin(NodeParts node, Container target, Gpu gpu, Path folder) {
    Prefetch begun = new Prefetch(node, target, gpu, folder);
    begun.thread.start();
    return begun;
  }

  /** A part of a file is there, of any file of the artifact. Does not block. */
  public synchronized void arrived(String name, long offset, int length) {
    boolean data = name.endsWith(DATA);
    if (stopped || !name.startsWith(FOLDER) || !(data || name.endsWith(TABLE))) {
      return;
    }
    Arriving file =
        files.computeIfAbsent(name.substring(0, name.lastIndexOf('.')), key -> new Arriving());
    if (data) {
      file.parts.add(offset, offset + length);
    } else {
      // Its regions are in one block, because they are written before the rest.
      file.hasTable |= offset == 0;
    }
    notifyAll();
  }

  private void run() {
    try {
      // One of an earlier attempt has other files.
      endUnlessNeeded();
      try (Keeper keeper = node.keepers().open(target.id())) {
        keeper.until(target.init());
        keeper.use(List.of(gpu.uuid()));
        while (!stopped) {
          load(keeper, next());
        }
      }
    } catch (KeeperFailure | StepFailure | IOException | RuntimeException e) {
      if (!stopped) {
        setLoadedBytes(0);
        LOG.log(
            System.Logger.Level.INFO,
            "Device memory is loaded after its arrival: container={0} reason={1}",
            target.id(),
            e.getMessage());
        end();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The keeper of an operation that has begun since may have the only copy of memory. */
  private void endUnlessNeeded() throws InterruptedException {
    if (node.journal().read(target.id()).isEmpty()) {
      node.keepers().end(target.id());
    }
  }

  private void end() {
    try {
      endUnlessNeeded();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits until another chunk of a file with known regions may be complete. */
  private synchronized Part next() throws InterruptedException {
    while (true) {
      if (!node.proc().alive(target.init())) {
        throw new IllegalStateException("the target container has ended");
      }
      for (Map.Entry<String, Arriving> one : files.entrySet()) {
        Arriving file = one.getValue();
        for (Map.Entry<Long, Long> part : file.parts.ends().entrySet()) {
          long loaded = file.loaded.getOrDefault(part.getKey(), part.getKey());
          if (file.hasTable && part.getValue() - loaded >= CHUNK) {
            return new Part(folder.resolve(one.getKey()), file, part.getKey(), part.getValue());
          }
        }
      }
      wait(ALIVE_MILLIS);
    }
  }

  private void load(Keeper keeper, Part part)
      throws KeeperFailure, StepFailure, IOException, InterruptedException {
    if (!part.file().reserved) {
      reserve(keeper, part.path());
      part.file().reserved = true;
    }
    long begin = node.nanoTime().getAsLong();
    keeper.arrived(part.path(), part.from(), part.to());
    loadingNanos += node.nanoTime().getAsLong() - begin;
    Long before = part.file().loaded.put(part.from(), part.to());
    setLoadedBytes(loadedBytes() + part.to() - (before == null ? part.from() : before));
  }

  /** All or nothing, and without a wait: the restore must find the memory that it needs. */
  private void reserve(Keeper keeper, Path path)
      throws KeeperFailure, StepFailure, IOException, InterruptedException {
    long bytes = regions(path.resolveSibling(path.getFileName() + TABLE));
    workloadBytes += bytes;
    try (GpuGate.Pass pass =
        node.gate().enter(Map.of(gpu.uuid(), bytes + workloadBytes), Duration.ZERO)) {
      keeper.reserve(gpu.uuid(), (workloadBytes + GpuGate.margin(gpu) >> 20) + 1, path);
    }
    requireFree();
  }

  /**
   * Pods may share the GPU. The memory of a frozen or suspended workload only looks free, and a
   * transfer does not wait in the queue of the operations on this GPU. Called with the memory
   * taken: the record of a workload is written before its memory is freed.
   */
  private void requireFree() throws StepFailure {
    for (Work work : node.journal().all()) {
      if (Stream.concat(
              work.cuda().stream().map(CudaProcess::deviceBytes),
              work.offloaded().stream().map(Offloaded::deviceBytes))
          .anyMatch(bytes -> bytes.containsKey(gpu.uuid()))) {
        throw new StepFailure(
            Reason.NO_ROOM, "another workload needs the GPU: container " + work.containerId());
      }
    }
  }

  /**
   * The length is the last word of each region; its format is in docs/direct-path.md. A sender may
   * have made the file as long as it likes.
   */
  private static long regions(Path table) throws IOException {
    try (InputStream in = Files.newInputStream(table)) {
      return new String(in.readNBytes(MOST_TABLE_BYTES), StandardCharsets.UTF_8)
          .lines()
          .takeWhile(line -> !line.startsWith("C"))
          .filter(line -> line.startsWith("R "))
          .mapToLong(line -> Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)))
          .sum();
    }
  }

  /** The parts of the data that the keeper has read, in bytes; 0 once it has given up. */
  synchronized long loadedBytes() {
    return loadedBytes;
  }

  private synchronized boolean hasFiles() {
    return !files.isEmpty();
  }

  private synchronized void setLoadedBytes(long bytes) {
    loadedBytes = bytes;
  }

  /** Loads nothing more. The files may be renamed after it. */
  public void stop() {
    stopped = true;
    thread.interrupt();
    try {
      thread.join(STOP_LIMIT.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Leaves what is loaded to the restore, which compares its digests with those of the artifact. If
   * the source has not taken the direct path after all, the restore needs no keeper, and the
   * workload would run without the device memory of its context.
   */
  public void keep() {
    kept = hasFiles();
    LOG.log(
        System.Logger.Level.INFO,
        "Device memory loaded while it arrived: container={0} loadedMiB={1} ofMiB={2} ms={3}",
        target.id(),
        "" + (loadedBytes() >> 20),
        "" + (workloadBytes >> 20),
        "" + loadingNanos / 1_000_000);
  }

  @Override
  public void close() {
    boolean interrupted = Thread.interrupted();
    stop();
    if (!kept) {
      end();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
