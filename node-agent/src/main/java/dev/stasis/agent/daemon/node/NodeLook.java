package dev.stasis.agent.daemon.node;

import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.api.v1beta1.node.FrozenWorkload;
import dev.stasis.api.v1beta1.node.NodeHost;
import dev.stasis.api.v1beta1.node.NodeStore;
import dev.stasis.api.v1beta1.node.SelfTest;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * All that was observed at one time.
 *
 * @param gpus the driver's answer, or why it does not answer
 * @param host kernel, processor, memory
 * @param criu the criu in use, or why none works
 * @param containerRuntime name and version, or why it does not answer
 * @param kubelet empty if its list of devices can be read, else why not
 * @param cgroupDrivers empty if kubelet and runtime agree, as far as is known, else the difference
 * @param programs empty if stasis-runtime is installed, else why not
 * @param keeper empty if stasis-keeper is installed, else why not
 * @param kubernetes minor version of the API server's 1.x; 0 if unknown
 * @param selfTest the result of the last self-test, if any
 * @param stores the stores as seen from this node
 * @param frozen the workloads frozen here
 * @param quarantined GPUs on which no work may be started, and why
 */
record NodeLook(
    NodeGpus gpus,
    NodeHost host,
    boolean root,
    WorkingCriu criu,
    RuntimeAnswer containerRuntime,
    Optional<String> kubelet,
    Optional<String> cgroupDrivers,
    Optional<String> programs,
    Optional<String> keeper,
    int kubernetes,
    Optional<SelfTest> selfTest,
    List<NodeStore> stores,
    List<FrozenWorkload> frozen,
    Map<String, String> quarantined) {

  NodeLook {
    stores = List.copyOf(stores);
    frozen = List.copyOf(frozen);
    quarantined = Map.copyOf(quarantined);
  }

  /**
   * The container runtime's answer.
   *
   * @param version its name and version; empty when it does not answer
   * @param why one sentence on why it does not answer; empty if it does
   */
  record RuntimeAnswer(Optional<String> version, String why) {}
}
