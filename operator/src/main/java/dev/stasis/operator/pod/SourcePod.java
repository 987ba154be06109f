package dev.stasis.operator.pod;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.SidecarPolicy;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
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

  /**
   * The pod runs, and the container was found.
   *
   * @param others other containers with the lifetime of the pod
   * @param controller the controller that would create another pod in its place
   */
  record Found(Pod pod, String container, List<String> others, Optional<OwnerReference> controller)
      implements SourcePod {
    public Found {
      others = List.copyOf(others);
    }

    /**
     * Returns the refusal if other containers are not allowed and the pod has some; otherwise
     * empty.
     */
    public Optional<Fault> refusedContainers(SidecarPolicy policy) {
      return others.isEmpty() || policy != SidecarPolicy.FAIL
          ? Optional.empty()
          : Optional.of(
              Reason.OTHER_CONTAINERS.misfit(
                  "sidecarPolicy",
                  "Restart, or a pod with one container",
                  "Fail, with the other containers " + others));
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
    PodCheck check = new PodCheck(pod.get(), gpuResources);
    List<Fault> faults = new ArrayList<>();
    check.notRunning().ifPresent(faults::add);
    PodCheck.Found container = check.container(Optional.ofNullable(named.containerName()));
    if (container instanceof PodCheck.None none) {
      faults.add(none.fault());
    }
    return faults.isEmpty() && container instanceof PodCheck.One one
        ? new Found(pod.get(), one.container(), check.others(one.container()), check.controller())
        : new Refused(faults);
  }

  private static Refused refused(Reason reason, String property, String expected, String found) {
    return new Refused(List.of(reason.misfit(property, expected, found)));
  }
}
