package dev.stasis.agent.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.daemon.operation.Intervals;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What a predecessor left frozen waits for an agent that takes it up. */
class TakeUpTest {

  private static final Intervals.Backoff BRIEF =
      new Intervals.Backoff(Duration.ofMillis(1), Duration.ofMillis(5));

  @Test
  void theTakeoverIsRetriedAndTheAgentIsNotReadyMeanwhile() throws Exception {
    AtomicInteger tries = new AtomicInteger();
    CountDownLatch third = new CountDownLatch(1);
    CountDownLatch seen = new CountDownLatch(1);
    TakeUp.Attempt attempt =
        () -> {
          if (tries.incrementAndGet() == 1) {
            throw new OutOfMemoryError("unable to create native thread");
          }
          if (tries.get() == 2) {
            throw new IllegalStateException("cannot be listed");
          }
          third.countDown();
          seen.await();
        };
    try (TakeUp takeUp = new TakeUp(attempt, BRIEF)) {
      assertThat(takeUp.trouble()).isPresent();
      takeUp.start();
      third.await();
      assertThat(takeUp.trouble().orElseThrow()).contains("cannot be listed");
      seen.countDown();
      Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> takeUp.trouble().isEmpty());
    }
    assertThat(tries).hasValue(3);
  }
}
