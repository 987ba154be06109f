package dev.stasis.operator.pod;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads a pod: the container with the GPUs, and the other containers.
 *
 * @param pod the running pod
 * @param gpuResources resources that count as GPUs
 */
public record PodCheck(Pod pod, List<String> gpuResources) {

  /** The result. */
  public sealed interface Found {}

  /** Returns the requested container. */
  public record One(String container) implements Found {}

  /** None. */
  public record None(Fault fault) implements Found {}

  /** Returns why it cannot be frozen; empty if it runs. */
  public Optional<Fault> notRunning() {
    String found = null;
    if (pod.getMetadata().getDeletionTimestamp() != null) {
      found = "being deleted";
    } else if (pod.getStatus() == null || !"Running".equals(pod.getStatus().getPhase())) {
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

  /** Returns the container to freeze. */
  public Found container(Optional<String> named) {
    List<String> withGpus = withGpus();
    if (named.isPresent()) {
      List<String> all = names(pod.getSpec().getContainers().stream());
      if (!all.contains(named.get())) {
        return new None(
            Reason.CONTAINER_NOT_FOUND.misfit("containerName", "one of " + all, named.get()));
      }
      if (!withGpus.contains(named.get())) {
        return new None(noGpu("container " + named.get()));
      }
      return new One(named.get());
    }
    if (withGpus.isEmpty()) {
      return new None(noGpu("pod " + pod.getMetadata().getName()));
    }
    return withGpus.size() == 1
        ? new One(withGpus.get(0))
        : new None(
            Reason.CONTAINER_AMBIGUOUS.misfit(
                "containerName",
                "the name of one, because several have GPUs",
                "none beside " + withGpus));
  }

  private Fault noGpu(String where) {
    return Reason.NO_GPU.misfit(where, "one of " + gpuResources + " or a resource claim", "none");
  }

  /** Returns the other containers with the lifetime of the pod, including sidecars. */
  public List<String> others(String container) {
    return names(
            Stream.concat(
                pod.getSpec().getContainers().stream(),
                pod.getSpec().getInitContainers().stream()
                    .filter(init -> "Always".equals(init.getRestartPolicy()))))
        .stream()
        .filter(name -> !name.equals(container))
        .toList();
  }

  /** Returns the controller that would create another pod in its place. */
  public Optional<OwnerReference> controller() {
    return pod.getMetadata().getOwnerReferences().stream()
        .filter(owner -> Boolean.TRUE.equals(owner.getController()))
        .findFirst();
  }

  private List<String> withGpus() {
    return names(pod.getSpec().getContainers().stream().filter(this::hasGpus));
  }

  private boolean hasGpus(Container container) {
    ResourceRequirements resources = container.getResources();
    if (resources == null) {
      return false;
    }
    // The agent determines the devices of a claim, and refuses those that are not GPUs.
    return asks(resources.getLimits())
        || asks(resources.getRequests())
        || !resources.getClaims().isEmpty();
  }

  private boolean asks(@Nullable Map<String, Quantity> resources) {
    return resources != null
        && gpuResources.stream()
            .map(resources::get)
            .filter(Objects::nonNull)
            .anyMatch(amount -> amount.getNumericalAmount().compareTo(BigDecimal.ZERO) > 0);
  }

  private static List<String> names(Stream<Container> containers) {
    return new ArrayList<>(containers.map(Container::getName).toList());
  }
}
