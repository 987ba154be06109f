package dev.stasis.operator.workflow;

import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.operator.status.Reason;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;

/** Faults as a condition shows them. */
public record FaultSummary(List<Fault> faults) {

  public FaultSummary {
    faults = List.copyOf(faults);
  }

  /**
   * Returns the first reason that conditions know; the given one if only agents know the reasons.
   */
  public Reason reason(Reason otherwise) {
    return faults.stream()
        .flatMap(fault -> Reason.find(fault.reason()).stream())
        .findFirst()
        .orElse(otherwise);
  }

  /** Returns all messages in one line. */
  public String message() {
    return faults.stream().map(Fault::message).distinct().collect(Collectors.joining("; "));
  }

  public boolean hasAnyOf(Collection<String> reasons) {
    return faults.stream().anyMatch(fault -> reasons.contains(fault.reason()));
  }
}
