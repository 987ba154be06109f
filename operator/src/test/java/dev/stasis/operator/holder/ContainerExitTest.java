package dev.stasis.operator.holder;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ContainerStateBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ContainerExitTest {

  private final ContainerExit exit = new ContainerExit();

  @Test
  void theExitCodeAndTheSignalAreReported() {
    assertThat(exit.read(ended(1, "Error", null), "main"))
        .contains("container main exited with code 1");
    assertThat(exit.read(ended(139, "Error", null), "main"))
        .contains("container main exited with code 139 (signal 11)");
    assertThat(exit.read(ended(137, "OOMKilled", null), "main"))
        .contains("container main exited with code 137 (signal 9), OOMKilled");
  }

  @Test
  void aKillByTheAgentIsNotAttributedToTheWorkload() {
    assertThat(exit.read(ended(137, "Error", null), "main")).isEmpty();
  }

  @Test
  void aHolderThatWasRestartedDoesNotHideTheWorkload() {
    Pod pod = ended(78, "Error", null);
    assertThat(exit.read(pod, "main")).isEmpty();
    pod.getStatus()
        .getContainerStatuses()
        .get(0)
        .setLastState(
            new ContainerStateBuilder()
                .withNewTerminated()
                .withExitCode(3)
                .endTerminated()
                .build());
    assertThat(exit.read(pod, "main")).contains("container main exited with code 3");
  }

  @Test
  void theLastLineOfAHostileMessageIsPrintableAndShort() {
    assertThat(exit.read(ended(1, "Error", "loss 0.1\n\u001b[31mno room\u202e\u0007\n\n"), "main"))
        .contains("container main exited with code 1: [31mno room");
    assertThat(exit.read(ended(1, "Error", "x".repeat(100_000)), "main").orElseThrow())
        .hasSizeLessThan(260)
        .endsWith("x...");
    assertThat(exit.read(ended(1, "Error", "\ud800\ufeff"), "main"))
        .contains("container main exited with code 1");
  }

  @Test
  void aContainerThatRunsHasNotExited() {
    Pod pod = ended(1, "Error", null);
    pod.getStatus().getContainerStatuses().get(0).setState(null);
    assertThat(exit.read(pod, "main")).isEmpty();
    assertThat(exit.read(ended(1, "Error", null), "other")).isEmpty();
  }

  private static Pod ended(int code, String reason, @Nullable String message) {
    return new PodBuilder()
        .withNewStatus()
        .addNewContainerStatus()
        .withName("main")
        .withNewState()
        .withNewTerminated()
        .withExitCode(code)
        .withReason(reason)
        .withMessage(message)
        .endTerminated()
        .endState()
        .endContainerStatus()
        .endStatus()
        .build();
  }
}
