package dev.stasis.compat;

/**
 * One property that is not as wanted.
 *
 * @param property which
 * @param wanted the value that the workload was frozen with, in canonical form
 * @param found the value of the place; {@link #UNKNOWN} where it says none
 */
public record Mismatch(Property property, String wanted, String found) {
  /** Stands for a value that the place does not give. */
  public static final String UNKNOWN = "unknown";

  /** Whether it refuses the place; a soft one is only named. */
  public boolean hard() {
    return property.hard();
  }

  /** One sentence: the property, what was wanted, what was found. */
  public String sentence() {
    return property.key()
        + ": "
        + (found.equals(UNKNOWN)
            ? "wanted " + wanted + ", found " + UNKNOWN
            : property.rule().explain(wanted, found));
  }
}
