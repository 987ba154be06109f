package dev.stasis.agent.preflight;

/**
 * An unmet requirement.
 *
 * @param property its name in the API
 * @param wanted the expected value
 * @param found the actual value
 * @param scope what it prevents
 */
public record FailedRequirement(String property, String wanted, String found, Scope scope) {

  /** One that prevents everything. */
  public FailedRequirement(String property, String wanted, String found) {
    this(property, wanted, found, Scope.CHECKPOINT);
  }

  @Override
  public String toString() {
    return property + ": expected " + wanted + ", got " + found;
  }
}
