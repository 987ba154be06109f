package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.agent.testing.GpuContainer;
import dev.stasis.agent.testing.Sh;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * What a workload finds where it comes back: its files, its listener, another GPU, itself again.
 */
class ElsewhereTest {

  private static final int MIB = 8;

  @SuppressWarnings("NullAway.Init")
  private static EngineLab lab;

  @BeforeAll
  static void makeLab() {
    lab = new EngineLab(2, 96);
  }

  @AfterAll
  static void closeLab() {
    lab.close();
  }

  private static ContainerSpec with(String... more) {
    List<String> arguments = new ArrayList<>(List.of("--mib", "" + MIB, "--interval-ms", "100"));
    arguments.addAll(List.of(more));
    return ContainerSpec.counter(lab.gpus(), arguments.toArray(String[]::new));
  }

  /** Checkpoints a source, ends it, and restores into a container of the other description. */
  private static GpuContainer moved(ContainerSpec from, ContainerSpec to) throws Exception {
    CheckpointOutcome.Published published;
    List<String> before;
    try (GpuContainer source = GpuContainer.start(from)) {
      source.awaitSteps(3);
      published = lab.published(Asked.of(lab, source));
      before = source.lines();
    }
    GpuContainer target = GpuContainer.start(to.asHolder());
    try {
      assertThat(lab.restore(published.artifact().path(), target))
          .isInstanceOf(RestoreOutcome.Proven.class);
      target.awaitSteps(3);
      target.verify(MIB, before);
    } catch (AssertionError | RuntimeException | InterruptedException e) {
      target.close();
      throw e;
    }
    return target;
  }

  @Test
  void fromOneGpuToAnother() throws Exception {
    try (GpuContainer target = moved(with().withGpus(0), with().withGpus(1))) {
      assertThat(target.running()).isTrue();
    }
  }

  @Test
  void aListenerAnswersAgain() throws Exception {
    ContainerSpec spec = with("--listen", "4711");
    try (GpuContainer target = moved(spec, spec)) {
      String answer =
          new Sh()
              .must(
                  "nsenter",
                  "-n",
                  "-t",
                  "" + target.pid(),
                  "bash",
                  "-c",
                  "exec 3<>/dev/tcp/127.0.0.1/4711 && head -1 <&3");
      assertThat(answer).isNotBlank();
    }
  }

  @Test
  void theSecondGenerationComesBackToo() throws Exception {
    ContainerSpec spec = with("--threads", "1", "--file", "/data/log");
    try (GpuContainer second = moved(spec, spec)) {
      CheckpointOutcome.Published again = lab.published(Asked.of(lab, second));
      second.awaitSteps(3);
      try (GpuContainer third = GpuContainer.start(spec.asHolder())) {
        assertThat(lab.restore(again.artifact().path(), third))
            .isInstanceOf(RestoreOutcome.Proven.class);
        third.awaitSteps(3);
        third.verify(MIB, logged(second));
      }
    }
    lab.assertNothingLeft();
  }

  /** All steps of the first process since its first one, from the log in its writable layer. */
  private static List<String> logged(GpuContainer container) throws IOException {
    return Files.readAllLines(container.upper().resolve("data/log"));
  }
}
