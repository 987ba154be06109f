package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.engine.CheckpointRequest.DataPathChoice;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every kind of workload is frozen, goes on in place with right numbers, and comes back in another
 * container at the step after its last one.
 */
class RoundTripTest {

  private static final int MIB = 16;

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @BeforeAll
  static void makeLab() {
    lab = new EngineLab(2, 192);
  }

  @AfterAll
  static void closeLab() {
    lab.close();
  }

  static Stream<Arguments> workloads() {
    return Stream.of(
        Arguments.of("one process, by the mover", root(), DataPathChoice.MOVER, "mover"),
        Arguments.of("one process, by criu", root(), DataPathChoice.CRIU, "criu: asked for"),
        Arguments.of("uid 1000 without capabilities", root().asUser(1000), MOVER, "mover"),
        Arguments.of("two CUDA processes", with("--fork", "1"), MOVER, "mover"),
        Arguments.of(
            "threads, files, connections, shared memory",
            with(
                "--threads",
                "3",
                "--file",
                "/data/log",
                "--deleted-file",
                "--loader",
                "--loopback",
                "--shm"),
            MOVER,
            "mover"),
        Arguments.of("memory written all the time", with("--busy-writer"), MOVER, ""),
        Arguments.of("mmap, fork and signals all the time", with("--churn"), MOVER, ""),
        Arguments.of("two GPUs", with("--device", "1").withGpus(0, 1), MOVER, "mover"));
  }

  /** Each alone: which one a failure of all of them is about. */
  static Stream<Arguments> single() {
    return Stream.of(
        Arguments.of("threads", with("--threads", "3"), MOVER, "mover"),
        Arguments.of("a log that is appended to", with("--file", "/data/log"), MOVER, "mover"),
        Arguments.of("a deleted file", with("--deleted-file"), MOVER, "mover"),
        Arguments.of("a data loader", with("--loader"), MOVER, "mover"),
        Arguments.of("a connection with itself", with("--loopback"), MOVER, "mover"),
        Arguments.of("shared memory", with("--shm"), MOVER, "mover"));
  }

  private static final DataPathChoice MOVER = DataPathChoice.MOVER;

  private static ContainerSpec root() {
    return with();
  }

  private static ContainerSpec with(String... more) {
    List<String> arguments =
        new java.util.ArrayList<>(List.of("--mib", Integer.toString(MIB), "--interval-ms", "100"));
    arguments.addAll(List.of(more));
    return ContainerSpec.counter(lab.gpus(), arguments.toArray(String[]::new));
  }

  @Tag("long")
  @ParameterizedTest(name = "{0}")
  @MethodSource("single")
  void aWorkloadWithOneOfThemIsRestoredElsewhere(
      String what, ContainerSpec spec, DataPathChoice path, String taken) throws Exception {
    aWorkloadResumesInPlaceAndIsRestoredElsewhere(what, spec, path, taken);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("workloads")
  void aWorkloadResumesInPlaceAndIsRestoredElsewhere(
      String what, ContainerSpec spec, DataPathChoice path, String taken) throws Exception {
    CheckpointOutcome.Published published;
    List<String> before;
    try (GpuContainer source = GpuContainer.start(spec)) {
      source.awaitSteps(3);
      published = lab.published(Asked.of(lab, source).by(path));
      source.awaitSteps(5);
      source.verify(MIB);
      assertThat(source.namesBelowUpper()).noneMatch(name -> name.startsWith("link_remap"));
      before = source.lines();
    }
    lab.assertNothingLeft();
    assertThat(published.figures().path()).as(what).startsWith(taken);
    try (GpuContainer target = GpuContainer.start(spec.asHolder())) {
      RestoreOutcome restored = lab.restore(published.artifact().path(), target);
      assertThat(restored).isInstanceOf(RestoreOutcome.Proven.class);
      target.awaitSteps(5);
      target.verify(MIB, before);
      assertThat(target.running()).isTrue();
    }
    lab.assertNothingLeft();
  }
}
