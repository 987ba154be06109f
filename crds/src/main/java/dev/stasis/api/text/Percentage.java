package dev.stasis.api.text;

/**
 * The part of a whole that is done, for people.
 *
 * @param done not negative
 * @param total not negative
 */
public record Percentage(long done, long total) {

  /** Returns the part, such as {@code 63%}; 100% only when nothing is left. */
  public String text() {
    if (total <= 0) {
      return "0%";
    }
    return (long) Math.floor(Math.min(done, total) * 100.0 / total) + "%";
  }
}
