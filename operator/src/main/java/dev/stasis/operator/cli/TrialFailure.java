package dev.stasis.operator.cli;

import java.io.Serial;

/** What a trial found not to work, in one sentence. */
final class TrialFailure extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  TrialFailure(String sentence) {
    super(sentence);
  }
}
