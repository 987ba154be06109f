package dev.stasis.operator.cli;

import java.io.Serial;

/** A failed smoke test, with the reason. */
final class SmokeTestFailure extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  SmokeTestFailure(String sentence) {
    super(sentence);
  }
}
