package dev.stasis.operator.target;

import dev.stasis.api.v1beta1.common.Fault;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.stream.Collectors;

/** The result: a pod to create, or every reason against it. */
public sealed interface TargetPlan {

  /**
   * The target.
   *
   * @param pod the pod to create without changes
   * @param otherContainers containers that are restarted in it
   * @param dropped differences from the source, for an event
   */
  record Made(Pod pod, List<String> otherContainers, List<String> dropped) implements TargetPlan {
    public Made {
      otherContainers = List.copyOf(otherContainers);
      dropped = List.copyOf(dropped);
    }
  }

  /**
   * There can be no target.
   *
   * @param faults every reason
   */
  record Refused(List<Fault> faults) implements TargetPlan {
    public Refused {
      faults = List.copyOf(faults);
    }

    /** Returns all of them in one line. */
    public String sentence() {
      return faults.stream().map(Fault::message).collect(Collectors.joining("; "));
    }
  }
}
