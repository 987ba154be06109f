package dev.stasis.kubectl.doctor;

import java.util.Map;

/** Advice for the reasons that an agent reports in its GpuNode. */
final class Advice {

  private static final String LOG = "kubectl -n stasis-system logs on the agent's pod says more";

  private static final Map<String, String> BY_REASON =
      Map.ofEntries(
          Map.entry("NotRoot", "let the agent run as root, as the chart does"),
          Map.entry(
              "NoDriver",
              "install NVIDIA's driver 570 or newer on the node, and see that the agent gets its"
                  + " libraries: agent.runtimeClassName of the chart"),
          Map.entry(
              "NoGpus",
              "see nvidia-smi on the node; a node without GPUs should not have the label by which"
                  + " agents are placed (agent.gpuNodeLabel)"),
          Map.entry(
              "NoCriu",
              "use the agent's own image, which brings criu; the message says what its check"
                  + " found"),
          Map.entry("NoRuntimeProgram", "use the agent's own image, which brings stasis-runtime"),
          Map.entry(
              "NoContainerRuntime",
              "set agent.paths.criSocket of the chart to the socket of containerd or CRI-O on the"
                  + " node"),
          Map.entry(
              "NoKubelet",
              "set agent.paths.kubelet (or podResourcesSocket) of the chart to the kubelet's folder"
                  + " on the node"),
          Map.entry(
              "CgroupDriverMismatch",
              "let kubelet (cgroupDriver) and container runtime (SystemdCgroup of containerd,"
                  + " cgroup_manager of CRI-O) use the same one, then restart both and the pods"),
          Map.entry(
              "DriverTooOld",
              "update the driver to 580: until then a workload comes back only on the same GPUs"),
          Map.entry(
              "KubernetesTooOld",
              "update the kubelet to 1.34: until then a raised memory limit stays raised"),
          Map.entry("KernelTooOld", "use a kernel with what the message names"),
          Map.entry("SelfTestFailed", "repair what the message names; " + LOG));

  private Advice() {}

  static String on(String reason) {
    return BY_REASON.getOrDefault(reason, LOG);
  }
}
