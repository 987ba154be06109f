package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.cuda.Gpu;
import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.SidecarPolicy;
import dev.stasis.api.v1beta1.operation.FreezeOrder;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Finds what prevents a freeze and can be seen in the pod alone. */
final class PodPreflight {

  /** Returns every reason. */
  List<Fault> faults(PodLookup.Place place, String container, FreezeOrder order) {
    Pod pod = place.pod();
    List<Fault> faults = new ArrayList<>();
    if (pod.getMetadata().getDeletionTimestamp() != null) {
      faults.add(
          Faults.of(
              "PodNotRunning",
              "pod.metadata.deletionTimestamp",
              "none",
              pod.getMetadata().getDeletionTimestamp()));
    }
    PodSpec spec = pod.getSpec();
    shared(faults, "shareProcessNamespace", spec.getShareProcessNamespace());
    shared(faults, "hostPID", spec.getHostPID());
    shared(faults, "hostIPC", spec.getHostIPC());
    shared(faults, "hostNetwork", spec.getHostNetwork());
    List<String> others = others(pod, container);
    if (!others.isEmpty() && order.getSidecarPolicy() == SidecarPolicy.FAIL) {
      faults.add(
          Faults.of(
              Faults.PREFLIGHT_REFUSED,
              "other containers of the pod",
              "none, or sidecarPolicy: Restart",
              String.join(", ", others)));
    }
    if (order.getDataPath() == dev.stasis.api.v1beta1.common.DataPath.DIRECT) {
      faults.add(Faults.of(Faults.PREFLIGHT_REFUSED, "freeze.dataPath", "Mover or Criu", "Direct"));
    }
    return faults;
  }

  /** Returns the other containers of a pod, which are restarted. */
  List<String> others(Pod pod, String container) {
    Stream<String> sidecars =
        Objects.requireNonNullElse(pod.getSpec().getInitContainers(), List.<Container>of()).stream()
            .filter(init -> "Always".equals(init.getRestartPolicy()))
            .map(Container::getName);
    return Stream.concat(pod.getSpec().getContainers().stream().map(Container::getName), sidecars)
        .filter(name -> !name.equals(container))
        .toList();
  }

  /** Returns fenced GPUs of the container. */
  List<Fault> fenced(PodLookup.Place place, Map<String, String> quarantine) {
    List<Fault> faults = new ArrayList<>();
    for (GpuUuid gpu : place.gpus()) {
      String why = quarantine.get(gpu.text());
      if (why != null) {
        faults.add(Faults.of("GpuQuarantined", "GPU " + gpu.text(), "one that works", why));
      }
    }
    return faults;
  }

  /** Checks that the kubelet and the container's device files agree on the GPUs. */
  List<Fault> gpuFaults(PodLookup.Place place, List<Gpu> seen) {
    if (place.gpus().isEmpty()) {
      return List.of(
          Faults.of(
              "NoGpu", "GPUs that the kubelet gave to the container", "at least one", "none"));
    }
    Set<String> given =
        place.gpus().stream().map(GpuUuid::text).collect(Collectors.toCollection(TreeSet::new));
    Set<String> open =
        seen.stream().map(gpu -> gpu.uuid().text()).collect(Collectors.toCollection(TreeSet::new));
    return given.equals(open)
        ? List.of()
        : List.of(
            Faults.of(
                Faults.PREFLIGHT_REFUSED,
                "GPUs that the container may open",
                "those that the kubelet gave to it, " + String.join(", ", given),
                open.isEmpty() ? "none" : String.join(", ", open)));
  }

  private static void shared(
      List<Fault> faults, String property, @org.jspecify.annotations.Nullable Boolean value) {
    if (Boolean.TRUE.equals(value)) {
      faults.add(Faults.of(Faults.PREFLIGHT_REFUSED, "pod.spec." + property, "false", "true"));
    }
  }
}
