package dev.stasis.operator.cli;

/**
 * The range of steps at which a program was checkpointed, from its log.
 *
 * @param earliest the last step before the checkpoint was requested
 * @param latest a step after it was Ready
 */
record SavedSteps(long earliest, long latest) {

  /**
   * Checks that the first step after a restore follows one of these steps: a program with a cold
   * start counts from 1.
   *
   * @throws SmokeTestFailure if it does not follow one of them
   */
  void mustPrecede(CountedStep first) {
    if (first.number() <= earliest || first.number() > latest + 1) {
      throw new SmokeTestFailure(
          "first step after the restore: expected one from %d to %d, got %d"
              .formatted(earliest + 1, latest + 1, first.number()));
    }
  }
}
