package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.agent.cuda.GpuUuid;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Who runs when; what has its turn is run by hand. */
class GpuQueueTest {

  private static final GpuUuid ONE = GpuUuid.parse("GPU-00000000-0000-0000-0000-000000000001");
  private static final GpuUuid TWO = GpuUuid.parse("GPU-00000000-0000-0000-0000-000000000002");

  private final Deque<Runnable> turns = new ArrayDeque<>();
  private final List<String> ran = new ArrayList<>();
  private final Deque<Runnable> later = new ArrayDeque<>();
  private final GpuQueue queue = new GpuQueue(this::start, later::add);
  private boolean full;

  private void submit(String name, int second, GpuUuid... gpus) {
    queue.submit(name, Instant.ofEpochSecond(second), Set.of(gpus), () -> ran.add(name));
  }

  private void start(Runnable turn) {
    if (full) {
      throw new OutOfMemoryError("unable to create native thread");
    }
    turns.add(turn);
  }

  private void runAll() {
    while (!turns.isEmpty()) {
      turns.remove().run();
    }
  }

  @Test
  void operationsOnOneGpuRunInTheOrderOfTheirCreation() {
    submit("first", 1, ONE);
    submit("third", 3, ONE);
    submit("second", 2, ONE);
    assertThat(turns).as("turns at once").hasSize(1);
    runAll();
    assertThat(ran).containsExactly("first", "second", "third");
  }

  @Test
  void operationsOnDifferentGpusRunConcurrently() {
    submit("one", 1, ONE);
    submit("two", 2, TWO);
    submit("none", 3);
    assertThat(turns).hasSize(3);
  }

  @Test
  void anOperationOnAllGpusIsNotOvertaken() {
    submit("one", 1, ONE);
    submit("both", 2, ONE, TWO);
    submit("two", 3, TWO);
    assertThat(turns).hasSize(1);
    runAll();
    assertThat(ran).containsExactly("one", "both", "two");
  }

  @Test
  void aReleasedGpuServesTheNextOperationAndAKeptPodDoesNot() {
    queue.submit("one", Instant.ofEpochSecond(1), Set.of(ONE, "ml/a"), () -> ran.add("one"));
    submit("two", 2, ONE);
    queue.submit("again", Instant.ofEpochSecond(3), Set.of("ml/a"), () -> ran.add("again"));
    assertThat(turns).hasSize(1);

    queue.keepOnly("one", Set.of("ml/a"));
    assertThat(turns).hasSize(2);
    runAll();
    assertThat(ran).containsExactly("one", "two", "again");
  }

  @Test
  void aWithdrawnOperationNeverRunsAndUnblocksTheNext() {
    submit("one", 1, ONE);
    submit("both", 2, ONE, TWO);
    submit("two", 3, TWO);
    assertThat(queue.withdraw("both")).isTrue();
    assertThat(queue.withdraw("one")).as("one that runs").isFalse();
    assertThat(turns).hasSize(2);
    runAll();
    assertThat(ran).containsExactly("one", "two");
  }

  @Test
  void aFailedOperationReleasesItsGpus() {
    queue.submit(
        "fails",
        Instant.EPOCH,
        Set.of(ONE),
        () -> {
          throw new IllegalStateException("failed");
        });
    submit("next", 1, ONE);
    assertThatThrownBy(this::runAll).isInstanceOf(IllegalStateException.class).hasMessage("failed");
    runAll();
    assertThat(ran).containsExactly("next");
  }

  @Test
  void anOperationWithoutAThreadDoesNotOccupyItsGpu() {
    full = true;
    assertThatThrownBy(() -> submit("fails", 1, ONE)).isInstanceOf(OutOfMemoryError.class);
    full = false;
    submit("next", 2, ONE);
    runAll();
    assertThat(ran).containsExactly("next");
  }

  @Test
  void anOperationThatGotNoThreadInItsTurnKeepsItsTurn() {
    submit("one", 1, ONE);
    submit("two", 2, ONE);
    full = true;
    runAll();
    full = false;
    later.remove().run();
    runAll();
    assertThat(ran).containsExactly("one", "two");
  }
}
