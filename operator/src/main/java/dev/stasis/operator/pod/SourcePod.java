package dev.stasis.operator.pod;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.SidecarPolicy;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The pod named by a request, as far as it can be checked without its agent. */
public sealed interface SourcePod {

  /**
   * The pod that a request names.
   *
   * @param podUid null for any pod with that name
   * @param containerName null for the container with the GPUs
   */
  record Named(
      String namespace, String podName, @Nullable String podUid, @Nullable String containerName) {}

  /** The pod runs, and the container was found. */
  record Found(Pod pod, String container) implements SourcePod {

    /** Returns the other containers with the lifetime of the pod, including sidecars. */
    public List<String> others() {
      return Stream.concat(
              pod.getSpec().getContainers().stream(),
              pod.getSpec().getInitContainers().stream()
                  .filter(init -> "Always".equals(init.getRestartPolicy())))
          .map(Container::getName)
          .filter(name -> !name.equals(container))
          .toList();
    }

    /** Returns the controller that would create another pod in its place. */
    public Optional<OwnerReference> controller() {
      return Owners.of(pod);
    }

    /**
     * Returns the refusal if other containers are not allowed and the pod has some; otherwise
     * empty.
     */
    public Optional<Fault> refusedContainers(SidecarPolicy policy) {
      return others().isEmpty() || policy != SidecarPolicy.FAIL
          ? Optional.empty()
          : Optional.of(
              Reason.OTHER_CONTAINERS.misfit(
                  "sidecarPolicy",
                  "Restart, or a pod with one container",
                  "Fail, with the other containers " + others()));
    }
  }

  /** The pod or container does not exist, or does not run. */
  record Refused(List<Fault> faults) implements SourcePod {
    public Refused {
      faults = List.copyOf(faults);
    }
  }

  /**
   * Checks the pod that a request names.
   *
   * @param pod the pod with that name; empty if there is none
   * @param gpuResources resources that count as GPUs
   */
  static SourcePod check(Optional<Pod> pod, Named named, List<String> gpuResources) {
    if (pod.isEmpty()) {
      return refused(
          Reason.POD_NOT_FOUND,
          "podRef.name",
          named.podName() + " in namespace " + named.namespace(),
          "no such pod");
    }
    String uid = pod.get().getMetadata().getUid();
    if (named.podUid() != null && !named.podUid().equals(uid)) {
      return refused(Reason.POD_CHANGED, "podRef.uid", named.podUid(), uid);
    }
    List<Fault> faults = new ArrayList<>();
    notRunning(pod.get()).ifPresent(faults::add);
    String name = named.containerName();
    List<String> withGpus = new GpuPods(gpuResources).containers(pod.get());
    container(pod.get(), name, withGpus, gpuResources).ifPresent(faults::add);
    return faults.isEmpty()
        ? new Found(pod.get(), name == null ? withGpus.get(0) : name)
        : new Refused(faults);
  }

  /** Returns why the pod cannot be frozen; empty if it runs. */
  private static Optional<Fault> notRunning(Pod pod) {
    String found = null;
    if (pod.getMetadata().getDeletionTimestamp() != null) {
      found = "being deleted";
    } else if (!new PodState(pod).isIn("Running")) {
      String phase = pod.getStatus() == null ? null : pod.getStatus().getPhase();
      found = Objects.requireNonNullElse(phase, "no phase");
    } else if (pod.getSpec().getNodeName() == null) {
      found = "no node";
    }
    return Optional.ofNullable(found)
        .map(
            it ->
                Reason.POD_NOT_RUNNING.misfit(
                    "pod " + pod.getMetadata().getName(), "phase Running", it));
  }

  /** Returns why no container can be chosen; empty if one can. */
  private static Optional<Fault> container(
      Pod pod, @Nullable String named, List<String> withGpus, List<String> gpuResources) {
    List<String> all = pod.getSpec().getContainers().stream().map(Container::getName).toList();
    if (named != null && !all.contains(named)) {
      return Optional.of(
          Reason.CONTAINER_NOT_FOUND.misfit("containerName", "one of " + all, named));
    }
    if (named == null ? withGpus.isEmpty() : !withGpus.contains(named)) {
      return Optional.of(
          Reason.NO_GPU.misfit(
              named == null ? "pod " + pod.getMetadata().getName() : "container " + named,
              "one of " + gpuResources + " or a resource claim",
              "none"));
    }
    return named != null || withGpus.size() == 1
        ? Optional.empty()
        : Optional.of(
            Reason.CONTAINER_AMBIGUOUS.misfit(
                "containerName",
                "the name of one, because several have GPUs",
                "none beside " + withGpus));
  }

  private static Refused refused(Reason reason, String property, String expected, String found) {
    return new Refused(List.of(reason.misfit(property, expected, found)));
  }
}
