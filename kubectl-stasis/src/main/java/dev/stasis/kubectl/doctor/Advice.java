package dev.stasis.kubectl.doctor;

import java.util.Map;

/** Advice for the reasons that an agent reports in its GpuNode. */
final class Advice {

  private static final String LOG =
      "for details, read the log of the agent's pod with kubectl -n stasis-system logs";

  private static final Map<String, String> BY_REASON =
      Map.ofEntries(
          Map.entry("NotRoot", "run the agent as root, as the chart does"),
          Map.entry(
              "NoDriver",
              "install NVIDIA driver 570 or newer on the node, and make its libraries available"
                  + " to the agent: agent.runtimeClassName of the chart"),
          Map.entry(
              "NoGpus",
              "run nvidia-smi on the node; a node without GPUs should not have the label that"
                  + " selects nodes for agents (agent.gpuNodeLabel)"),
          Map.entry(
              "NoCriu",
              "use the agent's own image, which includes criu; the message shows the result of"
                  + " its check"),
          Map.entry("NoRuntimeProgram", "use the agent's own image, which includes stasis-runtime"),
          Map.entry(
              "NoContainerRuntime",
              "set agent.paths.criSocket of the chart to the socket of containerd or CRI-O on the"
                  + " node"),
          Map.entry(
              "NoKubelet",
              "set agent.paths.kubelet (or podResourcesSocket) of the chart to the kubelet's"
                  + " directory on the node"),
          Map.entry(
              "CgroupDriverMismatch",
              "configure the same driver for the kubelet (cgroupDriver) and the container"
                  + " runtime (SystemdCgroup of containerd, cgroup_manager of CRI-O), then"
                  + " restart both and the pods"),
          Map.entry(
              "DriverTooOld",
              "update the driver to 580: until then a workload can only be restored on the same"
                  + " GPUs"),
          Map.entry(
              "KubernetesTooOld",
              "update the kubelet to 1.34: until then a raised memory limit is not lowered again"),
          Map.entry("KernelTooOld", "use a kernel that has the feature in the message"),
          Map.entry("SelfTestFailed", "fix the problem in the message; " + LOG));

  private Advice() {}

  static String on(String reason) {
    return BY_REASON.getOrDefault(reason, LOG);
  }
}
