package dev.stasis.operator.node;

import dev.stasis.api.v1beta1.GpuNode;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.node.Capability;
import dev.stasis.api.v1beta1.node.GpuNodeStatus;
import dev.stasis.api.v1beta1.node.NodeGpu;
import dev.stasis.compat.Fingerprint;
import dev.stasis.compat.GpuSet;
import dev.stasis.compat.Links;
import dev.stasis.compat.NodeFacts;
import dev.stasis.operator.cluster.Changed;
import dev.stasis.operator.cluster.Cluster;
import dev.stasis.operator.explain.Candidate;
import io.fabric8.kubernetes.api.model.Node;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Evaluates every node with an agent as a place for a restore, with everything that currently
 * prevents it.
 */
public final class Candidates {

  private static final NodeFacts NOTHING =
      new NodeFacts(new GpuSet("none", List.of(), Links.parse("None")), Fingerprint.empty());

  private final FactsReader reader = new FactsReader();
  private final AgentLife life = new AgentLife();

  /** Evaluates all nodes. */
  public List<Candidate> of(Collection<GpuNode> gpuNodes, Collection<Node> nodes, Instant now) {
    Map<String, Node> byName =
        nodes.stream()
            .collect(Collectors.toMap(node -> node.getMetadata().getName(), node -> node));
    return gpuNodes.stream()
        .map(
            gpuNode ->
                of(gpuNode, Optional.ofNullable(byName.get(gpuNode.getMetadata().getName())), now))
        .sorted(Comparator.comparing(Candidate::name))
        .toList();
  }

  public Candidate of(GpuNode gpuNode, Optional<Node> node, Instant now) {
    List<String> against = against(gpuNode, node, now);
    NodeFacts facts = NOTHING;
    FactsReader.Reading reading = reader.read(gpuNode);
    if (reading instanceof FactsReader.Facts read) {
      facts = read.facts();
    } else if (reading instanceof FactsReader.Unreadable unreadable) {
      against.add(unreadable.sentence());
    }
    return new Candidate(gpuNode.getMetadata().getName(), facts, against);
  }

  /**
   * Returns whether two reports of the agent are the same place. Most reports are heartbeats, and
   * 1,000 nodes send 17 of them a second: their facts are compared, which is cheaper than reading
   * them.
   */
  boolean areSame(GpuNode before, GpuNode after, Optional<Node> node, Instant now) {
    return reader.isSame(before, after)
        ? against(before, node, now).equals(against(after, node, now))
        : of(before, node, now).equals(of(after, node, now));
  }

  /**
   * Returns whether a change affects restores on the node: a heartbeat does not, unless it ends a
   * silence.
   *
   * @param rest returns what else is relevant
   */
  public boolean isAffected(
      Changed<GpuNode> change, Cluster cluster, Instant now, Function<GpuNode, ?> rest) {
    if (change.cameOrWent()) {
      return true;
    }
    GpuNode before = change.before().orElseThrow();
    GpuNode after = change.after().orElseThrow();
    return !rest.apply(before).equals(rest.apply(after))
        || !areSame(before, after, cluster.node(after.getMetadata().getName()), now);
  }

  /** Returns everything against it but facts that cannot be read. */
  private List<String> against(GpuNode gpuNode, Optional<Node> node, Instant now) {
    List<String> against = new ArrayList<>();
    ofNode(node, against);
    life.against(gpuNode, now).ifPresent(against::add);
    capability(gpuNode, against);
    quarantined(gpuNode, against);
    return against;
  }

  private static void ofNode(Optional<Node> node, List<String> against) {
    if (node.isEmpty()) {
      against.add("node: expected one with that name in the cluster, got none");
      return;
    }
    if (node.get().getSpec() != null
        && Boolean.TRUE.equals(node.get().getSpec().getUnschedulable())) {
      against.add("node: expected a schedulable one, got a cordoned one");
    }
    boolean down =
        node.get().getStatus() != null
            && node.get().getStatus().getConditions().stream()
                .anyMatch(
                    condition ->
                        condition.getType().equals("Ready")
                            && !condition.getStatus().equals("True"));
    if (down) {
      against.add("node: expected Ready, got not ready");
    }
  }

  private static void capability(GpuNode node, List<String> against) {
    GpuNodeStatus status = node.getStatus();
    List<Capability> can = status == null ? null : status.getCapabilities();
    if (can == null || can.contains(Capability.RESTORE)) {
      return;
    }
    List<Fault> missing = Objects.requireNonNullElse(status.getMissing(), List.of());
    String why = missing.stream().map(Fault::message).collect(Collectors.joining("; "));
    against.add(
        "agent: expected capability Restore, got " + can + (why.isEmpty() ? "" : ": " + why));
  }

  /** The kubelet chooses the GPU of a pod. A start is impossible only if no GPU is left. */
  private static void quarantined(GpuNode node, List<String> against) {
    List<NodeGpu> gpus =
        node.getStatus() == null
            ? List.of()
            : Objects.requireNonNullElse(node.getStatus().getGpus(), List.of());
    if (!gpus.stream().allMatch(gpu -> Boolean.TRUE.equals(gpu.quarantined()))) {
      return;
    }
    gpus.forEach(
        gpu ->
            against.add(
                "gpu "
                    + gpu.uuid()
                    + ": expected a usable GPU, got a quarantined one: "
                    + Objects.requireNonNullElse(gpu.quarantineReason(), "no reason given")));
  }
}
