package dev.stasis.agent.preflight;

/**
 * A property that rules the operation out.
 *
 * @param property which, in the words of the API
 * @param wanted what it has to be
 * @param found what it is
 */
public record Unmet(String property, String wanted, String found) {

  @Override
  public String toString() {
    return property + ": wanted " + wanted + ", found " + found;
  }
}
