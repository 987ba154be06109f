package dev.stasis.compat;

import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The nodes on which a workload can be restored, as a node affinity: a node matches if each of
 * these labels has one of the accepted values. Labels can only be compared for equality, whereas
 * rules are often wider. Every value of a known node that satisfies the rule is therefore accepted,
 * and also the workload's own value, which a future node may have.
 *
 * @param accepted the values for each label key
 */
public record Placement(SortedMap<String, SortedSet<String>> accepted) {
  public Placement {
    accepted = Collections.unmodifiableSortedMap(new TreeMap<>(accepted));
  }

  /**
   * @param wanted the fingerprint of the frozen workload; properties of the pod are ignored
   * @param nodes the known nodes
   * @throws IllegalArgumentException if the fingerprint does not contain the number of GPUs
   */
  public static Placement of(Fingerprint wanted, Collection<NodeFacts> nodes) {
    int gpus =
        wanted
            .value(Property.GPU_COUNT)
            .map(Integer::parseInt)
            .orElseThrow(
                () -> new IllegalArgumentException("gpu.count: expected a number, got none"));
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

  /** Returns whether a node with these labels is accepted. */
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
