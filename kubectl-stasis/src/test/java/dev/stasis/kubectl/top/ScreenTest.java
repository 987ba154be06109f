package dev.stasis.kubectl.top;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.kubectl.Objects;
import dev.stasis.kubectl.cluster.Resource;
import java.util.List;
import org.junit.jupiter.api.Test;

class ScreenTest {

  private static Resource request(String name, String status) {
    return Objects.of(
        """
        kind: GpuCheckpoint
        metadata: {name: %s, namespace: ml, creationTimestamp: "2026-11-21T10:09:00Z"}
        spec: {podRef: {name: trainer}}
        status: %s
        """
            .formatted(name, status));
  }

  private static final Picture PICTURE =
      new Picture(
          List.of(Objects.node()),
          List.of(
              Objects.checkpoint(),
              request("b", "{phase: Saving, doneBytes: 1, totalBytes: 2}"),
              request("c", "{phase: Pending, reason: NodeBusy, message: 8 in the making}"),
              request("d", "{phase: Failed, faults: [{reason: NoRoom, message: m}]}")),
          Objects.NOW);

  @Test
  void everythingThatGoesOnIsOnOneScreen() {
    assertThat(String.join("\n", new Screen(PICTURE, 1).lines(0)))
        .isEqualTo(
            """
            stasis   nodes 1   gpus 2   frozen 0   in progress 1   waiting 1

            NODE     GPUS              DRIVER       CRIU    KERNEL   FROZEN   HEARD   STATE
            gpu-17   2 x NVIDIA H200   580.159.04   4.2.1   6.18.5            30s     Ready

            IN PROGRESS
              ml  gckpt/b  Saving  [############............] 50%  60s

            WAITING
            > ml  gckpt/c  60s  NodeBusy: 8 in the making

            LAST FAILURES
              ml  gckpt/d  Failed 60s ago  NoRoom: m""");
  }

  @Test
  void aNarrowTerminalCutsLines() {
    assertThat(new Screen(PICTURE, -1).lines(20))
        .allSatisfy(it -> assertThat(it.length()).isLessThanOrEqualTo(20));
  }

  @Test
  void choicesStandInTheOrderOfTheScreen() {
    assertThat(PICTURE.choices(5)).extracting(Resource::name).containsExactly("b", "c", "d");
  }
}
