package dev.stasis.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.agent.cuda.GpuUuid;
import dev.stasis.agent.testing.GpuContainer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A keeper that no operation has ended: its agent died, or could not reach it. */
class KeeperSweepTest {

  @SuppressWarnings("NullAway.Init")
  private EngineLab lab;

  @SuppressWarnings("NullAway.Init")
  private DirectLab direct;

  @SuppressWarnings("NullAway.Init")
  private GpuContainer workload;

  @BeforeEach
  void leaveAKeeper() throws Exception {
    lab = new EngineLab(1, 96);
    direct = new DirectLab(lab);
    workload = GpuContainer.start(direct.counter());
    workload.awaitSteps(2);
    lab.parts().keepers().prepare(workload.id(), List.of(GpuUuid.parse(lab.uuid(0))));
  }

  @AfterEach
  void end() throws InterruptedException {
    workload.close();
    lab.engine().endAbandonedKeepers();
    lab.close();
  }

  @Test
  void theKeeperOfAContainerThatHasEndedEnds() throws Exception {
    workload.end();

    lab.engine().endAbandonedKeepers();

    assertThat(direct.keepers("serve")).isEmpty();
    try (Stream<Path> left = Files.list(lab.state())) {
      assertThat(left.map(file -> file.getFileName().toString()))
          .noneMatch(name -> name.startsWith("k-"));
    }
  }

  @Test
  void theKeeperOfARunningContainerStays() throws Exception {
    lab.engine().endAbandonedKeepers();

    assertThat(direct.keepers("serve")).hasSize(1);
  }

  /** It may have the only copy of what an artifact still lacks. */
  @Test
  void aKeeperThatARecordedOperationNeedsStays() throws Exception {
    lab.parts().journal().write(Work.unknown(workload.id(), "an operation", Instant.EPOCH));
    workload.end();

    lab.engine().endAbandonedKeepers();

    assertThat(direct.keepers("serve")).hasSize(1);
    lab.parts().journal().remove(workload.id());
  }
}
