package dev.stasis.agent.daemon.operation;

import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.store.RemoteArtifacts;
import dev.stasis.store.StoreException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Works with a remote store on behalf of an operation. While the store cannot be reached, the
 * operation says so and tries again, until it is cancelled or its deadline has passed.
 */
final class RemoteTransfer {

  /** A server that restarts is back within seconds; one that is away is asked once a minute. */
  private static final Intervals.Backoff AGAIN =
      new Intervals.Backoff(Duration.ofSeconds(2), Duration.ofMinutes(1));

  private final OperationRecorder recorder;
  private final String step;
  private final Semaphore turn;

  /**
   * @param step the step to report: {@code upload}
   * @param turn held while the transfer uses the store
   */
  RemoteTransfer(OperationRecorder recorder, String step, Semaphore turn) {
    this.recorder = recorder;
    this.step = step;
    this.turn = turn;
  }

  /** Waits for no other transfer. */
  RemoteTransfer(OperationRecorder recorder, String step) {
    this(recorder, step, new Semaphore(1));
  }

  /** What is done with the store. Doing it again after a failure must be harmless. */
  interface Work {
    OperationResult with(RemoteArtifacts remote, OperationProgress progress)
        throws Refused, IOException;
  }

  OperationResult run(ActiveOperation operation, ClusterApi.Opener opener, Work work)
      throws Refused, Job.Stopped, InterruptedException {
    Duration wait = AGAIN.first();
    while (true) {
      recorder.begin(operation);
      awaitTurn(operation);
      OperationProgress progress = new OperationProgress(operation, recorder, step);
      try (RemoteArtifacts remote = opener.open()) {
        return work.with(remote, progress);
      } catch (StoreException e) {
        progress.rethrow(e);
        String why = operation.artifact().store() + ": " + e.getMessage();
        if (!e.isTransient()) {
          return OperationResult.failed(
              Outcome.UNDONE, Faults.inStep("Store" + e.reason(), step, "store " + why));
        }
        recorder.publish(
            operation,
            status -> {
              status.setReason("Store" + e.reason());
              status.setMessage("store " + why + "; retried");
            });
      } catch (IOException e) {
        progress.rethrow(e);
        return OperationResult.storeFailed(step, e);
      } catch (RuntimeException e) {
        progress.rethrow(e);
        throw e;
      } finally {
        turn.release();
      }
      var unused = operation.awaitCancel(wait);
      operation.requireTime("during step " + step);
      wait = AGAIN.after(wait);
    }
  }

  private void awaitTurn(ActiveOperation operation) throws Job.Stopped, InterruptedException {
    // 1 s: how late a cancellation is noticed.
    while (!turn.tryAcquire(1, TimeUnit.SECONDS)) {
      operation.requireTime("during step " + step);
    }
  }
}
