package dev.stasis.api.crds;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.common.CommandLine;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Kubernetes: command replaces the entrypoint and the cmd of the image, args its cmd alone. */
class CommandLineTest {

  private static final List<String> NONE = List.of();

  @Test
  void withoutCommandAndArgsTheImageDefinesTheCommandLine() {
    CommandLine line = new CommandLine(NONE, NONE);

    assertThat(line.needsImage()).isTrue();
    assertThat(line.ofImage(List.of("/entry", "cmd"))).containsExactly("/entry", "cmd");
    assertThat(line.unexpanded(List.of("/entry", "cmd"))).containsExactly("/entry", "cmd");
  }

  @Test
  void withArgsOnlyTheEntrypointComesFromTheImage() {
    CommandLine line = new CommandLine(NONE, List.of("--token=$(TOKEN)", "x"));
    List<String> expanded = List.of("/entry", "-v", "--token=s3cret", "x");

    assertThat(line.needsImage()).isTrue();
    assertThat(line.ofImage(expanded)).containsExactly("/entry", "-v");
    assertThat(line.unexpanded(expanded))
        .containsExactly("/entry", "-v", "--token=$(TOKEN)", "x")
        .isEqualTo(line.unexpanded(line.unexpanded(expanded)));
  }

  @Test
  void withACommandNothingComesFromTheImage() {
    CommandLine line = new CommandLine(List.of("train", "$(TOKEN)"), NONE);

    assertThat(line.needsImage()).isFalse();
    assertThat(line.ofImage(List.of("train", "s3cret"))).isEmpty();
    assertThat(line.unexpanded(List.of("train", "s3cret"))).containsExactly("train", "$(TOKEN)");
  }

  @Test
  void withCommandAndArgsBothComeFromThePod() {
    CommandLine line = new CommandLine(List.of("sh", "-c"), List.of("echo $(TOKEN)"));

    assertThat(line.unexpanded(List.of("sh", "-c", "echo s3cret")))
        .containsExactly("sh", "-c", "echo $(TOKEN)");
  }

  @Test
  void moreArgsThanTheRuntimeStartedAreNoError() {
    CommandLine line = new CommandLine(NONE, List.of("a", "b"));

    assertThat(line.ofImage(List.of("a"))).isEmpty();
  }

  @Test
  void aSidecarIsFoundAndAContainerThatIsNotThereHasNone() {
    PodSpec pod =
        new PodSpecBuilder()
            .addNewContainer()
            .withName("main")
            .withArgs("a")
            .endContainer()
            .addNewInitContainer()
            .withName("side")
            .withCommand("b")
            .endInitContainer()
            .build();

    assertThat(CommandLine.of(pod, "main").args()).containsExactly("a");
    assertThat(CommandLine.of(pod, "side").command()).containsExactly("b");
    assertThat(CommandLine.of(pod, "other").needsImage()).isTrue();
    assertThat(CommandLine.of(null, "main").args()).isEmpty();
  }
}
