package dev.stasis.agent.engine;

import dev.stasis.artifact.ArtifactStage;
import dev.stasis.artifact.Manifest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Publishes the artifact of a checkpoint that has captured everything. */
final class CapturePublication {

  private static final System.Logger LOG = System.getLogger(CapturePublication.class.getName());

  private final Freeze freeze;
  private final NodeParts node;
  private final Inspected inspected;
  private final StepTimings timings;

  CapturePublication(Freeze freeze, Inspected inspected, StepTimings timings) {
    this.freeze = freeze;
    this.node = freeze.node();
    this.inspected = inspected;
    this.timings = timings;
  }

  /** Publishes the artifact of a workload that does not run: it must not wait for a hung store. */
  ArtifactStage.SealedArtifact ofFrozen(StepListener listener) throws IOException {
    try {
      return bounded(listener);
    } catch (InterruptedException stopped) {
      throw new IOException("the agent is stopping", stopped);
    }
  }

  private ArtifactStage.SealedArtifact bounded(StepListener listener)
      throws IOException, InterruptedException {
    boolean published = false;
    String what = "artifact of " + freeze.work().id();
    try {
      Capture capture = freeze.storeCalls().call(what, pulse -> capture());
      // Not by a thread that may be left behind: the next checkpoint has another capture.
      saved().accept(capture);
      ArtifactStage.SealedArtifact sealed =
          freeze
              .storeCalls()
              .call(
                  what,
                  pulse -> {
                    try (HostLocks.Held held =
                        Publication.exclusive(node, freeze.work().containerId())) {
                      return run(capture, new BeatingListener(listener, pulse, syncLimit()), pulse);
                    }
                  });
      published = true;
      return sealed;
    } catch (StepFailure silent) {
      throw new IOException(silent.getMessage(), silent);
    } finally {
      if (!published && !freeze.artifact().revoke()) {
        LOG.log(
            System.Logger.Level.WARNING,
            "The artifact of {0} may be in its store, although its checkpoint has failed",
            freeze.work().id());
      }
    }
  }

  /** A sync of everything reports no progress. */
  private Duration syncLimit() {
    return MoveStep.deadline(inspected.expectedBytes());
  }

  /**
   * Publishes the artifact of a workload that runs. If this agent dies before the end, it may be
   * published later. Waits for a hung store, unless copies of the device memory are on the GPU:
   * another workload may need that memory for its thaw.
   */
  ArtifactStage.SealedArtifact ofRunning(StepListener listener)
      throws IOException, InterruptedException {
    return freeze.offloading().onGpu(freeze.work().offloaded())
        ? bounded(listener)
        : ofEnded(listener);
  }

  /** Publishes the only copy of a workload that has ended, and waits for a hung store. */
  ArtifactStage.SealedArtifact ofEnded(StepListener listener)
      throws IOException, InterruptedException {
    Capture capture = capture();
    saved().accept(capture);
    return run(capture, listener, longer -> {});
  }

  private Consumer<Capture> saved() {
    return freeze.request().options().heldUntilDecided() ? unkept -> {} : this::record;
  }

  private ArtifactStage.SealedArtifact run(
      Capture capture, StepListener listener, StoreCalls.Pulse pulse)
      throws IOException, InterruptedException {
    long begin = node.nanoTime().getAsLong();
    images().run(node.parallel(), () -> listener.progress("hash", 0, 0));
    pulse.beat(Publication.limit(capture));
    ArtifactStage.SealedArtifact sealed =
        new Publication(
                node,
                freeze.work().containerId(),
                freeze.artifact(),
                freeze.request().options().threads(),
                listener,
                freeze.storeCalls())
            .run(capture, saved());
    timings.add("publish", Duration.ofNanos(node.nanoTime().getAsLong() - begin));
    return sealed;
  }

  private void record(Capture capture) {
    try {
      capture.write(node.journal().folderOf(freeze.work().containerId()));
    } catch (IOException | UncheckedIOException e) {
      LOG.log(
          System.Logger.Level.WARNING,
          "Cannot record the capture of " + freeze.work().id() + " for a successor",
          e);
    }
  }

  /** What a resumed workload has left in memory. */
  private ImageCopy images() {
    Path folder = node.journal().folderOf(freeze.work().containerId());
    return new ImageCopy(folder.resolve(CriuImages.FOLDER), freeze.artifact().criu());
  }

  private Map<String, Long> files() throws IOException {
    Map<String, Long> files = new TreeMap<>(freeze.artifact().sizes());
    images().sizes().forEach((image, size) -> files.put(ArtifactStage.CRIU + "/" + image, size));
    return files;
  }

  private Capture capture() throws IOException {
    List<Capture.Regions> regions = new ArrayList<>();
    for (RegionPlan plan : freeze.plans()) {
      regions.add(
          new Capture.Regions(
              plan.ownPid(), plan.stage().toString(), plan.journal().toString(), plan.host()));
    }
    @Nullable String library = null;
    List<Capture.Device> device = new ArrayList<>();
    if (freeze.dataPath() instanceof DataPath.Direct direct) {
      library = direct.library();
      freeze.work().offloaded().forEach(one -> device.add(device(one)));
    }
    Manifest.DataPath path = new Manifest.DataPath(kind(), freeze.pathTaken());
    return new Capture(
        freeze.manifest(timings.asMap(), path),
        freeze.request().options().durability(),
        regions,
        library,
        device,
        files(),
        0,
        null);
  }

  private Capture.Device device(Offloaded one) {
    @Nullable Path saved = freeze.offloading().saved().get(one.process());
    Path file =
        saved != null
            ? saved
            : freeze.offloading().fileAfterwards(one, freeze.artifact().deviceFolder());
    return new Capture.Device(
        one.process(), one.ownPid(), file.toString(), saved != null, one.totalBytes());
  }

  private Manifest.DataPath.Kind kind() {
    if (freeze.dataPath() instanceof DataPath.Direct) {
      return Manifest.DataPath.Kind.DIRECT;
    }
    return freeze.plans().isEmpty() ? Manifest.DataPath.Kind.CRIU : Manifest.DataPath.Kind.MOVER;
  }
}
