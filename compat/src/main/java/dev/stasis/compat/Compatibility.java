package dev.stasis.compat;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * What came out of a comparison.
 *
 * @param mismatches every property that is not as wanted, by name
 */
public record Compatibility(List<Mismatch> mismatches) {
  public Compatibility {
    mismatches = List.copyOf(mismatches);
  }

  /**
   * Compares every property that {@code wanted} gives with what is found. What only the found side
   * gives is not asked for.
   */
  public static Compatibility check(Fingerprint wanted, Fingerprint found) {
    return new Compatibility(
        wanted.values().entrySet().stream()
            .map(want -> check(want.getKey(), want.getValue(), found))
            .flatMap(Optional::stream)
            .toList());
  }

  private static Optional<Mismatch> check(Property property, String wanted, Fingerprint found) {
    Optional<String> value = found.value(property);
    if (value.isPresent() && property.rule().fulfils(wanted, value.get())) {
      return Optional.empty();
    }
    return Optional.of(new Mismatch(property, wanted, value.orElse(Mismatch.UNKNOWN)));
  }

  /** Whether the workload may come back there: nothing hard stands against it. */
  public boolean fits() {
    return mismatches.stream().noneMatch(Mismatch::hard);
  }

  /** What stands against it, in one line; empty when everything is as wanted. */
  public String sentence() {
    return mismatches.stream().map(Mismatch::sentence).collect(Collectors.joining("; "));
  }
}
