package dev.stasis.operator.explain;

import dev.stasis.api.text.HumanBytes;
import dev.stasis.api.text.HumanDuration;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Explanation;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.operator.liveness.LivenessVerdict;
import dev.stasis.operator.room.RoomPlan;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.status.Report;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Combines everything that is known about a freeze into one answer. */
public final class Explainer {

  /**
   * The findings.
   *
   * @param agent the findings of the node's agent: faults of the preflight, expected bytes, data
   *     path; empty if the agent was not asked, or there is none
   * @param found earlier findings about the pod, the store and the target
   * @param frozen the expected freeze time
   * @param liveness whether probes and deadlines allow it
   * @param room whether there is memory for the device memory
   * @param nodes the nodes that could restore the workload
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

  /** Combines the findings; without a fault, the freeze is possible. */
  public Explanation explain(Findings findings) {
    Optional<Explanation> agent = findings.agent();
    Long bytes = agent.map(Explanation::expectedBytes).orElse(null);
    return new Explanation(
        faults(findings),
        agent.map(Explanation::notPortable).orElse(null),
        bytes,
        bytes == null ? null : new HumanBytes(bytes).text(),
        findings.frozen().toMillis(),
        new HumanDuration(findings.frozen()).text(),
        agent.map(Explanation::dataPath).orElse(null),
        agent.map(Explanation::dataPathReason).orElse(null));
  }

  /**
   * Writes the explanation into the status of a GpuCheckpoint that requested only that. Its Ready
   * condition is false, because nothing was frozen and there is nothing to restore; this is not a
   * failure.
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
    report.rests(Reason.NO_ARTIFACT, "dryRun: nothing was frozen");
    if (faults.isEmpty()) {
      report.also(
          ConditionType.FEASIBLE, ConditionValue.TRUE, Reason.FEASIBLE, forecast(explanation));
    } else {
      report.also(
          ConditionType.FEASIBLE,
          ConditionValue.FALSE,
          Reason.PREFLIGHT_REFUSED,
          sentences(faults));
    }
    report.also(
        ConditionType.RESTORABLE,
        portable && fits ? ConditionValue.TRUE : ConditionValue.FALSE,
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
