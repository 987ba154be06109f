package dev.stasis.operator.checkpoint;

import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.checkpoint.GpuCheckpointStatus;
import dev.stasis.api.v1beta1.common.ArtifactStatus;
import dev.stasis.api.v1beta1.common.Condition;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.compat.Fingerprint;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.explain.Candidate;
import dev.stasis.operator.explain.NodeCount;
import dev.stasis.operator.explain.NodeMatcher;
import dev.stasis.operator.explain.NodeVerdicts;
import dev.stasis.operator.node.Candidates;
import dev.stasis.operator.status.ConditionType;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.workflow.FaultSummary;
import jakarta.inject.Singleton;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The condition Restorable: whether the artifact can be restored on any node now. One for all
 * GpuCheckpoints: it remembers the reports of nodes, and comparisons with them.
 */
@Singleton
class RestorableCondition {

  private final Candidates candidates = new Candidates();
  private final NodeMatcher matcher = new NodeMatcher();

  /** Returns the verdict on each node, with all reasons, for an explanation. */
  NodeVerdicts verdicts(CheckpointContext context) {
    String fingerprint = fingerprint(context.status());
    if (fingerprint == null) {
      return new NodeVerdicts(List.of());
    }
    List<Candidate> all =
        candidates
            .of(context.cluster().gpuNodes(), context.cluster().nodes(), context.now())
            .stream()
            .map(candidate -> reaching(context.status().getArtifact(), candidate))
            .toList();
    return NodeVerdicts.of(Fingerprint.parse(fingerprint), all);
  }

  /**
   * Writes the condition only if its status changes. Otherwise each node that is added or removed
   * would cause a write of every checkpoint. The count is that of the last change.
   */
  void update(CheckpointContext context) {
    if (isDamaged(context)) {
      return;
    }
    ConditionValue known =
        context
            .conditions()
            .find(ConditionType.RESTORABLE)
            .map(Condition::status)
            .orElse(ConditionValue.UNKNOWN);
    ConditionValue actual = actual(context.cluster(), context.status(), context.now());
    boolean obstacle = actual == ConditionValue.TRUE && !obstacles(context).isEmpty();
    if (known != (obstacle ? ConditionValue.FALSE : actual)) {
      write(context);
    }
  }

  /**
   * Returns the status of the condition of an artifact that is neither damaged nor bound to its
   * pod: Unknown while the node whose disk has it is missing, which may register again.
   */
  ConditionValue actual(Cluster cluster, GpuCheckpointStatus status, Instant now) {
    if (missingNode(cluster, status).isPresent()) {
      return ConditionValue.UNKNOWN;
    }
    return fitsSomewhere(cluster, status, now) ? ConditionValue.TRUE : ConditionValue.FALSE;
  }

  /** Returns the node whose disk has the artifact, if the cluster has no such node. */
  private static Optional<String> missingNode(Cluster cluster, GpuCheckpointStatus status) {
    return Optional.ofNullable(status.getArtifact())
        .flatMap(artifact -> Optional.ofNullable(artifact.getNode()))
        .filter(node -> cluster.node(node).isEmpty());
  }

  /** Returns whether any node fits, without a verdict about those behind the first that does. */
  private boolean fitsSomewhere(Cluster cluster, GpuCheckpointStatus status, Instant now) {
    return fitting(cluster, status, now).findAny().isPresent();
  }

  /** Returns the number of nodes that fit: the status shows no reasons against the others. */
  private NodeCount count(CheckpointContext context) {
    Cluster cluster = context.cluster();
    return fingerprint(context.status()) == null
        ? new NodeCount(0, 0)
        : new NodeCount(
            (int) fitting(cluster, context.status(), context.now()).count(),
            cluster.gpuNodes().size());
  }

  private Stream<Candidate> fitting(Cluster cluster, GpuCheckpointStatus status, Instant now) {
    String fingerprint = fingerprint(status);
    if (fingerprint == null) {
      return Stream.empty();
    }
    String holds = status.getArtifact() == null ? null : status.getArtifact().getNode();
    Stream<GpuNode> reaching =
        holds == null ? cluster.gpuNodes().stream() : cluster.gpuNode(holds).stream();
    return matcher.fitting(
        fingerprint,
        reaching.map(node -> candidates.of(node, cluster.node(node.getMetadata().getName()), now)));
  }

  private static @Nullable String fingerprint(GpuCheckpointStatus status) {
    return status.getHardware() == null ? null : status.getHardware().fingerprint();
  }

  /** Writes the condition. No node restores an artifact that is damaged. */
  void write(CheckpointContext context) {
    if (!isDamaged(context)) {
      write(context, count(context));
    }
  }

  /** Returns whether the last verification found the artifact damaged. */
  private static boolean isDamaged(CheckpointContext context) {
    return context.conditions().isDamaged();
  }

  /** A verification found the artifact damaged. */
  void damaged(CheckpointContext context, String message) {
    context.status().setNodesFit(0);
    context
        .updater()
        .also(ConditionType.RESTORABLE, ConditionValue.FALSE, Reason.ARTIFACT_DAMAGED, message);
  }

  /** A verification found the artifact whole that was damaged before. */
  void whole(CheckpointContext context) {
    write(context, count(context));
  }

  private static void write(CheckpointContext context, NodeCount nodes) {
    CheckpointStatusUpdater updater = context.updater();
    boolean fits = nodes.fit() > 0;
    Optional<String> missing = missingNode(context.cluster(), context.status());
    if (missing.isPresent()) {
      context.status().setNodesFit(0);
      updater.also(
          ConditionType.RESTORABLE,
          ConditionValue.UNKNOWN,
          Reason.NODE_GONE,
          "node %s has the artifact on its disk and is gone: waiting for it to register again"
              .formatted(missing.get()));
      return;
    }
    List<Fault> obstacles = obstacles(context);
    if (!obstacles.isEmpty()) {
      context.status().setNodesFit(0);
      context.status().setNodesKnown(nodes.known());
      updater.also(
          ConditionType.RESTORABLE,
          ConditionValue.FALSE,
          Reason.NOT_PORTABLE,
          new FaultSummary(obstacles).message());
      return;
    }
    context.status().setNodesFit(nodes.fit());
    context.status().setNodesKnown(nodes.known());
    updater.also(
        ConditionType.RESTORABLE,
        fits ? ConditionValue.TRUE : ConditionValue.FALSE,
        fits ? Reason.NODES_FIT : Reason.NO_NODE_FITS,
        nodes.sentence());
  }

  private static List<Fault> obstacles(CheckpointContext context) {
    ArtifactStatus artifact = context.status().getArtifact();
    return artifact == null
        ? List.of()
        : artifact.obstacles(context.spec().getOptions().getTcpConnections());
  }

  /** Adds that an artifact on the disk of a node can be restored only there. */
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
