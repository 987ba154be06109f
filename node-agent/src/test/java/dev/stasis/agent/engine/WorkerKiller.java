package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
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
    lab.gpus().fault(call, "hang at=" + when);
    return new WorkerKiller(CompletableFuture.supplyAsync(() -> kill(lab, call)));
  }

  private static boolean kill(EngineLab lab, String call) {
    Path fault = lab.gpus().folder().resolve("faults").resolve(call);
    Awaitility.await("the call " + call)
        .atMost(LIMIT)
        .pollInterval(Duration.ofMillis(5))
        .until(() -> Files.notExists(fault) && isInside(lab, call));
    return ProcessHandle.of(lab.worker().pid().orElseThrow())
        .map(ProcessHandle::destroyForcibly)
        .orElse(false);
  }

  private static boolean isInside(EngineLab lab, String call) {
    return lab.worker().inFlight().stream()
        .anyMatch(inside -> inside.call().equalsIgnoreCase(call));
  }

  void assertKilled() {
    assertThat(killed.join()).as("whether the worker was killed inside the call").isTrue();
  }
}
