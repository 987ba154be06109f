package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.Hardware;
import dev.stasis.compat.Fingerprint;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.explain.Candidate;
import dev.stasis.operator.explain.NodeVerdicts;
import dev.stasis.operator.node.Candidates;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Conditions;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.FaultSummary;
import java.time.Instant;
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
    if (isDamaged(turn)) {
      return;
    }
    ConditionValue known =
        new Conditions(Objects.requireNonNullElse(turn.status().getConditions(), List.of()))
            .find(ConditionType.RESTORABLE)
            .map(Condition::status)
            .orElse(ConditionValue.UNKNOWN);
    boolean fits =
        obstacles(turn).isEmpty() && fitsSomewhere(turn.cluster(), turn.status(), turn.now());
    if (known != (fits ? ConditionValue.TRUE : ConditionValue.FALSE)) {
      write(turn);
    }
  }

  /** Returns whether any node fits, without a verdict about those behind the first that does. */
  boolean fitsSomewhere(Cluster cluster, GpuCheckpointStatus status, Instant now) {
    Hardware hardware = status.getHardware();
    if (hardware == null || hardware.fingerprint() == null) {
      return false;
    }
    Fingerprint wanted = Fingerprint.parse(hardware.fingerprint());
    String holds = status.getArtifact() == null ? null : status.getArtifact().getNode();
    return cluster.gpuNodes().stream()
        .filter(node -> holds == null || holds.equals(node.getMetadata().getName()))
        .map(node -> candidates.of(node, cluster.node(node.getMetadata().getName()), now))
        .anyMatch(candidate -> NodeVerdicts.of(wanted, List.of(candidate)).fit() > 0);
  }

  /** Puts it into the condition. No node restores an artifact that is damaged. */
  void write(Turn turn) {
    if (!isDamaged(turn)) {
      write(turn, of(turn));
    }
  }

  /** Returns whether the last verification found the artifact damaged. */
  boolean isDamaged(Turn turn) {
    return new Conditions(Objects.requireNonNullElse(turn.status().getConditions(), List.of()))
        .isDamaged();
  }

  /** A verification found the artifact damaged. */
  void damaged(Turn turn, String sentence) {
    turn.status().setNodesFit(0);
    turn.report()
        .also(ConditionType.RESTORABLE, ConditionValue.FALSE, Reason.ARTIFACT_DAMAGED, sentence);
  }

  /** A verification found the artifact whole that was damaged before. */
  void whole(Turn turn) {
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
              ConditionValue.FALSE,
              Reason.NOT_PORTABLE,
              new FaultSummary(obstacles).message());
      return;
    }
    turn.status().setNodesFit(verdicts.fit());
    turn.status().setNodesKnown(verdicts.known());
    turn.report()
        .also(
            ConditionType.RESTORABLE,
            fits ? ConditionValue.TRUE : ConditionValue.FALSE,
            fits ? Reason.NODES_FIT : Reason.NO_NODE_FITS,
            verdicts.sentence());
  }

  private static List<Fault> obstacles(Turn turn) {
    ArtifactStatus artifact = turn.status().getArtifact();
    return artifact == null
        ? List.of()
        : artifact.obstacles(turn.spec().getOptions().getTcpConnections());
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
        "store %s: expected the disk of node %s, got another node"
            .formatted(artifact.getStore(), artifact.getNode()));
    return new Candidate(candidate.name(), candidate.facts(), against);
  }
}
