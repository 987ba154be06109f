package dev.stasis.agent.daemon.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1alpha1.GpuNodeOperation;
import dev.stasis.api.v1alpha1.common.Truth;
import dev.stasis.api.v1alpha1.operation.FreezeOrder;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationStatus;
import dev.stasis.api.v1alpha1.operation.OperationPhase;
import dev.stasis.api.v1alpha1.operation.OperationType;
import dev.stasis.api.v1alpha1.operation.Outcome;
import dev.stasis.api.v1alpha1.operation.WorkloadState;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
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
  private final OperationJournal journal;
  private final Desk desk;

  @SuppressWarnings("NullAway.Init")
  private Assignment assignment;

  StatusWriterTest(@TempDir Path folder) {
    operations = new Interrupted(new FileCluster(folder.resolve("cluster")));
    writer =
        new StatusWriter(
            operations,
            AgentLab.BRIEF,
            (said, status) -> heard.add(Objects.requireNonNull(status.getWorkload())));
    journal = new OperationJournal(folder.resolve("state"));
    desk = new Desk(journal, writer, () -> {});
  }

  /** Something happens after a write was taken and before its writer hears of it. */
  private static final class Interrupted implements Operations {
    private final FileCluster cluster;
    private final Deque<Runnable> meanwhile = new ArrayDeque<>();

    Interrupted(FileCluster cluster) {
      this.cluster = cluster;
    }

    @Override
    public List<GpuNodeOperation> all() throws ApiUnreachable {
      return cluster.all();
    }

    @Override
    public Optional<GpuNodeOperation> find(String name) throws ApiUnreachable {
      return cluster.find(name);
    }

    @Override
    public Written writeStatus(GpuNodeOperation operation) {
      Written written = cluster.writeStatus(operation);
      Optional.ofNullable(meanwhile.poll()).ifPresent(Runnable::run);
      return written;
    }

    @Override
    public AutoCloseable watch(Watcher watcher) {
      return cluster.watch(watcher);
    }
  }

  @BeforeEach
  void claimed() {
    assignment = claim();
  }

  private Assignment claim() {
    GpuNodeOperation operation = Orders.ofSomebody().delete();
    operation.getSpec().setType(OperationType.CHECKPOINT);
    operation.getSpec().setFreeze(new FreezeOrder());
    operations.cluster.create(operation);
    JournalEntry entry =
        new JournalEntry(
            JournalEntry.FORMAT,
            "boot",
            operation.getMetadata().getName(),
            operation.getMetadata().getUid(),
            Instant.EPOCH,
            Instant.EPOCH,
            operation.getSpec(),
            JournalEntry.Stage.BEGUN,
            null);
    return new Assignment(Clock.systemUTC(), entry, new GpuNodeOperationStatus());
  }

  @AfterEach
  void close() throws InterruptedException {
    writer.close();
  }

  private static Ending left(WorkloadState workload, Truth running) {
    return new Ending(
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
        assignment.name(), status -> status.getWorkload() == WorkloadState.RUNNING);
  }

  @Test
  void aCorrectionThatComesWhileTheEndIsBeingWrittenIsNotLost() throws InterruptedException {
    operations.meanwhile.add(
        () -> desk.correct(assignment, left(WorkloadState.RUNNING, Truth.TRUE)));
    desk.end(assignment, left(WorkloadState.FROZEN, Truth.FALSE));

    assertThat(awaitRunning().getSourceRunning()).isEqualTo(Truth.TRUE);
    writer.close();
    assertThat(heard).containsExactly(WorkloadState.FROZEN, WorkloadState.RUNNING);
  }

  @Test
  void progressIsWrittenOncePerIntervalAndWhatOthersWaitForAtOnce() throws Exception {
    Intervals usual = AgentLab.BRIEF;
    Intervals rare =
        new Intervals(
            usual.thaw(), usual.statusWrite(), Duration.ofHours(1), usual.room(), usual.roomPoll());
    StatusWriter seldom = new StatusWriter(operations, rare, (said, status) -> {});
    Desk watched = new Desk(journal, seldom, () -> {});

    watched.mention(assignment, status -> status.setDoneBytes(1L));
    operations.cluster.await(assignment.name(), status -> written(status) == 1);
    watched.mention(assignment, status -> status.setDoneBytes(2L));
    // Its one thread writes in order: what was due before this is written before it.
    Assignment other = claim();
    watched.say(other, status -> status.setDoneBytes(9L));
    operations.cluster.await(other.name(), status -> written(status) == 9);
    assertThat(written(operations.cluster.status(assignment.name()))).isEqualTo(1);
    watched.mention(assignment, status -> status.setDoneBytes(3L));
    watched.say(assignment, status -> status.setMessage("others wait for this"));

    operations.cluster.await(assignment.name(), status -> written(status) == 3);
    // It is not closed: it would wait for the hour. Its thread is a daemon.
    assertThat(operations.cluster.history(assignment.name()))
        .extracting(StatusWriterTest::written)
        .containsExactly(1L, 3L);
  }

  private static long written(GpuNodeOperationStatus status) {
    return Objects.requireNonNullElse(status.getDoneBytes(), 0L);
  }

  @Test
  void whatIsSaidTwiceIsWrittenOnceAndItsEndIsHeardOf() throws InterruptedException {
    operations.meanwhile.add(() -> desk.sayAgain(assignment));
    desk.end(assignment, left(WorkloadState.FROZEN, Truth.FALSE));

    operations.cluster.awaitEnd(assignment.name());
    writer.close();
    assertThat(operations.cluster.history(assignment.name())).hasSize(1);
    assertThat(heard).containsExactly(WorkloadState.FROZEN, WorkloadState.FROZEN);
  }
}
