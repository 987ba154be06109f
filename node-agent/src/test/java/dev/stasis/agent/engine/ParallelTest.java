package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ParallelTest {

  private final CountDownLatch interrupted = new CountDownLatch(2);
  private final CountDownLatch mayEnd = new CountDownLatch(1);
  private final AtomicInteger ended = new AtomicInteger();

  @Test
  void anInterruptedCallerWaitsForTheEndOfEveryAction() throws Exception {
    CompletableFuture<Integer> endedAtReturn = new CompletableFuture<>();
    CountDownLatch begun = new CountDownLatch(2);
    Thread caller =
        new Thread(
            () -> {
              try {
                new Parallel()
                    .forEach(
                        List.of("one", "two"),
                        any -> {
                          begun.countDown();
                          endSlowly();
                        });
              } catch (InterruptedException | StepFailure e) {
                endedAtReturn.complete(ended.get());
              }
            });
    caller.start();
    assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
    caller.interrupt();
    assertThat(interrupted.await(10, TimeUnit.SECONDS)).as("the actions are interrupted").isTrue();
    caller.join(200);
    assertThat(endedAtReturn).isNotDone();
    mayEnd.countDown();
    assertThat(endedAtReturn.get(10, TimeUnit.SECONDS)).isEqualTo(2);
  }

  /** As a helper that gets a signal and needs a moment. */
  private void endSlowly() throws InterruptedException {
    try {
      mayEnd.await();
    } catch (InterruptedException e) {
      interrupted.countDown();
      mayEnd.await();
    }
    ended.incrementAndGet();
  }
}
