package dev.stasis.operator.cli;

/**
 * Between which steps a program was saved, as far as its log tells.
 *
 * @param earliest the last step before the checkpoint was asked for
 * @param latest one after it was Ready
 */
record SavedSteps(long earliest, long latest) {

  /**
   * The first step after a restore is the next one after some of these: a program that was started
   * anew counts from 1.
   *
   * @throws TrialFailure when it is another one
   */
  void mustPrecede(CountedStep first) {
    if (first.number() <= earliest || first.number() > latest + 1) {
      throw new TrialFailure(
          "first step after the restore: wanted one from %d to %d, found %d"
              .formatted(earliest + 1, latest + 1, first.number()));
    }
  }
}
