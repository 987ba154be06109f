package dev.stasis.compat;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The result of a comparison.
 *
 * @param mismatches every property that does not match, by name
 */
public record Compatibility(List<Mismatch> mismatches) {
  public Compatibility {
    mismatches = List.copyOf(mismatches);
  }

  /**
   * Compares every property of {@code wanted} with {@code found}. Properties that only {@code
   * found} has are ignored.
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

  /** Returns whether the workload can be restored there: no property has a hard mismatch. */
  public boolean fits() {
    return mismatches.stream().noneMatch(Mismatch::hard);
  }

  /** Returns the mismatches in one line; empty if there are none. */
  public String sentence() {
    return mismatches.stream().map(Mismatch::sentence).collect(Collectors.joining("; "));
  }
}
