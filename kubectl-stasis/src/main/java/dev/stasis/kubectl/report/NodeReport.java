package dev.stasis.kubectl.report;

import dev.stasis.kubectl.cluster.Resource;
import dev.stasis.kubectl.screen.Table;
import dev.stasis.kubectl.screen.Words;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** {@code kubectl stasis nodes NODE}: all details, including the links of the GPUs. */
public final class NodeReport {

  /** As text, without a line break at its end. */
  public String text(Resource node, Instant now) {
    List<String> lines = new ArrayList<>();
    lines.add(node.name() + ": " + NodeTable.gpus(node) + ", " + NodeTable.state(node, now));
    String message = node.condition("Ready").text("message");
    if (!node.is("Ready") && !message.isEmpty()) {
      lines.add("  " + message);
    }
    lines.add("can: " + String.join(", ", node.texts("status.capabilities")));
    gpus(node, lines);
    links(node, lines);
    frozen(node, now, lines);
    for (Resource topology : node.list("status.topologies")) {
      lines.add("");
      lines.add(
          "fingerprint of any "
              + topology.number("gpus")
              + " of its GPUs (topology.stasis.dev/gpus-"
              + topology.number("gpus")
              + "="
              + topology.text("hash")
              + "):");
      topology.text("fingerprint").lines().forEach(line -> lines.add("  " + line));
    }
    if (!node.text("status.host.fingerprint").isEmpty()) {
      lines.add("");
      lines.add("fingerprint of the node:");
      node.text("status.host.fingerprint").lines().forEach(line -> lines.add("  " + line));
    }
    return String.join("\n", lines);
  }

  private static void gpus(Resource node, List<String> lines) {
    Table table = new Table("GPU", "UUID", "MODEL", "MEMORY", "PCI", "NUMA", "STATE");
    int index = 0;
    for (Resource gpu : node.list("status.gpus")) {
      String quarantine = gpu.text("quarantineReason");
      table.add(
          "GPU" + index++,
          gpu.text("uuid"),
          gpu.text("model"),
          Words.size(gpu.number("memoryBytes")),
          gpu.text("pciBusId"),
          gpu.text("numaNode"),
          gpu.isTrue("quarantined")
              ? "quarantined: " + quarantine
              : gpu.isTrue("mig") ? "MIG" : "");
    }
    if (!table.isEmpty()) {
      lines.add("");
      lines.addAll(table.lines());
    }
  }

  /** In the format of {@code nvidia-smi topo -m}. */
  private static void links(Resource node, List<String> lines) {
    List<String> uuids = node.list("status.gpus").stream().map(it -> it.text("uuid")).toList();
    if (uuids.size() < 2) {
      return;
    }
    Map<String, String> links = new HashMap<>();
    for (Resource link : node.list("status.links")) {
      links.put(link.text("first") + " " + link.text("second"), link.text("link"));
      links.put(link.text("second") + " " + link.text("first"), link.text("link"));
    }
    String[] header = new String[uuids.size() + 1];
    header[0] = "";
    for (int i = 0; i < uuids.size(); i++) {
      header[i + 1] = "GPU" + i;
    }
    Table table = new Table(header);
    for (int i = 0; i < uuids.size(); i++) {
      String[] row = new String[uuids.size() + 1];
      row[0] = "GPU" + i;
      for (int j = 0; j < uuids.size(); j++) {
        row[j + 1] = i == j ? "X" : links.getOrDefault(uuids.get(i) + " " + uuids.get(j), "?");
      }
      table.add(row);
    }
    lines.add("");
    lines.addAll(table.lines());
  }

  private static void frozen(Resource node, Instant now, List<String> lines) {
    Table table = new Table("FROZEN POD", "STATE", "SINCE", "BY", "GPU MEMORY");
    for (Resource workload : node.list("status.frozen")) {
      table.add(
          workload.text("pod.namespace") + "/" + workload.text("pod.name"),
          workload.text("state"),
          Words.age(workload.time("since"), now),
          workload.text("by.kind") + "/" + workload.text("by.name"),
          Words.size(workload.number("gpuBytes")));
    }
    if (!table.isEmpty()) {
      lines.add("");
      lines.addAll(table.lines());
    }
  }
}
