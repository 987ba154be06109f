package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** When a call that uses a store is left behind. */
class StoreCallsTest {

  private static final Duration SILENCE = Duration.ofMillis(200);

  private static final Duration LONGER = Duration.ofMinutes(10);

  private final StoreCalls calls = new StoreCalls(SILENCE);

  /** Threads that hash report in any order, and the sync after them reports nothing. */
  @Test
  void aLaterReportDoesNotShortenTheTimeOfAPartThatTakesLonger() throws Exception {
    String result =
        calls.call(
            "sync",
            pulse -> {
              pulse.beat(LONGER);
              pulse.beat();
              assertThat(
                      new CountDownLatch(1)
                          .await(SILENCE.multipliedBy(3).toNanos(), TimeUnit.NANOSECONDS))
                  .isFalse();
              return "synced";
            });

    assertThat(result).isEqualTo("synced");
  }

  @Test
  void aCallWithoutProgressIsLeftBehindAndMayNotContinue() {
    CountDownLatch refused = new CountDownLatch(1);

    assertThatThrownBy(
            () ->
                calls.call(
                    "write",
                    pulse -> {
                      pulse.beat();
                      try {
                        new CountDownLatch(1).await();
                      } catch (InterruptedException left) {
                        assertThatThrownBy(pulse::beat).hasMessageContaining("thawed");
                        refused.countDown();
                        throw left;
                      }
                      return "written";
                    }))
        .isInstanceOf(StepFailure.class)
        .hasMessageContaining("does the store respond?");
    assertThat(refused.getCount()).isZero();
  }

  /** Else an artifact stays published whose workload is thawed. */
  @Test
  void aCallThatSucceedsWhileItsAgentStopsHasSucceeded() throws Exception {
    Thread caller = Thread.currentThread();

    String result =
        calls.call(
            "publish",
            pulse -> {
              pulse.beat(LONGER);
              caller.interrupt();
              try {
                new CountDownLatch(1).await();
              } catch (InterruptedException late) {
                return "published";
              }
              throw new AssertionError("not interrupted");
            });

    assertThat(result).isEqualTo("published");
    assertThat(Thread.interrupted()).isTrue();
  }
}
