package dev.stasis.agent.cli;

import dev.stasis.agent.cuda.CudaDriver;
import dev.stasis.agent.cuda.DriverAnswer;
import dev.stasis.agent.cuda.DriverAvailability;
import dev.stasis.agent.cuda.DriverWorker;
import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.GpuLink;
import dev.stasis.agent.cuda.NodeGpus;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/** Lists the GPUs of this node. */
@Command(name = "gpus", description = "Shows the GPUs of this node and how they are connected.")
final class GpusCommand extends NodeCommand {

  GpusCommand(Environment environment) {
    super(environment);
  }

  @Override
  Report report() throws IOException {
    try (DriverWorker worker = worker()) {
      DriverAnswer<NodeGpus> answer = worker.gpus(CudaDriver.GPUS_DEADLINE);
      return answer instanceof DriverAnswer.Done<NodeGpus> done
          ? tell(done.value())
          : absent(answer.describe());
    }
  }

  private static Report absent(String why) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("driver", null);
    json.put("message", why);
    json.put("gpus", List.of());
    return new Report(ExitCode.FAILED, json, List.of(), List.of("stasis-node: " + why));
  }

  /** The answer of NVML. */
  static Report tell(NodeGpus node) {
    if (!(node.availability() instanceof DriverAvailability.Present)) {
      return absent(node.availability().describe());
    }
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("driver", node.driverVersion());
    json.put("cudaVersion", node.cudaVersion());
    json.put("gpus", node.gpus().stream().map(GpusCommand::json).toList());
    List<Map<String, Object>> links = new ArrayList<>();
    for (GpuLink link : node.links()) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("first", link.first());
      one.put("second", link.second());
      one.put("relation", link.relation().name());
      links.add(one);
    }
    json.put("links", links);
    List<String> lines = new ArrayList<>();
    lines.add(
        "driver %s, CUDA %d.%d"
            .formatted(
                node.driverVersion(), node.cudaVersion() / 1000, node.cudaVersion() % 1000 / 10));
    lines.add("");
    Table table = new Table("GPU", "MODEL", "FREE", "TOTAL", "COMPUTE", "PCI", "MODES", "UUID");
    for (Gpu gpu : node.gpus()) {
      table.row(
          Integer.toString(gpu.index()),
          gpu.model(),
          new Bytes(gpu.memoryFree()).toString(),
          new Bytes(gpu.memoryTotal()).toString(),
          gpu.computeCapability(),
          gpu.pciBusId(),
          modes(gpu),
          gpu.uuid().text());
    }
    lines.addAll(table.lines());
    for (GpuLink link : node.links()) {
      lines.add("GPU %d - GPU %d: %s".formatted(link.first(), link.second(), link.relation()));
    }
    return new Report(ExitCode.DONE, json, lines, List.of());
  }

  private static String modes(Gpu gpu) {
    List<String> modes = new ArrayList<>();
    if (gpu.mig()) {
      modes.add("MIG");
    }
    if (gpu.persistence()) {
      modes.add("persistence");
    }
    return modes.isEmpty() ? "-" : String.join(",", modes);
  }

  private static Map<String, Object> json(Gpu gpu) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("index", gpu.index());
    json.put("uuid", gpu.uuid().text());
    json.put("model", gpu.model());
    json.put("totalBytes", gpu.memoryTotal());
    json.put("freeBytes", gpu.memoryFree());
    json.put("pciBusId", gpu.pciBusId());
    json.put("computeCapability", gpu.computeCapability());
    json.put("mig", gpu.mig());
    json.put("persistence", gpu.persistence());
    return json;
  }
}
