package dev.stasis.agent.engine;

import dev.stasis.agent.layer.LayerUnpacker;
import dev.stasis.agent.process.Mount;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Gives the target the files that the workload wrote. */
final class UnpackStep implements Step<Restoring, FrozenWork> {

  @Override
  public String name() {
    return "unpack";
  }

  @Override
  public String undoName() {
    return "keep-files";
  }

  @Override
  public void run(Restoring restoring) throws StepFailure {
    Path layer = restoring.artifact().layer();
    try {
      if (isEmpty(layer)) {
        return; // The source had no writable layer.
      }
      List<String> mountPoints =
          restoring.target().mounts().stream().map(Mount::mountPoint).toList();
      Path root = restoring.node().proc().folder(restoring.target().init().pid()).resolve("root");
      new LayerUnpacker(mountPoints).unpack(layer, root);
    } catch (IOException e) {
      throw new StepFailure(Reason.LAYER_FAILED, "writable layer: " + e.getMessage(), e);
    }
  }

  private static boolean isEmpty(Path folder) throws IOException {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.findAny().isEmpty();
    }
  }

  /**
   * A target that was written to is deleted by whoever made it; its files belong to nobody else.
   */
  @Override
  public void undo(FrozenWork frozen) {}
}
