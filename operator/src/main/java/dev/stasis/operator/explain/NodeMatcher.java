package dev.stasis.operator.explain;

import dev.stasis.compat.Fingerprint;
import dev.stasis.compat.NodeFacts;
import dev.stasis.compat.Scope;
import dev.stasis.operator.cluster.RecentMap;
import java.util.IdentityHashMap;
import java.util.stream.Stream;

/**
 * Finds the nodes that fit a workload, without the reasons against the others. Most workloads and
 * most nodes of a cluster are of few kinds, so recent comparisons are remembered.
 */
public final class NodeMatcher {

  /** More kinds of workloads than most clusters have. */
  private static final int WORKLOADS = 64;

  /** Each kind of workload on each kind of node. */
  private static final int PAIRS = 4_096;

  /** In characters; that of an ordinary workload has 2,000. A longer one is not remembered. */
  private static final int LONGEST = 8_192;

  private final RecentMap<String, Fingerprint> parsed = new RecentMap<>(WORKLOADS);
  private final RecentMap<Pair, Boolean> compared = new RecentMap<>(PAIRS);

  private record Pair(Fingerprint wanted, NodeFacts facts) {}

  /**
   * Returns the nodes that fit now.
   *
   * @param fingerprint the requirements of the workload; the pod's own properties are ignored
   */
  public Stream<Candidate> fitting(String fingerprint, Stream<Candidate> candidates) {
    Fingerprint wanted = ofNode(fingerprint);
    // Nodes of one kind share their facts, and comparing these takes longer than all the rest.
    IdentityHashMap<NodeFacts, Boolean> kinds = new IdentityHashMap<>();
    return candidates.filter(
        it ->
            it.against().isEmpty()
                && kinds.computeIfAbsent(it.facts(), facts -> matches(wanted, facts)));
  }

  private boolean matches(Fingerprint wanted, NodeFacts facts) {
    Pair pair = new Pair(wanted, facts);
    return compared
        .get(pair)
        .orElseGet(
            () -> {
              boolean fits = NodeVerdicts.fits(wanted, facts);
              compared.put(pair, fits);
              return fits;
            });
  }

  private Fingerprint ofNode(String fingerprint) {
    return parsed
        .get(fingerprint)
        .orElseGet(
            () -> {
              Fingerprint read = Fingerprint.parse(fingerprint).only(Scope.GPUS, Scope.NODE);
              if (fingerprint.length() <= LONGEST) {
                parsed.put(fingerprint, read);
              }
              return read;
            });
  }
}
