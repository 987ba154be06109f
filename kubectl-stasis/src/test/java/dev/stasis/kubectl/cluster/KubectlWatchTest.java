package dev.stasis.kubectl.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class KubectlWatchTest {

  private static final Duration TICK = Duration.ofMillis(20);

  private static KubectlWatch silent(Optional<Resource> found) {
    return new KubectlWatch(
        KubectlWatchTest::start,
        new JsonReader(),
        "GpuCheckpoint train-1",
        () -> found,
        TICK.multipliedBy(3));
  }

  /** A watch that never has an event. */
  private static Process start() {
    try {
      return new ProcessBuilder("sleep", "60").start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aDeletionThatTheWatchMissedEndsTheWait() throws Exception {
    try (KubectlWatch watch = silent(Optional.empty())) {
      assertThat(watch.next(TICK)).isEmpty();
      assertThat(watch.next(TICK)).isEmpty();
      assertThatThrownBy(() -> watch.next(TICK))
          .isInstanceOf(ClusterFailure.class)
          .hasMessageContaining("GpuCheckpoint train-1 was deleted in the meantime");
    }
  }

  @Test
  void aSilentWatchReadsTheObjectFromTimeToTime() throws Exception {
    try (KubectlWatch watch = silent(Optional.of(Resource.NONE))) {
      assertThat(watch.next(TICK)).isEmpty();
      assertThat(watch.next(TICK)).isEmpty();
      assertThat(watch.next(TICK)).isPresent();
      assertThat(watch.next(TICK)).isEmpty();
    }
  }
}
