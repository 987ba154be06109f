package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.layer.LayerUnpacker;
import dev.stasis.agent.layer.VolumeGuard;
import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.agent.process.Mount;
import dev.stasis.artifact.Artifact;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Unpacks the workload's files into the target.
 *
 * <p>Has no undo: a written target is deleted by its creator, and its files belong to it only.
 */
final class UnpackStep implements Step<Restoring, FrozenWork> {

  @Override
  public String name() {
    return "unpack";
  }

  @Override
  public void run(Restoring restoring) throws StepFailure {
    Path layer = restoring.artifact().layer();
    try {
      if (isEmpty(layer)) {
        return; // The source had no writable layer.
      }
      Container target = restoring.target();
      Path root = restoring.node().proc().folder(target.init().pid()).resolve("root");
      unpacker(target, restoring.request()).unpack(layer, root);
    } catch (IOException e) {
      throw new StepFailure(Reason.LAYER_FAILED, "writable layer: " + e.getMessage(), e);
    }
  }

  /**
   * Returns the volumes of the target whose files a restore would delete although they do not
   * belong to the pod; changes nothing.
   */
  static List<FailedRequirement> unmet(
      Artifact artifact, Container target, Path root, RestoreRequest request) {
    try {
      if (isEmpty(artifact.layer())) {
        return List.of();
      }
      return unpacker(target, request).misfits(artifact.layer(), root).stream()
          .map(
              misfit ->
                  new FailedRequirement(misfit.property(), misfit.expected(), misfit.actual()))
          .toList();
    } catch (IOException e) {
      return List.of(
          new FailedRequirement("volumes of the target", "readable volumes", e.getMessage() + ""));
    }
  }

  private static LayerUnpacker unpacker(Container target, RestoreRequest request) {
    return new LayerUnpacker(
        target.mounts().stream().map(Mount::mountPoint).toList(),
        new VolumeGuard(target.mounts(), request.volumes()),
        request.options().threads());
  }

  private static boolean isEmpty(Path folder) throws IOException {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.findAny().isEmpty();
    }
  }
}
