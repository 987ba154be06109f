package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.stasis.agent.preflight.FailedRequirement;
import dev.stasis.agent.preflight.Requirement;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.Program;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Programs that people run around a GPU process: a checkpoint in place, an eviction, a restore in a
 * container with another address, and the same with what was restored; or a refusal.
 */
@SuppressWarnings("NullAway") // made before each test
class ProgramsTest {

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

  @Tag("long")
  @ParameterizedTest
  @EnumSource
  void itIsCarriedOverTwice(Program program) throws Exception {
    itIsCarriedOverOrRefusedAsExplainSaid(program, 2);
  }

  /** RestoredRightsTest restores what was restored. */
  @ParameterizedTest
  @EnumSource
  void itIsCarriedOverOrRefusedAsExplainSaid(Program program) throws Exception {
    itIsCarriedOverOrRefusedAsExplainSaid(program, 1);
  }

  private static void itIsCarriedOverOrRefusedAsExplainSaid(Program program, int times)
      throws Exception {
    assumeTrue(program.missing().isEmpty(), () -> "not on this machine: " + program.missing());
    ContainerSpec spec = program.in(ContainerSpec.counter(lab.gpus()), lab.folder());
    List<String> before;
    Path artifact;
    try (GpuContainer source = GpuContainer.start(spec)) {
      program.network(source, 5);
      program.awaitProgress(source, 10);
      Inspected inspected = lab.engine().checkpoint().inspect(Asked.of(lab, source).request());
      List<FailedRequirement> explained = inspected.unmet();
      assertThat(explained.stream().map(FailedRequirement::property).distinct())
          .containsExactlyElementsOf(
              program.refused().map(Requirement::property).stream().toList());
      assertThat(inspected.notPortable()).isEmpty();
      CheckpointOutcome inPlace = lab.checkpoint(Asked.of(lab, source));
      program.awaitProgress(source, 10);
      source.verify(MIB);
      if (!explained.isEmpty()) {
        assertThat(inPlace)
            .isInstanceOfSatisfying(
                CheckpointOutcome.Refused.class,
                refused -> assertThat(refused.unmet()).isEqualTo(explained));
        return;
      }
      assertThat(inPlace)
          .isInstanceOfSatisfying(
              CheckpointOutcome.Published.class,
              published -> {
                long bytes = published.artifact().manifest().sizes().bytes();
                assertThat(bytes)
                    .isBetween(inspected.expectedBytes() / 10, inspected.expectedBytes());
              });
      artifact = evict(source);
      before = new ArrayList<>(source.lines());
    }
    for (int generation = 1; generation <= times; generation++) {
      try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
        program.network(target, 5 + generation);
        assertThat(lab.restore(artifact, target)).isInstanceOf(RestoreOutcome.Proven.class);
        program.awaitProgress(target, 10);
        target.verify(MIB, before);
        if (generation < times) {
          artifact = evict(target);
          before.addAll(target.lines());
        }
      }
    }
    lab.assertNothingLeft();
  }

  private static Path evict(GpuContainer container) throws Exception {
    CheckpointOutcome outcome = lab.checkpoint(Asked.of(lab, container).after(After.EVICT));
    assertThat(outcome).isInstanceOf(CheckpointOutcome.Held.class);
    assertThat(lab.engine().evicted().end(container.id())).isInstanceOf(ThawOutcome.Ended.class);
    return ((CheckpointOutcome.Held) outcome).artifact().path();
  }
}
