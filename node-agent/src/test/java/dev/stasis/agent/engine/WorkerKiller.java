package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;

/**
 * Kills the driver worker inside a call. The simulated driver takes the call and gives no answer as
 * long as the worker lives; then its own work continues.
 */
final class WorkerKiller {

  private static final Duration LIMIT = Duration.ofSeconds(120);

  private final CompletableFuture<Boolean> killed;

  private WorkerKiller(CompletableFuture<Boolean> killed) {
    this.killed = killed;
  }

  /**
   * Kills it inside the next call of that name.
   *
   * @param when at which moment of the driver's work, as a fault's {@code at=}
   */
  static WorkerKiller inside(EngineLab lab, String call, String when) {
    lab.gpus().fault(call, "hold at=" + when);
    return new WorkerKiller(CompletableFuture.supplyAsync(() -> kill(lab, call)));
  }

  /** The fault is gone before the call reaches the driver; the hold says that it is there. */
  private static boolean kill(EngineLab lab, String call) {
    Awaitility.await("the call " + call)
        .atMost(LIMIT)
        .pollInterval(Duration.ofMillis(5))
        .until(() -> lab.gpus().isHeld(call));
    ProcessHandle worker = ProcessHandle.of(lab.worker().pid().orElseThrow()).orElseThrow();
    boolean killed = worker.destroyForcibly();
    worker.onExit().join();
    lab.gpus().release(call);
    return killed;
  }

  void assertKilled() {
    assertThat(killed.join()).as("whether the worker was killed inside the call").isTrue();
  }
}
