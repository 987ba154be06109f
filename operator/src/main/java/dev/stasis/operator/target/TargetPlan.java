package dev.stasis.operator.target;

import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.stream.Collectors;

/** What came of it: a pod to create, or every reason against it. */
public sealed interface TargetPlan {

  /**
   * The target.
   *
   * @param pod to be created as it is
   * @param otherContainers containers that start anew in it
   * @param dropped what the source had and the target has not, in words, for an event
   */
  record Made(Pod pod, List<String> otherContainers, List<String> dropped) implements TargetPlan {
    public Made {
      otherContainers = List.copyOf(otherContainers);
      dropped = List.copyOf(dropped);
    }
  }

  /**
   * There can be none.
   *
   * @param refusals every reason
   */
  record Refused(List<Refusal> refusals) implements TargetPlan {
    public Refused {
      refusals = List.copyOf(refusals);
    }

    /** All of them in one line. */
    public String sentence() {
      return refusals.stream().map(Refusal::sentence).collect(Collectors.joining("; "));
    }
  }
}
