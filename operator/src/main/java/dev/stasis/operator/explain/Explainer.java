package dev.stasis.operator.explain;

import dev.stasis.api.v1alpha1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1alpha1.common.Explanation;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.Truth;
import dev.stasis.operator.liveness.LivenessVerdict;
import dev.stasis.operator.room.RoomPlan;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.status.Report;
import dev.stasis.operator.status.Size;
import dev.stasis.operator.status.Took;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Puts everything that is known about a freeze into one answer. */
public final class Explainer {

  /**
   * What was found.
   *
   * @param agent what the agent of the node found: faults of the preflight, expected bytes, data
   *     path; empty when the agent was not asked, or there is none
   * @param found faults that were found before: of the pod, the store, the target
   * @param frozen how long it is expected to take
   * @param liveness whether what watches the pod lets it
   * @param room whether the device memory finds room
   * @param nodes where the workload could come back
   */
  public record Findings(
      Optional<Explanation> agent,
      List<Fault> found,
      Duration frozen,
      LivenessVerdict liveness,
      RoomPlan room,
      NodeVerdicts nodes) {
    public Findings {
      found = List.copyOf(found);
    }
  }

  /** All of it in one; no fault: it can be done. */
  public Explanation explain(Findings findings) {
    Optional<Explanation> agent = findings.agent();
    Long bytes = agent.map(Explanation::expectedBytes).orElse(null);
    return new Explanation(
        faults(findings),
        agent.map(Explanation::notPortable).orElse(null),
        bytes,
        bytes == null ? null : new Size(bytes).text(),
        findings.frozen().toMillis(),
        new Took(findings.frozen()).text(),
        agent.map(Explanation::dataPath).orElse(null),
        agent.map(Explanation::dataPathReason).orElse(null));
  }

  /**
   * Puts it into the status of a GpuCheckpoint that asked for no more. It is Ready never: nothing
   * was frozen, so there is nothing to restore; and that is no failure.
   */
  public void write(Findings findings, GpuCheckpointStatus status, Report report) {
    Explanation explanation = explain(findings);
    List<Fault> faults = faults(findings);
    status.setExplanation(explanation);
    status.setFaults(faults.isEmpty() ? null : faults);
    List<Fault> obstacles = Objects.requireNonNullElse(explanation.notPortable(), List.<Fault>of());
    boolean portable = obstacles.isEmpty();
    boolean fits = findings.nodes().fit() > 0;
    status.setNodesFit(portable ? findings.nodes().fit() : 0);
    status.setNodesKnown(findings.nodes().known());
    status.setNodes(findings.nodes().listed());
    report.notReached(Reason.NO_ARTIFACT, "explainOnly: nothing was frozen");
    if (faults.isEmpty()) {
      report.also(
          ConditionType.FEASIBLE, Truth.TRUE, Reason.NOTHING_AGAINST_IT, forecast(explanation));
    } else {
      report.also(ConditionType.FEASIBLE, Truth.FALSE, Reason.PREFLIGHT_REFUSED, sentences(faults));
    }
    report.also(
        ConditionType.RESTORABLE,
        portable && fits ? Truth.TRUE : Truth.FALSE,
        !portable ? Reason.NOT_PORTABLE : fits ? Reason.NODES_FIT : Reason.NO_NODE_FITS,
        portable ? findings.nodes().sentence() : sentences(obstacles));
    report.writeTo(status);
  }

  private static List<Fault> faults(Findings findings) {
    List<Fault> faults = new ArrayList<>(findings.found());
    findings.agent().map(Explanation::faults).ifPresent(faults::addAll);
    if (findings.liveness() instanceof LivenessVerdict.TooShort tooShort) {
      faults.addAll(tooShort.faults());
    }
    if (findings.room() instanceof RoomPlan.Refused refused) {
      faults.addAll(refused.faults());
    }
    return faults.stream().distinct().toList();
  }

  private static String forecast(Explanation explanation) {
    String size = explanation.expectedSize();
    return "about " + (size == null ? "" : size + ", ") + explanation.expectedFrozen() + " frozen";
  }

  private static String sentences(List<Fault> faults) {
    return String.join("; ", faults.stream().map(Fault::message).toList());
  }
}
