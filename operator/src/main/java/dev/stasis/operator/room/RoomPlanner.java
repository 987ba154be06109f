package dev.stasis.operator.room;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.MemoryLimitPolicy;
import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerResizePolicy;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Decides how a pod gets memory for its device memory. Everything that can be known is checked
 * here, so that only a workload whose memory fits is frozen. The dry run of the resize and the
 * kubelet report what only the cluster knows.
 */
public final class RoomPlanner {

  private static final String MEMORY = "memory";
  private static final long MIB = 1L << 20;

  /**
   * Creates the plan.
   *
   * @throws IllegalArgumentException if the pod has no such container
   */
  public RoomPlan plan(RoomFacts facts) {
    ResourceRequirements resources = resources(container(facts));
    Optional<Long> limit = Bytes.of(resources.getLimits(), MEMORY);
    long request = Bytes.of(resources.getRequests(), MEMORY).or(() -> limit).orElse(0L);
    long needed = facts.need().neededBytes();
    ResourceRequirements ofPod = facts.pod().getSpec().getResources();
    if (ofPod != null && Bytes.of(ofPod.getLimits(), MEMORY).isPresent()) {
      long podLimit = Bytes.of(ofPod.getLimits(), MEMORY).orElseThrow();
      if (podLimit < needed || limit.filter(own -> own < needed).isPresent()) {
        return refused(
            Reason.NO_ROOM.misfit(
                "spec.resources.limits.memory",
                "at least " + Bytes.text(needed) + "; a limit of the pod cannot be resized",
                Bytes.text(Math.min(podLimit, limit.orElse(podLimit)))));
      }
    }
    if (limit.isEmpty() || limit.get() >= needed) {
      return request >= needed
          ? new RoomPlan.NoResizeNeeded()
          : nodeHas(facts)
              .<RoomPlan>map(RoomPlanner::refused)
              .orElseGet(RoomPlan.NoResizeNeeded::new);
    }
    if (facts.policy() == MemoryLimitPolicy.FAIL) {
      return refused(
          Reason.NO_ROOM.misfit(
              where(facts) + ".resources.limits.memory",
              "at least " + Bytes.text(needed) + ", or memoryLimitPolicy Resize",
              Bytes.text(limit.get())));
    }
    return resize(facts, resources, limit.get(), request);
  }

  /**
   * Returns the same pod with that memory, for its {@code resize} subresource, first as a dry run.
   * {@code raised} provides the memory, {@code original} restores the old limit.
   */
  public Pod resized(Pod pod, String container, RoomPlan.Memory memory) {
    Pod changed = new PodBuilder(pod).build();
    for (Container candidate : changed.getSpec().getContainers()) {
      if (candidate.getName().equals(container)) {
        candidate.setResources(memory.of(candidate.getResources()));
      }
    }
    return changed;
  }

  /**
   * Returns the original memory of a container that was raised for a freeze; empty if it is
   * restored already, or another client has changed it since.
   *
   * @param now the current pod
   * @param before the pod before the freeze
   * @param neededBytes the size for which it was raised
   */
  public Optional<RoomPlan.Memory> giveBack(
      Pod now, Pod before, String container, long neededBytes) {
    Optional<Quantity> limit = limit(now, container);
    Optional<Quantity> was = limit(before, container);
    boolean raised =
        limit.isPresent()
            && was.isPresent()
            && Bytes.of(limit.get()) == Bytes.of(Bytes.up(neededBytes))
            && Bytes.of(was.get()) < Bytes.of(limit.get());
    return raised
        ? Optional.of(original(resources(container(before, container)), true))
        : Optional.empty();
  }

  private static Optional<Quantity> limit(Pod pod, String container) {
    return pod.getSpec().getContainers().stream()
        .filter(candidate -> candidate.getName().equals(container))
        .findFirst()
        .map(RoomPlanner::resources)
        .map(ResourceRequirements::getLimits)
        .map(limits -> limits.get(MEMORY));
  }

