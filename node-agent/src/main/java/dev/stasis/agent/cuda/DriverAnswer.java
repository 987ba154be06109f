package dev.stasis.agent.cuda;

import java.time.Duration;
import java.util.function.Function;

/**
 * What became of a request to the driver worker. Only {@link Done} says what the driver did; after
 * {@link TimedOut} and {@link WorkerLost} of a call that changes something the process is in doubt:
 * the call may still be carried out, so it is never repeated, and {@link SettledState} says when
 * the state may be read.
 *
 * @param <T> what an answer holds
 */
public sealed interface DriverAnswer<T> {

  /** One sentence for a person. */
  String describe();

  /** The same outcome, its value turned into another. */
  <R> DriverAnswer<R> map(Function<? super T, ? extends R> change);

  /** The driver answered. The answer may be an error of the driver: see the value. */
  record Done<T>(T value) implements DriverAnswer<T> {
    @Override
    public String describe() {
      return value.toString();
    }

    @Override
    public <R> DriverAnswer<R> map(Function<? super T, ? extends R> change) {
      return new Done<>(change.apply(value));
    }
  }

  /** Nothing was asked of the driver. */
  record Refused<T>(Refusal refusal, String why) implements DriverAnswer<T> {
    @Override
    public String describe() {
      return refusal + ": " + why;
    }

    @Override
    public <R> DriverAnswer<R> map(Function<? super T, ? extends R> change) {
      return new Refused<>(refusal, why);
    }
  }

  /** The deadline is over, the call is still running in the worker. */
  record TimedOut<T>(Duration deadline) implements DriverAnswer<T> {
    @Override
    public String describe() {
      return "no answer from the driver after " + deadline.toMillis() + " ms";
    }

    @Override
    public <R> DriverAnswer<R> map(Function<? super T, ? extends R> change) {
      return new TimedOut<>(deadline);
    }
  }

  /** The worker ended, by itself or by {@link DriverWorker#replace}, before it answered. */
  record WorkerLost<T>(String why) implements DriverAnswer<T> {
    @Override
    public String describe() {
      return "the driver worker was lost: " + why;
    }

    @Override
    public <R> DriverAnswer<R> map(Function<? super T, ? extends R> change) {
      return new WorkerLost<>(why);
    }
  }

  /** This node has no driver that could be asked. */
  record NoDriver<T>(DriverAvailability availability) implements DriverAnswer<T> {
    @Override
    public String describe() {
      return availability.describe();
    }

    @Override
    public <R> DriverAnswer<R> map(Function<? super T, ? extends R> change) {
      return new NoDriver<>(availability);
    }
  }
}
