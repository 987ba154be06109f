package dev.stasis.local.gpu;

import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.local.runc.OciMount;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The allocatable GPUs, and the files that a container toolkit would mount into containers.
 *
 * @param simulated whether they are simulated
 * @param gpus in the node's order
 * @param common what every container with a GPU gets
 */
public record GpuSupply(boolean simulated, List<Device> gpus, List<OciMount> common) {

  private static final String LIBRARIES = "/usr/lib/x86_64-linux-gnu/";
  private static final Pattern MINOR = Pattern.compile("(?m)^Device Minor:\\s*([0-9]+)");

  public GpuSupply {
    gpus = List.copyOf(gpus);
    common = List.copyOf(common);
  }

  /**
   * One GPU.
   *
   * @param uuid its UUID
   * @param mount its device node
   */
  public record Device(GpuUuid uuid, OciMount mount) {}

  /** A machine without GPUs. */
  public static GpuSupply none() {
    return new GpuSupply(false, List.of(), List.of());
  }

  /**
   * Simulated GPUs.
   *
   * @param folder the folder of the simulated node
   * @param libcuda the simulated driver library
   */
  public static GpuSupply simulated(NodeGpus node, Path folder, Path libcuda) {
    List<Device> gpus =
        node.gpus().stream()
            .map(gpu -> device(gpu, folder.resolve("nvidia" + gpu.index()), gpu.index()))
            .toList();
    return new GpuSupply(
        true,
        gpus,
        List.of(
            OciMount.bind(libcuda, LIBRARIES + "libcuda.so.1", true),
            OciMount.bind(folder.resolve("nvidiactl"), "/dev/nvidiactl", false)));
  }

  /** Real GPUs. */
  public static GpuSupply real(NodeGpus node, Path libcuda) throws IOException {
    List<OciMount> common = new ArrayList<>();
    common.add(OciMount.bind(libcuda.toRealPath(), LIBRARIES + "libcuda.so.1", true));
    for (String name : List.of("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools")) {
      Path file = Path.of("/dev", name);
      if (Files.exists(file)) {
        common.add(OciMount.bind(file, file.toString(), false));
      }
    }
    List<Device> gpus = new ArrayList<>();
    for (Gpu gpu : node.gpus()) {
      int minor = minor(gpu);
      gpus.add(device(gpu, Path.of("/dev/nvidia" + minor), minor));
    }
    return new GpuSupply(false, gpus, common);
  }

  private static Device device(Gpu gpu, Path node, int minor) {
    return new Device(gpu.uuid(), OciMount.bind(node, "/dev/nvidia" + minor, false));
  }

  /** From the driver; if that is not available, the index is the minor number on most machines. */
  private static int minor(Gpu gpu) throws IOException {
    // NVML writes 8 digits of the PCI domain, the driver's folder has 4.
    String address = gpu.pciBusId().toLowerCase(Locale.ROOT).replaceFirst("^0000(?=....:)", "");
    Path information = Path.of("/proc/driver/nvidia/gpus", address, "information");
    if (!Files.exists(information)) {
      return gpu.index();
    }
    Matcher matcher = MINOR.matcher(Files.readString(information));
    return matcher.find() ? Integer.parseInt(matcher.group(1)) : gpu.index();
  }
}
