package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Programs with idle rings of io_uring, as libuv keeps them. */
@SuppressWarnings("NullAway") // made before each test
class IoUringRestoreTest {

  private static final int MIB = 8;

  private static EngineLab lab;

  @BeforeAll
  static void start() {
    lab = new EngineLab(1, 256);
  }

  @AfterAll
  static void stop() {
    lab.close();
  }

  private static ContainerSpec spec() {
    return ContainerSpec.counter(
        lab.gpus(), "--mib", Integer.toString(MIB), "--interval-ms", "100", "--io-uring");
  }

  @Test
  void itsRingsContinueInPlaceAndInTwoNewContainersOneAfterTheOther() throws Exception {
    CheckpointOutcome.Published first;
    CheckpointOutcome.Published second;
    List<String> before = new ArrayList<>();
    try (GpuContainer source = GpuContainer.start(spec())) {
      source.awaitSteps(20);
      first = lab.published(Asked.of(lab, source).requiringRestorable());
      source.awaitSteps(20);
      before.addAll(source.lines());
      source.verify(MIB);
    }
    try (GpuContainer target = GpuContainer.start(spec().asHolder())) {
      assertThat(lab.restore(first.artifact().path(), target))
          .isInstanceOf(RestoreOutcome.Proven.class);
      target.awaitSteps(20);
      target.verify(MIB, before);
      second = lab.published(Asked.of(lab, target).requiringRestorable());
      target.awaitSteps(10);
      // The source printed steps after its checkpoint, which the target repeated.
      before.subList(before.indexOf(target.lines().get(0)), before.size()).clear();
      before.addAll(target.lines());
    }
    try (GpuContainer target = GpuContainer.start(spec().asHolder())) {
      assertThat(lab.restore(second.artifact().path(), target))
          .isInstanceOf(RestoreOutcome.Proven.class);
      target.awaitSteps(20);
      target.verify(MIB, before);
    }
    lab.assertNothingLeft();
  }
}
