package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1alpha1.common.ArtifactStatus;
import dev.stasis.api.v1alpha1.common.Condition;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.api.v1alpha1.common.Hardware;
import dev.stasis.api.v1alpha1.common.Truth;
import dev.stasis.compat.Fingerprint;
import dev.stasis.operator.explain.Candidate;
import dev.stasis.operator.explain.NodeVerdicts;
import dev.stasis.operator.node.Candidates;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Where a workload could come back now. */
final class Places {

  private final Candidates candidates = new Candidates();

  /** Looks at every node. */
  NodeVerdicts of(Turn turn) {
    Hardware hardware = turn.status().getHardware();
    String fingerprint = hardware == null ? null : hardware.fingerprint();
    if (fingerprint == null) {
      return new NodeVerdicts(List.of());
    }
    List<Candidate> all =
        candidates.of(turn.cluster().gpuNodes(), turn.cluster().nodes(), turn.now()).stream()
            .map(candidate -> reaching(turn.status().getArtifact(), candidate))
            .toList();
    return NodeVerdicts.of(Fingerprint.parse(fingerprint), all);
  }

  /**
   * Writes it only when the answer has changed from yes to no or back: a node that comes or goes
   * would otherwise be a write of every checkpoint there is. The count is that of the last change.
   */
  void update(Turn turn) {
    NodeVerdicts verdicts = of(turn);
    Truth known =
        new Conditions(Objects.requireNonNullElse(turn.status().getConditions(), List.of()))
            .find(ConditionType.RESTORABLE)
            .map(Condition::status)
            .orElse(Truth.UNKNOWN);
    boolean fits = obstacles(turn).isEmpty() && verdicts.fit() > 0;
    if (known != (fits ? Truth.TRUE : Truth.FALSE)) {
      write(turn, verdicts);
    }
  }

  /** Puts it into the condition. */
  void write(Turn turn) {
    write(turn, of(turn));
  }

  private static void write(Turn turn, NodeVerdicts verdicts) {
    boolean fits = verdicts.fit() > 0;
    List<Fault> obstacles = obstacles(turn);
    if (!obstacles.isEmpty()) {
      turn.status().setNodesFit(0);
      turn.status().setNodesKnown(verdicts.known());
      turn.report()
          .also(
              ConditionType.RESTORABLE,
              Truth.FALSE,
              Reason.NOT_PORTABLE,
              Turn.sentences(obstacles));
      return;
    }
    turn.status().setNodesFit(verdicts.fit());
    turn.status().setNodesKnown(verdicts.known());
    turn.report()
        .also(
            ConditionType.RESTORABLE,
            fits ? Truth.TRUE : Truth.FALSE,
            fits ? Reason.NODES_FIT : Reason.NO_NODE_FITS,
            verdicts.sentence());
  }

  private static List<Fault> obstacles(Turn turn) {
    ArtifactStatus artifact = turn.status().getArtifact();
    return artifact == null ? List.of() : artifact.obstacles(turn.spec().getTcp());
  }

  /** What lies on the disk of one node is out of reach of the others. */
  private static Candidate reaching(@Nullable ArtifactStatus artifact, Candidate candidate) {
    if (artifact == null
        || artifact.getNode() == null
        || artifact.getNode().equals(candidate.name())) {
      return candidate;
    }
    List<String> against = new ArrayList<>(candidate.against());
    against.add(
        "store %s: wanted the disk of node %s, found another node"
            .formatted(artifact.getStore(), artifact.getNode()));
    return new Candidate(candidate.name(), candidate.facts(), against);
  }
}
