package dev.stasis.compat;

import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a node offers, and the labels that say so to the scheduler.
 *
 * @param gpus all GPUs of the node
 * @param host the properties of {@link Scope#NODE}
 */
public record NodeFacts(GpuSet gpus, Fingerprint host) {
  /** Prefix of every label that is made here. */
  public static final String LABEL_PREFIX = "topology.stasis.dev/";

  private static final int LABEL_CHARACTERS = 63;

  public NodeFacts {
    host = host.only(Scope.NODE);
  }

  /** The key of the label for pods with {@code n} GPUs. */
  public static String gpusLabel(int n) {
    return LABEL_PREFIX + "gpus-" + n;
  }

  /** What a pod with {@code n} GPUs finds here, whichever it gets; empty when nothing is sure. */
  public Optional<Fingerprint> offer(int n) {
    return gpus.everyChoiceOf(n).map(host::and);
  }

  /**
   * The node's labels: {@code topology.stasis.dev/gpus-N} for each N of which every choice fulfils
   * one fingerprint (its hash), and each hard property of the node by itself, where all GPUs agree.
   */
  public SortedMap<String, String> labels() {
    SortedMap<String, String> labels = new TreeMap<>();
    for (int n = 1; n <= gpus.gpus().size(); n++) {
      String key = gpusLabel(n);
      gpus.everyChoiceOf(n).ifPresent(choice -> labels.put(key, choice.hash()));
    }
    Fingerprint all = gpus.gpus().isEmpty() ? host : host.and(gpus.fingerprint());
    all.values()
        .forEach(
            (property, value) ->
                property
                    .label()
                    .filter(key -> !value.contains(" | "))
                    .ifPresent(key -> labels.put(key, labelValue(property, value))));
    return labels;
  }

  /** A value as a label can hold it: sets as a hash, other characters than its own as dashes. */
  static String labelValue(Property property, String value) {
    if (property.rule() == Rule.SUPERSET) {
      return Fingerprint.hash(value);
    }
    String plain = value.replaceAll("[^A-Za-z0-9._-]", "-");
    return plain
        .substring(0, Math.min(plain.length(), LABEL_CHARACTERS))
        .replaceAll("^[^A-Za-z0-9]+|[^A-Za-z0-9]+$", "");
  }
}
