package dev.stasis.agent.cli;

import dev.stasis.agent.cuda.CudaDriver;
import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.DriverAvailability;
import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.NodeGpus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Looks at the CUDA driver and the GPUs. */
record DriverChecks(CudaDriver driver) {

  /** NVML without persistence mode wakes each GPU first: seen for seconds on eight of them. */
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  /** {@code cuDriverGetVersion} of driver 580, which takes a map of GPUs. */
  private static final int WITH_MAP = 13000;

  List<Finding> run() {
    List<Finding> findings = new ArrayList<>();
    DriverAnswer<NodeGpus> answer = driver.gpus(DEADLINE);
    if (!(answer instanceof DriverAnswer.Done<NodeGpus> done)) {
      return List.of(
          Finding.bad("driver", answer.describe(), "see driver-worker.log in the state folder"));
    }
    NodeGpus node = done.value();
    if (!(node.availability() instanceof DriverAvailability.Present)) {
      return List.of(
          Finding.bad(
              "driver",
              node.availability().describe(),
              "install NVIDIA's driver 570 or newer, or name its library by STASIS_LIBCUDA"));
    }
    String version = node.driverVersion() + ", " + node.availability().describe();
    findings.add(
        node.cudaVersion() >= WITH_MAP
            ? Finding.ok("driver", version)
            : Finding.note("driver", version, "coming back on another GPU needs driver 580"));
    for (Gpu gpu : node.gpus()) {
      String name = "GPU " + gpu.index();
      String found =
          gpu.model()
              + ", "
              + new Bytes(gpu.memoryFree())
              + " of "
              + new Bytes(gpu.memoryTotal())
              + " free";
      if (gpu.mig()) {
        findings.add(
            Finding.bad(
                name,
                found + ", MIG",
                "the driver cannot checkpoint MIG instances: switch it off"));
      } else if (!gpu.persistence()) {
        findings.add(
            Finding.note(
                name, found + ", no persistence mode", "nvidia-smi -pm 1 makes restores quicker"));
      } else {
        findings.add(Finding.ok(name, found));
      }
    }
    return findings;
  }
}
