package dev.stasis.agent.daemon.node;

/** Why a node can do something or not: the reasons in a GpuNode. */
enum NodeReason {
  /** It can work. */
  READY("Ready"),
  /** The agent is not root. */
  NOT_ROOT("NotRoot"),
  /** There is no driver that can be asked. */
  NO_DRIVER("NoDriver"),
  /** The driver is there, and no GPU. */
  NO_GPUS("NoGpus"),
  /** There is no criu that works here. */
  NO_CRIU("NoCriu"),
  /** stasis-runtime is not where it should be. */
  NO_RUNTIME_PROGRAM("NoRuntimeProgram"),
  /** The container runtime does not answer. */
  NO_CONTAINER_RUNTIME("NoContainerRuntime"),
  /** The kubelet does not list devices. */
  NO_KUBELET("NoKubelet"),
  /** The kubelet and the container runtime do not agree on who makes control groups. */
  CGROUP_DRIVER_MISMATCH("CgroupDriverMismatch"),
  /** The driver is too old for this. */
  DRIVER_TOO_OLD("DriverTooOld"),
  /** Kubernetes is too old for this. */
  KUBERNETES_TOO_OLD("KubernetesTooOld"),
  /** The kernel cannot do this. */
  KERNEL_TOO_OLD("KernelTooOld"),
  /** The agent tried itself, and something did not work. */
  SELF_TEST_FAILED("SelfTestFailed"),
  /** This version of the agent cannot do it on any node. */
  NOT_BUILT("NotBuilt");

  private final String word;

  NodeReason(String word) {
    this.word = word;
  }

  /** The word as it stands in the API. */
  String word() {
    return word;
  }
}
