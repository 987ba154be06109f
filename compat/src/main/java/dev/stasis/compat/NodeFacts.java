package dev.stasis.compat;

import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The offer of a node, and the labels that represent it for the scheduler.
 *
 * @param gpus all GPUs of the node
 * @param host the properties of {@link Scope#NODE}
 */
public record NodeFacts(GpuSet gpus, Fingerprint host) {
  /** Prefix of all labels created here. */
  public static final String LABEL_PREFIX = "topology.stasis.dev/";

  private static final int LABEL_CHARACTERS = 63;

  public NodeFacts {
    host = host.only(Scope.NODE);
  }

  /** Returns the label key for pods with {@code n} GPUs. */
  public static String gpusLabel(int n) {
    return LABEL_PREFIX + "gpus-" + n;
  }

  /**
   * Returns what a pod with {@code n} GPUs gets here, whichever GPUs are chosen; empty if that is
   * not certain.
   */
  public Optional<Fingerprint> offer(int n) {
    return gpus.everyChoiceOf(n).map(host::and);
  }

  /**
   * Returns the node's labels: {@code topology.stasis.dev/gpus-N} for each N for which every
   * selection has the same fingerprint (its hash), and a label for each hard property of the node
   * that is equal for all GPUs.
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

  /** Converts a value to a label value: sets become a hash, invalid characters become dashes. */
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
