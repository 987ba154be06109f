package dev.stasis.agent.cuda;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * A driver call that returned, with any result.
 *
 * @param result what the call returned
 * @param before the state just before a call that changes it; null where it was not or could not be
 *     read
 * @param state the state just after the call; null if the driver reports none (no CUDA process)
 * @param thread for GetRestoreThreadId: the thread of the process that does the driver's work; 0
 *     for every other call and after a failure
 * @param took how long the call itself took in the worker
 */
public record CudaCall(
    CudaResult result,
    @Nullable CudaState before,
    @Nullable CudaState state,
    int thread,
    Duration took) {

  public boolean succeeded() {
    return result.succeeded();
  }

  public Optional<CudaState> stateAfter() {
    return Optional.ofNullable(state);
  }

  public OptionalInt restoreThread() {
    return thread > 0 ? OptionalInt.of(thread) : OptionalInt.empty();
  }

  @Override
  public String toString() {
    return result
        + (before == null ? "" : ", was " + before)
        + (state == null ? "" : ", is " + state)
        + (thread == 0 ? "" : ", thread " + thread)
        + ", "
        + took.toNanos() / 1000
        + " us";
  }
}
