package dev.stasis.agent.engine;

import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.process.Mount;
import dev.stasis.agent.process.ProcFs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Determines the GPUs of a container by the device nodes in its /dev, never by its environment,
 * which contains {@code void} if CDI injects the devices.
 */
final class ContainerGpus {

  private static final Pattern NODE = Pattern.compile("nvidia([0-9]{1,4})");
  private static final Pattern MINOR = Pattern.compile("(?m)^Device Minor:\\s*([0-9]+)");
  private static final String DEV = "/dev/";
  private static final int MINOR_LOW_BITS = 0xff;

  private final Path proc;

  /**
   * Reads the given proc file system.
   *
   * @param proc usually {@code /proc}
   */
  ContainerGpus(Path proc) {
    this.proc = proc;
  }

  /**
   * Returns the GPUs that the process sees and may open, in the driver's order: that of their PCI
   * addresses.
   *
   * @param allowed whether the container may open a device node; asked once for each GPU
   */
  List<Gpu> of(int pid, List<Gpu> onNode, Predicate<Path> allowed) {
    Map<Integer, Gpu> byMinor = byMinor(onNode);
    TreeMap<Integer, Gpu> seen = new TreeMap<>();
    Set<Integer> tried = new HashSet<>();
    Map<String, String> files = files(pid);
    Path dev = proc.resolve(Integer.toString(pid)).resolve("root/dev");
    // A link in the container would lead into the agent's own root.
    if (Files.isSymbolicLink(dev)) {
      return List.of();
    }
    try (DirectoryStream<Path> nodes = Files.newDirectoryStream(dev, "nvidia*")) {
      for (Path node : nodes) {
        String called = node.getFileName().toString();
        Matcher name = NODE.matcher(files.getOrDefault(called, called));
        if (name.matches() && !Files.isSymbolicLink(node) && !isMountPoint(node)) {
          Gpu gpu = byMinor.get(minor(node).orElse(Integer.valueOf(name.group(1))));
          // Root in a container can make any number of nodes of a GPU, and the device cgroup gives
          // the same answer for all of them.
          if (gpu != null
              && tried.add(gpu.index())
              && (minor(node).isEmpty() || allowed.test(node))) {
            seen.put(gpu.index(), gpu);
          }
        }
      }
    } catch (NoSuchFileException e) {
      return List.of();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + dev, e);
    }
    return new ArrayList<>(seen.values());
  }

  /**
   * The files that are mounted as GPUs, by their names in the container: a migrated workload keeps
   * the names of its first node, whatever is mounted there now.
   */
  private Map<String, String> files(int pid) {
    Map<String, String> files = new TreeMap<>();
    for (Mount mount : new ProcFs(proc).mounts(pid)) {
      Path file = Path.of(mount.root()).getFileName();
      if (mount.mountPoint().startsWith(DEV)
          && file != null
          && NODE.matcher(file.toString()).matches()) {
        files.put(mount.mountPoint().substring(DEV.length()), file.toString());
      }
    }
    return files;
  }

  /** An empty file that remains where a device of another node was mounted. */
  private static boolean isMountPoint(Path node) throws IOException {
    return Files.isRegularFile(node) && Files.size(node) == 0;
  }

  /** A device node's minor number; empty for any other file, such as a simulated GPU's. */
  private static Optional<Integer> minor(Path node) throws IOException {
    Object mode = Files.getAttribute(node, "unix:mode");
    int characterDevice = 0x2000;
    if (((Integer) mode & 0xf000) != characterDevice) {
      return Optional.empty();
    }
    long rdev = ((Number) Files.getAttribute(node, "unix:rdev")).longValue();
    return Optional.of((int) ((rdev & MINOR_LOW_BITS) | ((rdev >> 12) & ~MINOR_LOW_BITS)));
  }

  /** NVML's order is that of PCI addresses; minor numbers are assigned by the kernel module. */
  private Map<Integer, Gpu> byMinor(List<Gpu> gpus) {
    Map<Integer, Gpu> byMinor = new TreeMap<>();
    for (Gpu gpu : gpus) {
      byMinor.put(minorOf(gpu).orElse(gpu.index()), gpu);
    }
    return byMinor;
  }

  private Optional<Integer> minorOf(Gpu gpu) {
    // NVML writes the PCI domain with eight digits, the kernel with four.
    String bus = gpu.pciBusId().toLowerCase(java.util.Locale.ROOT);
    String kernelBus = bus.length() > 12 ? bus.substring(bus.length() - 12) : bus;
    Path information = proc.resolve("driver/nvidia/gpus").resolve(kernelBus).resolve("information");
    try {
      Matcher minor = MINOR.matcher(Files.readString(information));
      return minor.find() ? Optional.of(Integer.valueOf(minor.group(1))) : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    }
  }
}
