package dev.stasis.operator.admission;

import java.util.List;

/** The answer of a hook. */
public sealed interface Verdict {

  /**
   * The request is allowed.
   *
   * @param warnings for the client, one sentence each
   */
  record Allowed(List<String> warnings) implements Verdict {
    public Allowed {
      warnings = List.copyOf(warnings);
    }
  }

  /** The request may be allowed later: the API server answers 429, and the client retries. */
  record NotNow(String sentence) implements Verdict {}

  /** The request is denied. */
  record Denied(String sentence) implements Verdict {}

  /**
   * The request is allowed, with a change.
   *
   * @param patch a JSON patch
   */
  record Changed(String patch) implements Verdict {}

  /** Allows the request without warnings. */
  static Verdict allowed() {
    return new Allowed(List.of());
  }

  static Verdict allowed(String warning) {
    return new Allowed(List.of(warning));
  }
}
