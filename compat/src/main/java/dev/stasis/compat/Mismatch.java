package dev.stasis.compat;

/**
 * One property that does not match.
 *
 * @param property the property
 * @param wanted the workload's value when it was frozen, in canonical form
 * @param found the node's value; {@link #UNKNOWN} if it has none
 */
public record Mismatch(Property property, String wanted, String found) {
  /** Represents a value that the node does not report. */
  public static final String UNKNOWN = "unknown";

  /** Whether it excludes the node; a soft mismatch is only reported. */
  public boolean hard() {
    return property.hard();
  }

  /** Returns one sentence: the property, the expected and the actual value. */
  public String sentence() {
    return property.key()
        + ": "
        + (found.equals(UNKNOWN)
            ? "expected " + wanted + ", got " + UNKNOWN
            : property.rule().explain(wanted, found));
  }
}
