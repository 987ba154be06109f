package dev.stasis.operator.status;

/**
 * The part of a whole that is done.
 *
 * @param done not negative
 * @param total not negative
 */
public record Share(long done, long total) {

  /** For people: {@code 63%}; 100% only when nothing is left. */
  public String text() {
    if (total <= 0) {
      return "0%";
    }
    return (long) Math.floor(Math.min(done, total) * 100.0 / total) + "%";
  }
}
