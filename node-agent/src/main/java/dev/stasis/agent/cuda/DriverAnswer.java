package dev.stasis.agent.cuda;

import java.time.Duration;

/**
 * The outcome of a request to the driver worker. Only {@link Done} reports what the driver did.
 * After {@link TimedOut} or {@link WorkerLost} of a call that changes something, the state of the
 * process is unknown: the call may still take effect, so it is never repeated, and {@link
 * SettledState} determines when the state may be read.
 *
 * @param <T> the value of an answer
 */
public sealed interface DriverAnswer<T> {

  /** One sentence for users. */
  String describe();

  /** The driver answered. The answer may be an error of the driver: see the value. */
  record Done<T>(T value) implements DriverAnswer<T> {
    @Override
    public String describe() {
      return value.toString();
    }
  }

  /** The driver was not called. */
  record Refused<T>(Refusal refusal, String why) implements DriverAnswer<T> {
    @Override
    public String describe() {
      return refusal + ": " + why;
    }
  }

  /** The deadline has passed; the call is still running in the worker. */
  record TimedOut<T>(Duration deadline) implements DriverAnswer<T> {
    @Override
    public String describe() {
      return "no answer from the driver after " + deadline.toMillis() + " ms";
    }
  }

  /** The worker ended, by itself or by {@link DriverWorker#replace}, before it answered. */
  record WorkerLost<T>(String why) implements DriverAnswer<T> {
    @Override
    public String describe() {
      return "the driver worker was lost: " + why;
    }
  }

  /** This node has no usable driver. */
  record NoDriver<T>(DriverAvailability availability) implements DriverAnswer<T> {
    @Override
    public String describe() {
      return availability.describe();
    }
  }
}
