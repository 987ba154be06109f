package dev.stasis.compat;

import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Where a workload may come back, in the terms of a node affinity: a node fits when each of these
 * labels has one of the accepted values. Labels are compared for equality, and rules are often
 * wider; so every value of a known node that fulfils the rule is accepted, and the workload's own,
 * which a node that is still to come may have.
 *
 * @param accepted for each label key the values
 */
public record Placement(SortedMap<String, SortedSet<String>> accepted) {
  public Placement {
    accepted = Collections.unmodifiableSortedMap(new TreeMap<>(accepted));
  }

  /**
   * @param wanted what the workload was frozen with; the pod's own properties are passed over
   * @param nodes the nodes that are known
   * @throws IllegalArgumentException when the fingerprint does not say the number of GPUs
   */
  public static Placement of(Fingerprint wanted, Collection<NodeFacts> nodes) {
    int gpus =
        wanted
            .value(Property.GPU_COUNT)
            .map(Integer::parseInt)
            .orElseThrow(
                () -> new IllegalArgumentException("gpu.count: wanted a number, found none"));
    SortedMap<String, SortedSet<String>> accepted = new TreeMap<>();
    accepted.put(NodeFacts.gpusLabel(gpus), gpuHashes(wanted.only(Scope.GPUS), gpus, nodes));
    wanted
        .only(Scope.NODE)
        .values()
        .forEach(
            (property, value) ->
                property
                    .label()
                    .ifPresent(key -> accepted.put(key, values(property, value, nodes))));
    return new Placement(accepted);
  }

  /** Whether a node with these labels is accepted. */
  public boolean accepts(Map<String, String> labels) {
    return accepted.entrySet().stream()
        .allMatch(
            term -> {
              String value = labels.get(term.getKey());
              return value != null && term.getValue().contains(value);
            });
  }

  private static SortedSet<String> gpuHashes(
      Fingerprint wanted, int gpus, Collection<NodeFacts> nodes) {
    SortedSet<String> hashes = new TreeSet<>();
    hashes.add(wanted.hash());
    for (NodeFacts node : nodes) {
      node.gpus()
          .everyChoiceOf(gpus)
          .filter(offer -> Compatibility.check(wanted, offer).fits())
          .ifPresent(offer -> hashes.add(offer.hash()));
    }
    return hashes;
  }

  private static SortedSet<String> values(
      Property property, String wanted, Collection<NodeFacts> nodes) {
    SortedSet<String> values = new TreeSet<>();
    values.add(NodeFacts.labelValue(property, wanted));
    for (NodeFacts node : nodes) {
      node.host()
          .value(property)
          .filter(found -> property.rule().fulfils(wanted, found))
          .ifPresent(found -> values.add(NodeFacts.labelValue(property, found)));
    }
    return values;
  }
}
