package dev.stasis.artifact;

import dev.stasis.artifact.Opened.Refused;

/** Carries a refusal from the check to the caller that opens the artifact. */
final class Refusal extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient Refused refused;

  Refusal(Refused refused) {
    super(refused.message(), null, false, false);
    this.refused = refused;
  }

  Refused refused() {
    return refused;
  }
}