  private RoomPlan resize(RoomFacts facts, ResourceRequirements was, long limit, long request) {
    List<Fault> faults = new ArrayList<>(fixed(facts));
    Namespace namespace = new Namespace(facts.quotas(), facts.ranges());
    Quantity raised = Bytes.up(facts.need().neededBytes());
    long raisedBytes = Bytes.of(raised);
    faults.addAll(namespace.limitRises(raisedBytes - limit));
    boolean guaranteed = QosClass.of(facts.pod()) == QosClass.GUARANTEED;
    Optional<Quantity> raisedRequest = Optional.of(raised);
    if (guaranteed) {
      faults.addAll(namespace.requestRises(raisedBytes - request));
      headroom(facts, raisedBytes - request).ifPresent(faults::add);
    } else if (headroom(facts, raisedBytes - request).isPresent()
        || !namespace.requestRises(raisedBytes - request).isEmpty()) {
      raisedRequest = Optional.empty();
      nodeHas(facts).ifPresent(faults::add);
    } else if (becomesGuaranteed(facts, raised)) {
      raisedRequest = Optional.of(Bytes.up(raisedBytes - MIB));
    }
    long newRequest = raisedRequest.map(Bytes::of).orElse(request);
    faults.addAll(namespace.ranges(facts.pod(), facts.container(), newRequest, raisedBytes));
    if (!faults.isEmpty()) {
      return new RoomPlan.Refused(faults);
    }
    return new RoomPlan.Resize(
        facts.container(),
        new RoomPlan.Memory(raisedRequest, raised),
        original(was, raisedRequest.isPresent()));
  }

  static RoomPlan.Memory original(ResourceRequirements was, boolean withRequest) {
    Quantity limit = Objects.requireNonNull(was.getLimits().get(MEMORY), "it has a limit");
    Optional<Quantity> request =
        Optional.ofNullable(was.getRequests()).map(requests -> requests.get(MEMORY));
    return new RoomPlan.Memory(
        withRequest ? Optional.of(request.orElse(limit)) : Optional.empty(), limit);
  }

  /** Reasons that no resize can remove, however much memory there is. */
  private static List<Fault> fixed(RoomFacts facts) {
    List<Fault> faults = new ArrayList<>();
    for (ContainerResizePolicy policy : container(facts).getResizePolicy()) {
      if (MEMORY.equals(policy.getResourceName())
          && "RestartContainer".equals(policy.getRestartPolicy())) {
        faults.add(
            Reason.NO_ROOM.misfit(
                where(facts) + ".resizePolicy[memory]", "NotRequired", "RestartContainer"));
      }
    }
    return faults;
  }

  private boolean becomesGuaranteed(RoomFacts facts, Quantity raised) {
    Pod resized =
        resized(facts.pod(), facts.container(), new RoomPlan.Memory(Optional.of(raised), raised));
    return QosClass.of(resized) == QosClass.GUARANTEED;
  }

  private static Optional<Fault> headroom(RoomFacts facts, long more) {
    long left = facts.node().allocatableBytes() - facts.node().requestedBytes();
    return left >= more
        ? Optional.empty()
        : Optional.of(
            Reason.NO_ROOM.misfit(
                "node " + facts.node().name() + " allocatable memory",
                Bytes.text(more) + " more",
                Bytes.text(Math.max(0, left)) + " left"));
  }

  /** Memory beyond the request is not reserved: it must be free now. */
  private static Optional<Fault> nodeHas(RoomFacts facts) {
    long more = facts.need().neededBytes() - facts.need().usedBytes();
    return facts.node().freeBytes() >= more
        ? Optional.empty()
        : Optional.of(
            Reason.NO_ROOM.misfit(
                "node " + facts.node().name() + " memory above its eviction threshold",
                Bytes.text(more) + " free",
                Bytes.text(facts.node().freeBytes())));
  }

  private static Container container(RoomFacts facts) {
    return container(facts.pod(), facts.container());
  }

  static Container container(Pod pod, String name) {
    return pod.getSpec().getContainers().stream()
        .filter(container -> container.getName().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no container named " + name));
  }

  static ResourceRequirements resources(Container container) {
    return Objects.requireNonNullElseGet(container.getResources(), ResourceRequirements::new);
  }

  private static String where(RoomFacts facts) {
    return "spec.containers[" + facts.container() + "]";
  }

  private static RoomPlan refused(Fault fault) {
    return new RoomPlan.Refused(List.of(fault));
  }
}
