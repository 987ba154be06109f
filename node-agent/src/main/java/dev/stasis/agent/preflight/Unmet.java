package dev.stasis.agent.preflight;

/**
 * A property that rules the operation out.
 *
 * @param property which, in the words of the API
 * @param wanted what it has to be
 * @param found what it is
 * @param scope what it rules out
 */
public record Unmet(String property, String wanted, String found, Scope scope) {

  /** One that rules everything out. */
  public Unmet(String property, String wanted, String found) {
    this(property, wanted, found, Scope.CHECKPOINT);
  }

  @Override
  public String toString() {
    return property + ": wanted " + wanted + ", found " + found;
  }
}
