package dev.stasis.e2e.kube;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Stasis on the cluster that is tested: the scenarios know no more about where it runs than this.
 */
interface Installation extends AutoCloseable {

  /** Namespace of the operator. */
  String namespace();

  /** Nodes with GPUs, at least one. */
  List<String> nodes();

  /** The image with gpu-counter and a busybox; it is on every node. */
  String workloadImage();

  Component operator();

  Component agent(String node);

  /** Whether the GPUs are simulated, so that their faults can be asked for. */
  boolean simulated();

  /**
   * Makes the simulated driver do something once, or always: see sim-gpu/README.md.
   *
   * @param call state, lock, checkpoint, restore or unlock
   */
  void fault(String node, String call, String what);

  /** Takes back what was asked for and has not happened. */
  void clearFaults();

  /** Ends the quarantine of the GPUs of a node, as the runbook GpuQuarantined says. */
  void endQuarantine(String node);

  /** Copies what says why a scenario failed: logs of nodes and components. */
  void keepLogs(Path folder);

  /** Returns what there is for that node. */
  static <T> T of(Map<String, T> each, String node) {
    T found = each.get(node);
    if (found == null) {
      throw new IllegalArgumentException(
          "node: expected one of %s, got %s".formatted(each.keySet(), node));
    }
    return found;
  }

  /** Leaves the cluster as it was found. */
  @Override
  void close();
}
