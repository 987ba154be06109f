package dev.stasis.agent.daemon.node;

import dev.stasis.agent.cuda.CudaDriver;
import dev.stasis.agent.cuda.DriverAvailability;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.node.Capability;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Determines the agent's abilities on a node, and the reasons against the others. */
final class Abilities {

  /** From 1.34 on the kubelet lowers a memory limit in place. */
  private static final int KUBERNETES_RESIZE_BACK = 34;

  private final Map<Capability, List<Fault>> against = new EnumMap<>(Capability.class);

  Abilities(NodeLook look) {
    List<Fault> freeze = new ArrayList<>();
    root(look).ifPresent(freeze::add);
    gpus(look).ifPresent(freeze::add);
    look.programs().ifPresent(why -> freeze.add(fault(NodeReason.NO_RUNTIME_PROGRAM, why)));
    if (look.containerRuntime().version().isEmpty()) {
      freeze.add(fault(NodeReason.NO_CONTAINER_RUNTIME, look.containerRuntime().why()));
    }
    look.kubelet().ifPresent(why -> freeze.add(fault(NodeReason.NO_KUBELET, why)));
    against.put(Capability.SUSPEND, freeze);

    List<Fault> dump = new ArrayList<>(freeze);
    if (look.criu().program().isEmpty()) {
      dump.add(fault(NodeReason.NO_CRIU, look.criu().why()));
    }
    if (!Boolean.TRUE.equals(look.host().getTimeNamespaces())) {
      dump.add(
          fault(
              NodeReason.KERNEL_TOO_OLD,
              "kernel: expected one with time namespaces, got " + look.host().getKernel()));
    }
    against.put(Capability.CHECKPOINT, dump);
    against.put(Capability.RESTORE, dump);
    against.put(Capability.MOVER, freeze);
    against.put(Capability.UUID_MAP, uuidMap(look));
    against.put(Capability.RESIZE_BACK, resizeBack(look));
    List<Fault> direct = new ArrayList<>(dump);
    look.keeper().ifPresent(why -> direct.add(fault(NodeReason.NO_KEEPER, why)));
    against.put(Capability.DIRECT, direct);
    // The agent sends artifacts to other agents, and restores what it receives.
    against.put(Capability.STREAM, dump);
  }

  List<Capability> list() {
    return against.entrySet().stream()
        .filter(entry -> entry.getValue().isEmpty())
        .map(Map.Entry::getKey)
        .toList();
  }

  /** Returns every reason against an ability, once. */
  List<Fault> missing() {
    Set<Fault> all = new LinkedHashSet<>();
    against.values().forEach(all::addAll);
    return List.copyOf(all);
  }

  /** Returns the reasons against checkpoint and restore, the main purpose of the agent. */
  List<Fault> againstWork() {
    return against.getOrDefault(Capability.CHECKPOINT, List.of());
  }

  private static Optional<Fault> root(NodeLook look) {
    return look.root()
        ? Optional.empty()
        : Optional.of(fault(NodeReason.NOT_ROOT, "agent: expected root, got another user"));
  }

  private static Optional<Fault> gpus(NodeLook look) {
    if (!(look.gpus().availability() instanceof DriverAvailability.Present)) {
      return Optional.of(fault(NodeReason.NO_DRIVER, look.gpus().availability().describe()));
    }
    return look.gpus().gpus().isEmpty()
        ? Optional.of(fault(NodeReason.NO_GPUS, "gpu.count: expected at least 1, got 0"))
        : Optional.empty();
  }

  private static List<Fault> uuidMap(NodeLook look) {
    int cuda = look.gpus().cudaVersion();
    if (cuda >= CudaDriver.VERSION_WITH_MAP) {
      return List.of();
    }
    return List.of(
        fault(
            cuda == 0 ? NodeReason.NO_DRIVER : NodeReason.DRIVER_TOO_OLD,
            "map of GPUs: expected driver 580 or newer, got "
                + (cuda == 0 ? "none" : look.gpus().driverVersion())));
  }

  private static List<Fault> resizeBack(NodeLook look) {
    List<Fault> faults = new ArrayList<>();
    if (look.kubernetes() < KUBERNETES_RESIZE_BACK) {
      faults.add(
          fault(
              NodeReason.KUBERNETES_TOO_OLD,
              "lowering a memory limit: expected Kubernetes 1.34 or newer, got "
                  + (look.kubernetes() == 0 ? "no answer" : "1." + look.kubernetes())));
    }
    look.cgroupDrivers()
        .ifPresent(why -> faults.add(fault(NodeReason.CGROUP_DRIVER_MISMATCH, why)));
    return faults;
  }

  static Fault fault(NodeReason reason, String sentence) {
    return new Fault(reason.value(), null, null, null, null, null, sentence);
  }
}
