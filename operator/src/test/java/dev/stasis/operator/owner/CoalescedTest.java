package dev.stasis.operator.owner;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class CoalescedTest {

  private final AtomicInteger runs = new AtomicInteger();

  @Test
  void aThreadThatFindsItRunningLeavesItsRequestToTheOneThatRunsIt() throws Exception {
    CountDownLatch entered = new CountDownLatch(1);
    CountDownLatch released = new CountDownLatch(1);
    Coalesced writes =
        new Coalesced(
            () -> {
              runs.incrementAndGet();
              entered.countDown();
              await(released);
              return true;
            });
    CompletableFuture<Boolean> first = CompletableFuture.supplyAsync(writes::request);
    await(entered);

    for (int other = 0; other < 100; other++) {
      // It would never return if it waited for the one that runs.
      assertThat(writes.request()).isTrue();
    }
    assertThat(runs).hasValue(1);

    released.countDown();
    assertThat(first.get()).isTrue();
    assertThat(runs).hasValue(2);
  }

  @Test
  void aRequestThatComesLaterIsARunOfItsOwnAndAFailureIsReported() {
    Coalesced writes = new Coalesced(() -> runs.incrementAndGet() > 1);

    assertThat(writes.request()).isFalse();
    assertThat(writes.request()).isTrue();
    assertThat(runs).hasValue(2);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
