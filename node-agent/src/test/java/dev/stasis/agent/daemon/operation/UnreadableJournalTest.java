package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.stasis.agent.engine.NodeEngine;
import dev.stasis.agent.engine.SourceState;
import dev.stasis.agent.engine.StepListener;
import dev.stasis.agent.engine.ThawOutcome;
import dev.stasis.agent.engine.Work;
import dev.stasis.api.v1beta1.operation.Afterwards;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A journal that cannot be read is one workload in state Unknown, never a node that thaws nothing.
 */
class UnreadableJournalTest {

  @RegisterExtension static final WorkloadLab workload = new WorkloadLab();

  private final Orders orders = Orders.ofSomebody();

  private String checkpoint() {
    return workload
        .lab()
        .cluster()
        .create(orders.checkpoint(workload.source(), how -> {}))
        .getMetadata()
        .getName();
  }

  /** A journal is about one workload: whatever is wrong with it, the others are thawed. */
  @Test
  void aJournalThatCannotBeReadKeepsNoOtherWorkloadFrozen() throws Exception {
    String name = checkpoint();
    DaemonChild.dies(workload.lab(), "AFTER", "gpu-checkpoint");
    Path unreadable = unreadable("of-another");
    workload.lab().start();
    assertThat(workload.lab().cluster().awaitEnd(name).getOutcome()).isEqualTo(Outcome.UNDONE);
    assertThat(workload.inHand())
        .extracting(Work::containerId, Work::phase)
        .containsExactly(tuple("of-another", Work.Phase.UNKNOWN));
    workload.lab().stop();
    forget(unreadable);
  }

  @Test
  void aWorkloadWhoseJournalCannotBeReadIsUnknownAndLeftAsItIs() throws Exception {
    Path unreadable = unreadable(workload.source().container().id());
    NodeEngine engine = workload.lab().engine().engine();
    assertThat(engine.look().at(workload.source().container().id()).state().kind())
        .isEqualTo(SourceState.Kind.UNKNOWN);
    assertThat(engine.thaw().run(workload.source().container().id(), StepListener.NONE))
        .isInstanceOfSatisfying(
            ThawOutcome.Ended.class,
            ended -> assertThat(ended.state().kind()).isEqualTo(SourceState.Kind.UNKNOWN));
    workload.lab().start();
    GpuNodeOperationStatus status = workload.lab().cluster().awaitEnd(checkpoint());
    assertThat(status.getOutcome()).as(status.getMessage()).isEqualTo(Outcome.REFUSED);
    workload.lab().stop();
    forget(unreadable);
  }

  /** The copy may run by now: the loss of the operation, even from the journal, is no decision. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aWorkloadOfWhichACopyMayRunStaysHeldWithoutItsOperation(boolean forgotten) throws Exception {
    String name =
        workload
            .lab()
            .cluster()
            .create(
                orders.checkpoint(
                    workload.source(),
                    how -> {
                      how.setAfterwards(Afterwards.HOLD);
                      how.setHeldUntilDecided(true);
                    }))
            .getMetadata()
            .getName();
    DaemonChild.dies(workload.lab(), "AFTER_WRITE", "Held");
    if (forgotten) {
      workload.lab().forgetOperations();
    }
    workload.lab().cluster().remove(name);
    // It reads the frozen work before it takes an order.
    workload.lab().start();
    assertThat(deletion()).isEqualTo(Outcome.REFUSED);
    NodeEngine engine = workload.lab().engine().engine();
    assertThat(engine.thaw().inHand()).extracting(Work::phase).containsExactly(Work.Phase.HELD);
    assertThat(engine.thaw().run(workload.source().container().id(), StepListener.NONE))
        .isInstanceOf(ThawOutcome.Ended.class);
    assertThat(deletion()).isEqualTo(Outcome.DONE);
    workload.lab().stop();
  }

  private Outcome deletion() {
    String name = workload.lab().cluster().create(orders.delete()).getMetadata().getName();
    return Objects.requireNonNull(workload.lab().cluster().awaitEnd(name).getOutcome());
  }

  private static Path unreadable(String container) throws IOException {
    Path folder =
        Files.createDirectories(workload.lab().engine().state().resolve("work").resolve(container));
    return Files.writeString(folder.resolve("work.json"), "{");
  }

  private static void forget(Path journal) throws IOException {
    Files.delete(journal);
    Files.delete(Objects.requireNonNull(journal.getParent()));
  }
}
