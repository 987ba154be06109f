package dev.stasis.agent.engine;

import dev.stasis.agent.container.Container;
import dev.stasis.agent.container.ProcessTree;
import dev.stasis.agent.criu.ImageFault;
import dev.stasis.agent.criu.RestoreImages;
import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.agent.layer.ContainerPaths;
import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.artifact.Artifact;
import dev.stasis.artifact.DeviceMemory;
import dev.stasis.artifact.Hardware;
import dev.stasis.artifact.Manifest;
import dev.stasis.artifact.NodeFacts;
import dev.stasis.artifact.VolumeFile;
import dev.stasis.compat.Compatibility;
import dev.stasis.compat.Fingerprint;
import dev.stasis.compat.GpuSet;
import dev.stasis.compat.Link;
import dev.stasis.compat.Links;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether a waiting container can run a workload: each property that prevents it, with both
 * values.
 */
final class TargetCheck {

  /** The first driver that accepts a map of GPUs; before it the same GPUs are needed. */
  private static final int MAP_SINCE_CUDA = 13000;

  private final NodeParts node;

  TargetCheck(NodeParts node) {
    this.node = node;
  }

  List<FailedRequirement> unmet(
      Artifact artifact, Container target, NodeGpus gpus, List<Gpu> seen) {
    List<FailedRequirement> unmet = new ArrayList<>();
    unmet.addAll(holder(target));
    Manifest manifest = artifact.manifest();
    List<Hardware.Gpu> before = manifest.hardware().gpus();
    if (before.size() != seen.size()) {
      unmet.add(new FailedRequirement("gpu.count", "" + before.size(), "" + seen.size()));
    } else if (!before.isEmpty()) {
      Compatibility.check(wanted(manifest), new PlaceFingerprint(node).of(gpus, seen))
          .mismatches()
          .stream()
          .filter(mismatch -> mismatch.hard())
          .forEach(
              mismatch ->
                  unmet.add(
                      new FailedRequirement(
                          mismatch.property().key(), mismatch.wanted(), mismatch.found())));
      if (!same(before, seen) && gpus.cudaVersion() < MAP_SINCE_CUDA) {
        unmet.add(
            new FailedRequirement(
                "gpu.uuid",
                "the same GPUs in the same order, because driver "
                    + gpus.driverVersion()
                    + " does not support a map of GPUs",
                seen.stream().map(gpu -> gpu.uuid().text()).toList().toString()));
      }
    }
    // Without the reservations of other operations: the restore waits for those.
    new Room(node.proc())
        .missing(target, inHostMemory(manifest), 0)
        .ifPresent(
            missing ->
                unmet.add(
                    new FailedRequirement(Inspected.RoomFound.PROPERTY, "enough of it", missing)));
    unmet.addAll(inotify(artifact.criu()));
    unmet.addAll(library(manifest.device(), target));
    for (VolumeFile file : manifest.openFilesOnVolumes()) {
      changed(target, file).ifPresent(unmet::add);
    }
    return unmet;
  }

  /** Other pods of the node may use what its limits allow. */
  private List<FailedRequirement> inotify(Path images) {
    try {
      return new InotifyRoom(node.proc()).missing(new RestoreImages(images).watches());
    } catch (ImageFault e) {
      return List.of(new FailedRequirement(e.property(), e.expected(), e.actual()));
    } catch (IOException e) {
      return List.of(
          new FailedRequirement("criu images", "readable files", String.valueOf(e.getMessage())));
    }
  }

  private static boolean isBelow(String path, String mountPoint) {
    return !mountPoint.equals("/") && path.startsWith(mountPoint + "/");
  }

  /** The direct path needs host memory only for what the driver restores. */
  static long inHostMemory(Manifest manifest) {
    long direct = manifest.device() == null ? 0 : manifest.device().bytes();
    return Math.max(0, manifest.sizes().gpuBytes() - direct);
  }

