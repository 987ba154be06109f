package dev.stasis.operator.cli;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An output line of the program that counts on its GPU.
 *
 * @param number the step's number
 * @param right whether the data read from the device was the data written
 */
record CountedStep(long number, boolean right) {

  private static final Pattern STEP = Pattern.compile("step ([0-9]{1,18}) sum [0-9a-f]+ (.*)");

  /** Empty for any other line. */
  static Optional<CountedStep> of(String line) {
    Matcher matcher = STEP.matcher(line);
    return matcher.matches()
        ? Optional.of(
            new CountedStep(Long.parseLong(matcher.group(1)), "ok".equals(matcher.group(2))))
        : Optional.empty();
  }
}
