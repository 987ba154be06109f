package dev.stasis.operator.explain;

import dev.stasis.api.v1alpha1.common.NodeVerdict;
import dev.stasis.compat.Compatibility;
import dev.stasis.compat.Fingerprint;
import dev.stasis.compat.Mismatch;
import dev.stasis.compat.Property;
import dev.stasis.compat.Scope;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Where a workload could come back, and what stands against each other node.
 *
 * @param all of every node; those that fit first, then by name
 */
public record NodeVerdicts(List<NodeVerdict> all) {

  /** A status has to stay small, however many nodes a cluster has. */
  private static final int LISTED = 100;

  public NodeVerdicts {
    all = List.copyOf(all);
  }

  /**
   * Looks at every node.
   *
   * @param wanted what the workload needs; the pod's own properties are passed over
   */
  public static NodeVerdicts of(Fingerprint wanted, Collection<Candidate> candidates) {
    Fingerprint ofNode = wanted.only(Scope.GPUS, Scope.NODE);
    return new NodeVerdicts(
        candidates.stream()
            .map(candidate -> verdict(ofNode, candidate))
            .sorted(
                Comparator.comparing((NodeVerdict verdict) -> !verdict.fits())
                    .thenComparing(NodeVerdict::node))
            .toList());
  }

  /** Number of nodes that fit. */
  public int fit() {
    return (int) all.stream().filter(NodeVerdict::fits).count();
  }

  /** Number of nodes with GPUs. */
  public int known() {
    return all.size();
  }

  /** As many as a status lists. */
  public List<NodeVerdict> listed() {
    return all.subList(0, Math.min(all.size(), LISTED));
  }

  /** In one sentence: {@code 11 of 500 nodes fit}. */
  public String sentence() {
    return fit() + " of " + known() + (known() == 1 ? " node fits" : " nodes fit");
  }

  private static NodeVerdict verdict(Fingerprint wanted, Candidate candidate) {
    List<String> reasons = new ArrayList<>(candidate.against());
    int gpus = wanted.value(Property.GPU_COUNT).map(Integer::parseInt).orElse(1);
    int has = candidate.facts().gpus().gpus().size();
    Optional<Fingerprint> offer = candidate.facts().offer(gpus);
    if (has < gpus) {
      reasons.add("gpu.count: wanted " + gpus + ", found " + has);
    } else if (offer.isEmpty()) {
      reasons.add(
          "gpu.model: wanted " + gpus + " alike whichever are given out, found a mix or slices");
    }
    boolean fits = reasons.isEmpty();
    if (offer.isPresent()) {
      Compatibility compatibility = Compatibility.check(wanted, offer.get());
      fits = fits && compatibility.fits();
      // A soft mismatch is named too: it is what a restore there would be tried with.
      compatibility.mismatches().stream().map(Mismatch::sentence).forEach(reasons::add);
    }
    return new NodeVerdict(candidate.name(), fits, reasons.isEmpty() ? null : reasons);
  }
}