  /** The library maps itself from its file, and loads the memory from a keeper. */
  private List<FailedRequirement> library(@Nullable DeviceMemory device, Container target) {
    if (device == null) {
      return List.of();
    }
    if (!node.keepers().available()) {
      return List.of(
          new FailedRequirement("direct data path", "stasis-keeper on this node", "none"));
    }
    if (target.mounts().stream().anyMatch(mount -> isBelow(device.library(), mount.mountPoint()))) {
      return List.of(); // A volume, which is unpacked later; criu reports missing files then.
    }
    Path root = node.proc().folder(target.init().pid()).resolve("root");
    try {
      new ContainerPaths(root).file(device.library());
      return List.of();
    } catch (IOException e) {
      return List.of(
          new FailedRequirement(
              "library of the direct data path", device.library(), "no such file"));
    }
  }

  /** Unmet unless it is a holder that waits for its first restore. */
  List<FailedRequirement> holder(Container target) {
    List<FailedRequirement> unmet = new ArrayList<>();
    List<String> command = node.proc().command(target.init().pid());
    boolean waits =
        command.size() > 1
            && command.get(0).endsWith("stasis-runtime")
            && command.get(1).equals("init");
    if (!waits) {
      unmet.add(
          new FailedRequirement(
              "target container",
              "a waiting holder (stasis-runtime init)",
              // Without its arguments, which may contain a Secret: statuses are widely readable.
              command.isEmpty() ? "a process without a command line" : command.get(0)));
      return unmet;
    }
    ProcessTree.Listing listing = node.tree().list(target);
    if (target.isRestored() || listing.living().size() > 1) {
      unmet.add(
          new FailedRequirement(
              "target container",
              "a new holder, alone in its container",
              listing.living().size() + " processes"));
    }
    new Strangers(node).unmet(target).ifPresent(unmet::add);
    new RightsCheck(node).label(target.init().pid()).ifPresent(unmet::add);
    Path folder = node.proc().folder(target.init().pid()).resolve("root/.stasis");
    if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
      unmet.add(
          new FailedRequirement("holder's folder", "a folder at /.stasis", "none, or a link"));
    } else if (Files.exists(folder.resolve(ProveStep.MARK), LinkOption.NOFOLLOW_LINKS)
        || Files.exists(folder.resolve("workload.pid"), LinkOption.NOFOLLOW_LINKS)) {
      unmet.add(
          new FailedRequirement(
              "target container", "a new holder", "one that already has a restored workload"));
    }
    return unmet;
  }

  private static boolean same(List<Hardware.Gpu> before, List<Gpu> seen) {
    for (int i = 0; i < before.size(); i++) {
      if (!before.get(i).uuid().equals(seen.get(i).uuid().text())) {
        return false;
      }
    }
    return true;
  }

  private Fingerprint wanted(Manifest manifest) {
    NodeFacts facts = manifest.node();
    List<dev.stasis.compat.Gpu> gpus =
        manifest.hardware().gpus().stream()
            .map(
                gpu ->
                    new dev.stasis.compat.Gpu(
                        gpu.model(), gpu.memoryBytes() >> 20, gpu.computeCapability(), false))
            .toList();
    // Interconnect is required only if it is known from the manifest.
    return new NodeFactsReader(node.proc().root(), node.tools().criuVersion())
        .host(facts)
        .and(
            new GpuSet(
                    String.valueOf(facts.driverVersion()),
                    gpus,
                    Links.alike(gpus.size(), Link.of(Link.Kind.SYS)))
                .fingerprint());
  }

  /**
   * criu requires a file on a volume to be unchanged, and reports a change only in the middle of
   * the restore.
   */
  private Optional<FailedRequirement> changed(Container target, VolumeFile file) {
    Path root = node.proc().folder(target.init().pid()).resolve("root");
    try {
      ContainerPaths.File found = new ContainerPaths(root).file(file.path());
      if (found.size() == file.size() && found.modified().equals(file.modified())) {
        return Optional.empty();
      }
      return Optional.of(
          new FailedRequirement(
              "file " + file.path() + " on a volume",
              "%d bytes of %s".formatted(file.size(), file.modified()),
              "%d bytes of %s".formatted(found.size(), found.modified())));
    } catch (IOException e) {
      return Optional.of(
          new FailedRequirement("file " + file.path() + " on a volume", "there", "none"));
    }
  }
}
