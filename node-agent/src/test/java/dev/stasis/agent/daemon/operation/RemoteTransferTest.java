package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.Outcome;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The buffers of transfers share the heap of the agent, so one takes place after another. */
class RemoteTransferTest {

  private final Semaphore turn = new Semaphore(1, true);
  private final LabRemoteStore store;
  private final RemoteTransfer transfer;

  RemoteTransferTest(@TempDir Path folder) {
    store = new LabRemoteStore(folder.resolve("remote"));
    StatusWriter writer =
        new StatusWriter(
            new FileCluster(folder.resolve("cluster"), folder.resolve("store")),
            AgentLab.BRIEF,
            (operation, status) -> {});
    OperationRecorder recorder = new OperationRecorder((uid, description) -> {}, writer, () -> {});
    transfer = new RemoteTransfer(recorder, "upload", turn);
  }

  private static ActiveOperation operation() {
    ActiveOperation operation = Orders.active(Orders.ofSomebody().delete(), OperationStage.CLAIMED);
    operation.enter(OperationPhase.CLAIMED);
    return operation;
  }

  private CompletableFuture<OperationResult> begun(ActiveOperation operation) {
    CompletableFuture<OperationResult> result = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                result.complete(
                    transfer.run(
                        operation,
                        store.place().opener(),
                        (remote, progress) -> OperationResult.done("Uploaded", "")));
              } catch (Exception e) {
                result.completeExceptionally(e);
              }
            });
    thread.setDaemon(true);
    thread.start();
    return result;
  }

  @Test
  void aTransferBeginsWhenTheOneBeforeItHasEnded() throws Exception {
    turn.acquire();
    CompletableFuture<OperationResult> second = begun(operation());
    awaitQueue();
    assertThat(second).isNotDone();

    turn.release();

    assertThat(second.get(30, TimeUnit.SECONDS).outcome()).isEqualTo(Outcome.DONE);
    assertThat(turn.availablePermits()).isOne();
  }

  @Test
  void aTransferThatWaitsForAnotherOneCanBeCancelled() throws Exception {
    turn.acquire();
    ActiveOperation operation = operation();
    CompletableFuture<OperationResult> second = begun(operation);
    awaitQueue();

    operation.cancel("the test");

    assertThatThrownBy(() -> second.get(30, TimeUnit.SECONDS))
        .hasCauseInstanceOf(Job.Stopped.class);
    assertThat(turn.availablePermits()).as("of the one before it").isZero();
  }

  @Test
  void aTransferWhoseStoreIsAwayKeepsNoOtherFromItsTurn() throws Exception {
    store.away(true);
    ActiveOperation operation = operation();
    CompletableFuture<OperationResult> away = begun(operation);
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> operation.status().getReason() != null);

    assertThat(turn.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
    operation.cancel("the test");

    assertThatThrownBy(() -> away.get(30, TimeUnit.SECONDS)).hasCauseInstanceOf(Job.Stopped.class);
  }

  private void awaitQueue() {
    Awaitility.await().atMost(Duration.ofSeconds(30)).until(turn::hasQueuedThreads);
  }
}
