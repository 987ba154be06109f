package dev.stasis.agent.daemon.node;

/** The reasons in a GpuNode's conditions. */
enum NodeReason {
  /** The ability is available. */
  READY("Ready"),
  /** The agent is not root. */
  NOT_ROOT("NotRoot"),
  /** There is no usable driver. */
  NO_DRIVER("NoDriver"),
  /** The driver is installed, but there is no GPU. */
  NO_GPUS("NoGpus"),
  /** No criu works here. */
  NO_CRIU("NoCriu"),
  /** stasis-runtime is not at its path. */
  NO_RUNTIME_PROGRAM("NoRuntimeProgram"),
  /** The container runtime does not answer. */
  NO_CONTAINER_RUNTIME("NoContainerRuntime"),
  /** The kubelet does not list devices. */
  NO_KUBELET("NoKubelet"),
  /** The kubelet and the container runtime use different cgroup drivers. */
  CGROUP_DRIVER_MISMATCH("CgroupDriverMismatch"),
  /** The driver is too old for this. */
  DRIVER_TOO_OLD("DriverTooOld"),
  /** Kubernetes is too old for this. */
  KUBERNETES_TOO_OLD("KubernetesTooOld"),
  /** The kernel does not support this. */
  KERNEL_TOO_OLD("KernelTooOld"),
  /** The agent's self-test failed. */
  SELF_TEST_FAILED("SelfTestFailed"),
  /** stasis-keeper is not at its path: device memory takes the driver's path. */
  NO_KEEPER("NoKeeper");

  private final String word;

  NodeReason(String word) {
    this.word = word;
  }

  /** The reason's value in the API. */
  String value() {
    return word;
  }
}
