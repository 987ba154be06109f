package dev.stasis.operator.explain;

import dev.stasis.api.v1beta1.common.NodeVerdict;
import dev.stasis.api.v1beta1.common.TargetStatus;
import dev.stasis.compat.Compatibility;
import dev.stasis.compat.Fingerprint;
import dev.stasis.compat.Mismatch;
import dev.stasis.compat.NodeFacts;
import dev.stasis.compat.Property;
import dev.stasis.compat.Scope;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The nodes that could restore a workload, and the reasons against the others.
 *
 * @param all the verdicts for every node; matching nodes first, then by name
 */
public record NodeVerdicts(List<NodeVerdict> all) {

  /** A status must stay small, however many nodes a cluster has. */
  private static final int LISTED = 100;

  /** Number of nodes in a sentence; the status lists all. */
  private static final int NAMED = 3;

  public NodeVerdicts {
    all = List.copyOf(all);
  }

  /**
   * What the facts of a node say about a workload.
   *
   * @param reasons also those that do not exclude the node
   */
  private record Match(boolean fits, List<String> reasons) {}

  /**
   * Evaluates every node. Most nodes of a cluster have the same facts, which are compared once.
   *
   * @param wanted the requirements of the workload; the pod's own properties are ignored
   */
  public static NodeVerdicts of(Fingerprint wanted, Collection<Candidate> candidates) {
    Fingerprint ofNode = wanted.only(Scope.GPUS, Scope.NODE);
    Map<NodeFacts, Match> matches = new HashMap<>();
    return new NodeVerdicts(
        candidates.stream()
            .map(
                candidate ->
                    verdict(
                        candidate,
                        matches.computeIfAbsent(candidate.facts(), it -> match(ofNode, it))))
            .sorted(
                Comparator.comparing((NodeVerdict verdict) -> !verdict.fits())
                    .thenComparing(NodeVerdict::node))
            .toList());
  }

  /** Returns the number of matching nodes. */
  public int fit() {
    return (int) all.stream().filter(NodeVerdict::fits).count();
  }

  /** Returns the number of nodes with GPUs. */
  public int known() {
    return all.size();
  }

  /** The maximum number in a status. */
  public List<NodeVerdict> listed() {
    return all.subList(0, Math.min(all.size(), LISTED));
  }

  /** While no node matches, the status reports why, node by node. */
  public void writeTo(TargetStatus status) {
    status.setNodesFit(fit());
    status.setNodesKnown(known());
    status.setNodes(fit() == 0 ? listed() : null);
  }

  /** Returns one sentence: {@code 11 of 500 nodes fit}. */
  public String sentence() {
    return new NodeCount(fit(), known()).sentence();
  }

  /**
   * Returns one sentence on why no node matches.
   *
   * @param asked the requested node; null for any
   */
  public String whyNone(@Nullable String asked) {
    if (asked != null && all.stream().noneMatch(it -> it.node().equals(asked))) {
      return "target.nodeName: expected a node with GPUs and an agent, got none named " + asked;
    }
    if (known() == 0) {
      return "node: expected one with GPUs and an agent, got none";
    }
    return sentence()
        + ": "
        + all.stream()
            .filter(it -> asked == null || it.node().equals(asked))
            .limit(NAMED)
            .map(it -> it.node() + ": " + String.join(", ", reasons(it)))
            .collect(Collectors.joining("; "));
  }

  private static List<String> reasons(NodeVerdict verdict) {
    return Objects.requireNonNullElse(verdict.reasons(), List.of());
  }

  private static NodeVerdict verdict(Candidate candidate, Match match) {
    List<String> reasons = new ArrayList<>(candidate.against());
    reasons.addAll(match.reasons());
    boolean fits = candidate.against().isEmpty() && match.fits();
    return new NodeVerdict(candidate.name(), fits, reasons.isEmpty() ? null : reasons);
  }

  /**
   * Returns whether the facts of a node fit a workload.
   *
   * @param wanted its requirements, without the pod's own properties
   */
  static boolean fits(Fingerprint wanted, NodeFacts facts) {
    return match(wanted, facts).fits();
  }

  private static Match match(Fingerprint wanted, NodeFacts facts) {
    List<String> reasons = new ArrayList<>();
    int gpus = wanted.value(Property.GPU_COUNT).map(Integer::parseInt).orElse(1);
    int has = facts.gpus().gpus().size();
    Optional<Fingerprint> offer = facts.offer(gpus);
    if (has < gpus) {
      reasons.add("gpu.count: expected " + gpus + ", got " + has);
    } else if (offer.isEmpty()) {
      reasons.add(
          "gpu.model: expected "
              + gpus
              + " equal GPUs on the node, got different models or slices");
    }
    boolean fits = reasons.isEmpty();
    if (offer.isPresent()) {
      Compatibility compatibility = Compatibility.check(wanted, offer.get());
      fits = fits && compatibility.fits();
      // A soft mismatch is reported too, since a restore there might fail because of it.
      compatibility.mismatches().stream().map(Mismatch::sentence).forEach(reasons::add);
    }
    return new Match(fits, reasons);
  }
}
