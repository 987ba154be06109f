package dev.stasis.agent.daemon.node;

import dev.stasis.agent.cuda.NodeGpus;
import dev.stasis.api.v1alpha1.node.FrozenWorkload;
import dev.stasis.api.v1alpha1.node.NodeStore;
import dev.stasis.api.v1alpha1.node.SelfTest;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * All that was found at one look at the node.
 *
 * @param gpus what the driver says, or why it says nothing
 * @param host kernel, processor, memory
 * @param criu the criu that works here, or why none does
 * @param containerRuntime its name and version, or why it does not answer
 * @param kubelet empty when its list of devices can be asked, else why not
 * @param cgroupDrivers empty when kubelet and runtime agree, as far as is known, else in what not
 * @param programs empty when stasis-runtime is there, else why not
 * @param kubernetes minor version of the API server's 1.x; 0 where it was not asked
 * @param selfTest what came of the last one, where there was one
 * @param stores the stores from here
 * @param frozen what stands still here
 * @param quarantined GPUs on which nothing may be started, and why
 */
record NodeLook(
    NodeGpus gpus,
    HostFacts host,
    WorkingCriu criu,
    RuntimeAnswer containerRuntime,
    Optional<String> kubelet,
    Optional<String> cgroupDrivers,
    Optional<String> programs,
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
   * What the container runtime said.
   *
   * @param version its name and version; empty when it does not answer
   * @param why one sentence that says why not; empty when it does
   */
  record RuntimeAnswer(Optional<String> version, String why) {}
}
