package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.stasis.agent.engine.NodeEngine;
import dev.stasis.agent.engine.SourceState;
import dev.stasis.agent.engine.StepListener;
import dev.stasis.agent.engine.ThawOutcome;
import dev.stasis.agent.engine.Work;
import dev.stasis.agent.testing.ContainerSpec;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A journal that cannot be read is one workload in state Unknown, never a node that thaws nothing.
 */
class UnreadableJournalTest {

  private static final int MIB = 16;

  @SuppressWarnings("NullAway.Init")
  private static AgentLab lab;

  @SuppressWarnings("NullAway.Init")
  private static AgentLab.Placed source;

  private final Orders orders = Orders.ofSomebody();

  @BeforeAll
  static void begin() {
    lab = new AgentLab(1, 128);
    source =
        lab.pod(
            "trainer",
            ContainerSpec.counter(lab.engine().gpus(), "--mib", "" + MIB, "--interval-ms", "20"),
            Map.of());
    source.container().awaitSteps(3);
  }

  @AfterEach
  void theWorkloadRunsAndNothingIsLeft() {
    lab.engine().assertNothingLeft();
    source.container().awaitSteps(3);
    source.container().verify(MIB);
  }

  @AfterAll
  static void end() throws InterruptedException {
    source.close();
    lab.close();
  }

  private String checkpoint() {
    return lab.cluster().create(orders.checkpoint(source, how -> {})).getMetadata().getName();
  }

  /** A journal is about one workload: whatever is wrong with it, the others are thawed. */
  @Test
  void aJournalThatCannotBeReadKeepsNoOtherWorkloadFrozen() throws Exception {
    String name = checkpoint();
    DaemonChild.dies(lab, "AFTER", "gpu-checkpoint");
    Path unreadable = unreadable("of-another");
    lab.start();
    assertThat(lab.cluster().awaitEnd(name).getOutcome()).isEqualTo(Outcome.UNDONE);
    assertThat(lab.engine().engine().thaw().inHand())
        .extracting(Work::containerId, Work::phase)
        .containsExactly(tuple("of-another", Work.Phase.UNKNOWN));
    lab.stop();
    forget(unreadable);
  }

  @Test
  void aWorkloadWhoseJournalCannotBeReadIsUnknownAndLeftAsItIs() throws Exception {
    Path unreadable = unreadable(source.container().id());
    NodeEngine engine = lab.engine().engine();
    assertThat(engine.look().at(source.container().id()).state().kind())
        .isEqualTo(SourceState.Kind.UNKNOWN);
    assertThat(engine.thaw().run(source.container().id(), StepListener.NONE))
        .isInstanceOfSatisfying(
            ThawOutcome.Ended.class,
            ended -> assertThat(ended.state().kind()).isEqualTo(SourceState.Kind.UNKNOWN));
    lab.start();
    GpuNodeOperationStatus status = lab.cluster().awaitEnd(checkpoint());
    assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.REFUSED);
    lab.stop();
    forget(unreadable);
  }

  /** The copy may run by now: the loss of the operation, even from the journal, is no decision. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aWorkloadOfWhichACopyMayRunStaysHeldWithoutItsOperation(boolean forgotten) throws Exception {
    String name =
        lab.cluster()
            .create(
                orders.checkpoint(
                    source,
                    how -> {
                      how.setAfterwards(Afterwards.HOLD);
                      how.setHeldUntilDecided(true);
                    }))
            .getMetadata()
            .getName();
    DaemonChild.dies(lab, "AFTER_WRITE", "Held");
    if (forgotten) {
      lab.forgetOperations();
    }
    lab.cluster().remove(name);
    // It reads the frozen work before it takes an order.
    lab.start();
    assertThat(deletion()).isEqualTo(Outcome.REFUSED);
    NodeEngine engine = lab.engine().engine();
    assertThat(engine.thaw().inHand()).extracting(Work::phase).containsExactly(Work.Phase.HELD);
    assertThat(engine.thaw().run(source.container().id(), StepListener.NONE))
        .isInstanceOf(ThawOutcome.Ended.class);
    assertThat(deletion()).isEqualTo(Outcome.DONE);
    lab.stop();
  }

  private Outcome deletion() {
    String name = lab.cluster().create(orders.delete()).getMetadata().getName();
    return Objects.requireNonNull(lab.cluster().awaitEnd(name).getOutcome());
  }

  private static Path unreadable(String container) throws IOException {
    Path folder = Files.createDirectories(lab.engine().state().resolve("work").resolve(container));
    return Files.writeString(folder.resolve("work.json"), "{");
  }

  private static void forget(Path journal) throws IOException {
    Files.delete(journal);
    Files.delete(Objects.requireNonNull(journal.getParent()));
  }
}
