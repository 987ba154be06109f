package dev.stasis.operator.admission;

import java.util.List;

/** What a hook says to a request. */
public sealed interface Verdict {

  /**
   * It may pass.
   *
   * @param warnings for whoever asked, a sentence each
   */
  record Allowed(List<String> warnings) implements Verdict {
    public Allowed {
      warnings = List.copyOf(warnings);
    }
  }

  /** It may pass later: the API server answers 429, and whoever asked asks again. */
  record NotNow(String sentence) implements Verdict {}

  /** It may not pass. */
  record Denied(String sentence) implements Verdict {}

  /**
   * It passes, changed.
   *
   * @param patch a JSON patch
   */
  record Changed(String patch) implements Verdict {}

  /** It may pass, and there is nothing to say about it. */
  static Verdict allowed() {
    return new Allowed(List.of());
  }

  /** It may pass, with a word about it. */
  static Verdict allowed(String warning) {
    return new Allowed(List.of(warning));
  }
}
