package dev.stasis.kubectl.doctor;

import dev.stasis.kubectl.cluster.Resource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Compares the kernels of the nodes: some workloads of one node cannot be restored on another. */
final class KernelExam {

  private static final Map<String, String> ADVICE =
      new TreeMap<>(
          Map.of(
              "kernel.cgroupVersion",
              "boot all nodes with GPUs with the same cgroup hierarchy",
              "kernel.ioUring",
              "workloads with an io_uring are not restored there: set kernel.io_uring_disabled"
                  + " to the same value on all nodes, or label pods stasis.dev/prepare=true,"
                  + " which prevents new ones from using io_uring",
              "kernel.ipv6",
              "workloads of the other nodes are not restored there: boot without ipv6.disable=1"));

  private final List<Resource> nodes;

  KernelExam(List<Resource> nodes) {
    this.nodes = nodes;
  }

  /** Returns a warning for each node that lacks a property of another one. */
  List<Finding> findings() {
    List<Finding> found = new ArrayList<>();
    ADVICE.forEach(
        (property, advice) -> {
          Map<String, String> values = new TreeMap<>();
          for (Resource node : nodes) {
            node.text("status.host.fingerprint")
                .lines()
                .filter(line -> line.startsWith(property + "="))
                .forEach(line -> values.put(node.name(), line.substring(property.length() + 1)));
          }
          String best = values.values().stream().max(String::compareTo).orElse("");
          values.forEach(
              (node, value) -> {
                if (!value.equals(best)) {
                  found.add(
                      Finding.warning(
                          node,
                          "%s: expected %s, as on other nodes, got %s"
                              .formatted(property, best, value),
                          advice));
                }
              });
        });
    return found;
  }
}
