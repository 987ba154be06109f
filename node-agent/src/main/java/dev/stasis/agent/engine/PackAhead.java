package dev.stasis.agent.engine;

import dev.stasis.agent.layer.LayerPacker;
import dev.stasis.agent.process.OpenFile;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.stream.Collectors;

/**
 * Packs what the workload wrote before anything is frozen: a cache of models is packed at the speed
 * of the disk. {@link LayerStep} packs what has changed since.
 */
final class PackAhead {

  static final String NAME = "pack-ahead";

  private final Freeze freeze;
  private final StepRunner runner;

  PackAhead(Freeze freeze, StepRunner runner) {
    this.freeze = freeze;
    this.runner = runner;
  }

  void run(OperationControl control, long bytes) throws StepFailure {
    long begin = freeze.node().nanoTime().getAsLong();
    PackedFolders folders =
        PackedFolders.of(freeze.node().proc(), freeze.source(), freeze.request());
    LayerPacker.Watch watch =
        packed -> {
          freeze.listener().progress(NAME, packed, bytes);
          try {
            control.check("lock");
          } catch (StepFailure ended) {
            throw new IOException(ended);
          }
        };
    try {
      freeze
          .layerPacker()
          .packAhead(
              folders.upper(),
              folders.root(),
              folders.volumes(),
              freeze.artifact().layer(),
              open(),
              watch);
    } catch (IOException e) {
      if (e.getCause() instanceof StepFailure ended) {
        throw ended;
      }
      throw new StepFailure(Reason.LAYER_FAILED, "writable layer: " + e.getMessage(), e);
    }
    runner.timings().add(NAME, Duration.ofNanos(freeze.node().nanoTime().getAsLong() - begin));
  }

  private LayerPacker.OpenFiles open() {
    Instant before = freeze.node().clock().instant();
    return LayerPacker.OpenFiles.of(
        before,
        freeze.node().tree().list(freeze.source()).living().stream()
            .flatMap(process -> freeze.node().proc().openFiles(process.pid()).stream())
            .filter(file -> file.isWritable() && file.target().startsWith("/"))
            .map(OpenFile::target)
            .collect(Collectors.toSet()));
  }
}
