package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ConditionValue;
import dev.stasis.api.v1beta1.operation.FreezeOrder;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1beta1.operation.OperationPhase;
import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.api.v1beta1.operation.Outcome;
import dev.stasis.api.v1beta1.operation.WorkloadState;
import io.fabric8.kubernetes.api.model.Pod;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is said while the end of an operation is being written is written too, and counts. */
class StatusWriterTest {

  private final List<WorkloadState> heard = new CopyOnWriteArrayList<>();
  private final Interrupted operations;
  private final StatusWriter writer;
  private final OperationRecorder recorder;

  @SuppressWarnings("NullAway.Init")
  private ActiveOperation operation;

  StatusWriterTest(@TempDir Path folder) {
    operations =
        new Interrupted(new FileCluster(folder.resolve("cluster"), folder.resolve("store")));
    writer =
        new StatusWriter(
            operations,
            AgentLab.BRIEF,
            (said, status) -> heard.add(Objects.requireNonNull(status.getWorkload())));
    recorder = new OperationRecorder((uid, description) -> {}, writer, () -> {});
  }

  /** Something happens after a write was taken and before its writer hears of it. */
  private static final class Interrupted implements ClusterApi {
    private final FileCluster cluster;
    private final Deque<Runnable> meanwhile = new ArrayDeque<>();

    Interrupted(FileCluster cluster) {
      this.cluster = cluster;
    }

    @Override
    public List<GpuNodeOperation> operations() throws ApiUnreachable {
      return cluster.operations();
    }

    @Override
    public Optional<GpuNodeOperation> operation(String name) throws ApiUnreachable {
      return cluster.operation(name);
    }

    @Override
    public Written writeStatus(GpuNodeOperation operation) {
      Written written = cluster.writeStatus(operation);
      Optional.ofNullable(meanwhile.poll()).ifPresent(Runnable::run);
      return written;
    }

    @Override
    public Optional<Pod> pod(String namespace, String name) throws ApiUnreachable {
      return cluster.pod(namespace, name);
    }

    @Override
    public StoreRoot store(String name) throws ApiUnreachable {
      return cluster.store(name);
    }

    @Override
    public AutoCloseable watch(Watcher watcher) {
      return cluster.watch(watcher);
    }
  }

  @BeforeEach
  void claimed() {
    operation = claim();
  }

  private ActiveOperation claim() {
    GpuNodeOperation operation = Orders.ofSomebody().delete();
    operation.getSpec().setType(OperationType.CHECKPOINT);
    operation.getSpec().setFreeze(new FreezeOrder());
    operations.cluster.create(operation);
    return Orders.active(operation, OperationStage.BEGUN);
  }

  @AfterEach
  void close() throws InterruptedException {
    writer.close();
  }

  private static OperationResult left(WorkloadState workload, ConditionValue running) {
    return new OperationResult(
        OperationPhase.FAILED,
        Outcome.NOT_UNDONE,
        "NotThawed",
        "it stands still",
        List.of(),
        workload,
        running,
        1,
        status -> {});
  }

  private GpuNodeOperationStatus awaitRunning() {
    return operations.cluster.await(
        operation.name(), status -> status.getWorkload() == WorkloadState.RUNNING);
  }

  @Test
  void aCorrectionThatComesWhileTheEndIsBeingWrittenIsNotLost() throws InterruptedException {
    operations.meanwhile.add(
        () -> recorder.correct(operation, left(WorkloadState.RUNNING, ConditionValue.TRUE)));
    recorder.end(operation, left(WorkloadState.FROZEN, ConditionValue.FALSE));

    assertThat(awaitRunning().getSourceRunning()).isEqualTo(ConditionValue.TRUE);
    writer.close();
    assertThat(heard).containsExactly(WorkloadState.FROZEN, WorkloadState.RUNNING);
  }

  @Test
  void progressIsWrittenOncePerIntervalAndWhatOthersWaitForAtOnce() throws Exception {
    Intervals usual = AgentLab.BRIEF;
    Intervals rare =
        new Intervals(
            usual.thaw(),
            usual.statusWrite(),
            Duration.ofHours(1),
            usual.room(),
            usual.roomPoll(),
            usual.leftovers());
    StatusWriter seldom = new StatusWriter(operations, rare, (said, status) -> {});
    OperationRecorder watched = new OperationRecorder((uid, description) -> {}, seldom, () -> {});

    watched.publishProgress(operation, status -> status.setDoneBytes(1L));
    operations.cluster.await(operation.name(), status -> written(status) == 1);
    watched.publishProgress(operation, status -> status.setDoneBytes(2L));
    // Its one thread writes in order: what was due before this is written before it.
    ActiveOperation other = claim();
    watched.publish(other, status -> status.setDoneBytes(9L));
    operations.cluster.await(other.name(), status -> written(status) == 9);
    assertThat(written(operations.cluster.status(operation.name()))).isEqualTo(1);
    watched.publishProgress(operation, status -> status.setDoneBytes(3L));
    watched.publish(operation, status -> status.setMessage("others wait for this"));

    operations.cluster.await(operation.name(), status -> written(status) == 3);
    // It is not closed: it would wait for the hour. Its thread is a daemon.
    assertThat(operations.cluster.history(operation.name()))
        .extracting(StatusWriterTest::written)
        .containsExactly(1L, 3L);
  }

  private static long written(GpuNodeOperationStatus status) {
    return Objects.requireNonNullElse(status.getDoneBytes(), 0L);
  }

  @Test
  void aRepeatedStatusIsWrittenOnceAndItsWriteIsReported() throws InterruptedException {
    operations.meanwhile.add(() -> recorder.republish(operation));
    recorder.end(operation, left(WorkloadState.FROZEN, ConditionValue.FALSE));

    operations.cluster.awaitEnd(operation.name());
    writer.close();
    assertThat(operations.cluster.history(operation.name())).hasSize(1);
    assertThat(heard).containsExactly(WorkloadState.FROZEN, WorkloadState.FROZEN);
  }
}
