package dev.stasis.operator.workflow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stasis.api.v1beta1.GpuRestore;
import dev.stasis.api.v1beta1.common.Fault;
import dev.stasis.api.v1beta1.common.PhaseTime;
import dev.stasis.api.v1beta1.restore.GpuRestoreStatus;
import dev.stasis.api.v1beta1.restore.RestorePhase;
import dev.stasis.operator.status.Backoff;
import dev.stasis.operator.status.Reason;
import dev.stasis.operator.testing.TestConfig;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class WorkflowRunnerTest {

  private static final Instant NOW = Instant.parse("2026-11-21T10:00:00Z");
  private static final Progress DONE = new Progress.Done();
  private static final Progress WAITING = new Progress.Waiting(Reason.WAITING, "for a change");

  private final List<String> log = new ArrayList<>();
  private final FakeStep first = new FakeStep("first");
  private final FakeStep second = new FakeStep("second");
  private final GpuRestore request = new GpuRestore();
  private final TestConfig config = TestConfig.usual();
  private Optional<Fault> stop = Optional.empty();
  private Optional<Duration> maintained = Optional.empty();
  private RestorePhase phase = RestorePhase.STARTING;
  private boolean isRemovedAtOnce = true;
  private boolean isUndoneWhenFinal;
  private boolean cancelled;
  private Instant entered = NOW;

  @Test
  void theFirstStepThatIsNotCompleteRuns() {
    first.progress = DONE;

    assertThat(advance()).hasValueSatisfying(it -> assertThat(it).isLessThan(ofSeconds(1)));

    assertThat(log).containsExactly("run second");
  }

  @Test
  void aStepThatWaitsIsReportedAndPolled() {
    first.progress = WAITING;

    assertThat(advance()).contains(config.lookAgainEvery());

    assertThat(log).containsExactly("waits Restoring for a change");
  }

  @Test
  void aRefusedStepIsRetriedAfterDoublingWaits() {
    first.result = WAITING;
    assertThat(advance()).contains(config.lookAgainEvery());

    entered = NOW.minusSeconds(60);
    assertThat(advance()).contains(ofSeconds(60));
    entered = NOW.minus(Duration.ofDays(1));
    assertThat(advance()).contains(Backoff.PATIENT);
  }

  @Test
  void aStepThatFailsIsRecordedBeforeAnythingIsUndone() {
    first.progress = new Progress.Failed(Fault.misfit("Broken", "a", "b", "c"));

    advance();

    assertThat(log).containsExactly("fails Broken");
  }

  @Test
  void stepsAreUndoneInReverseOrderAndOnlyOnceTheLaterOneIs() {
    cancelled = true;
    first.undo = first.undone();
    second.undo = second.undone();
    assertThat(advance()).contains(config.progressEvery());
    second.undo = WAITING;
    advance();
    second.undo = DONE;
    advance();
    first.undo = DONE;
    advance();

    assertThat(log)
        .containsExactly("undo second", "waits Starting for a change", "undo first", "undone");
  }

  @Test
  void aRequestIsRemovedOnlyOnceEverythingIsUndone() {
    cancelled = true;
    first.undo = WAITING;
    assertThat(runner().isRemovable(new FakeContext())).isFalse();

    first.undo = DONE;
    assertThat(runner().isRemovable(new FakeContext())).isTrue();
  }

  @Test
  void aDeadlineThatIsOverFailsTheStepThatWaitsAndStopsNoUndo() {
    first.progress = WAITING;
    stop = Optional.of(Fault.misfit("Late", "a", "b", "c"));
    advance();

    cancelled = true;
    first.undo = WAITING;
    advance();

    assertThat(log).containsExactly("fails Late", "waits Starting for a change");
  }

  @Test
  void aLostWorkloadEndsTheRequestWithoutTheRestOfTheUndo() {
    cancelled = true;
    first.undo = first.undone();
    second.undo = new Progress.Lost(Reason.WORKLOAD_LOST, "it ended");

    advance();

    assertThat(log).containsExactly("loses it ended");
  }

  @Test
  void aRequestWhoseStepsAreAllCompleteEnds() {
    first.progress = DONE;
    second.progress = DONE;

    advance();

    assertThat(log).containsExactly("completed");
  }

  @Test
  void aStepThatReportsItselfDeterminesWhenTheRequestIsObservedAgain() {
    first.result = new Progress.Reported(ofSeconds(7));
    assertThat(advance()).contains(ofSeconds(7));

    cancelled = true;
    second.undo = new Progress.Due(() -> new Progress.Reported(ofSeconds(8)));
    assertThat(advance()).contains(ofSeconds(8));

    assertThat(log).containsExactly("run first");
  }

  @Test
  void workBesideTheStepsIsAwaitedOnlyAsLongAsNecessary() {
    first.progress = WAITING;
    maintained = Optional.of(ofSeconds(3));
    assertThat(advance()).contains(ofSeconds(3));

    maintained = Optional.of(Duration.ofHours(1));
    assertThat(advance()).contains(config.lookAgainEvery());
  }

  @Test
  void aFinishedRequestIsUndoneByItsDeletionOnlyIfItsKindRequiresIt() {
    phase = RestorePhase.FAILED;
    first.undo = first.undone();
    request.getMetadata().setDeletionTimestamp(NOW.toString());
    assertThat(runner().isRemovable(new FakeContext())).isTrue();

    isUndoneWhenFinal = true;
    assertThat(runner().isRemovable(new FakeContext())).isFalse();
    advance();
    assertThat(log).containsExactly("undo first");
  }

  @Test
  void aRequestThatReportsItsEndIsNotRemovedBefore() {
    cancelled = true;
    isRemovedAtOnce = false;

    assertThat(runner().isRemovable(new FakeContext())).isFalse();
  }

  private static Duration ofSeconds(int seconds) {
    return Duration.ofSeconds(seconds);
  }

  private Optional<Duration> advance() {
    return runner().advance(new FakeContext());
  }

  private WorkflowRunner<FakeContext, RestorePhase> runner() {
    return new WorkflowRunner<>(new FakeWorkflow(), config);
  }

  private final class FakeContext implements RequestContext<RestorePhase> {

    @Override
    public GpuRestore object() {
      return request;
    }

    @Override
    public RestorePhase phase() {
      return phase;
    }

    @Override
    public GpuRestoreStatus status() {
      GpuRestoreStatus status = new GpuRestoreStatus();
      status.setPhases(List.of(new PhaseTime<>(RestorePhase.STARTING, entered)));
      return status;
    }

    @Override
    public Instant now() {
      return NOW;
    }

    @Override
    public @Nullable String operationName() {
      return null;
    }

    @Override
    public boolean isCancelRequested() {
      return cancelled;
    }

    @Override
    public boolean hasFailed() {
      return false;
    }
  }

  private final class FakeStep extends Step<FakeContext, RestorePhase> {

    private Progress result = DONE;
    private Progress progress = new Progress.Due(this::run);
    private Progress undo = DONE;

    FakeStep(String name) {
      super(name, List.of(RestorePhase.RESTORING), Timeout.none("A test."));
    }

    @Override
    protected Progress observe(FakeContext context) {
      return progress;
    }

    private Progress run() {
      log.add("run " + name());
      return result;
    }

    private Progress undone() {
      return Progress.Due.of(() -> log.add("undo " + name()));
    }

    @Override
    protected Progress observeUndo(FakeContext context) {
      return undo;
    }
  }

  private final class FakeWorkflow implements Workflow<FakeContext, RestorePhase> {

    @Override
    public List<Step<FakeContext, RestorePhase>> steps() {
      return List.of(first, second);
    }

    @Override
    public void waits(FakeContext context, RestorePhase phase, Progress.Waiting waiting) {
      log.add("waits " + phase + " " + waiting.message());
    }

    @Override
    public void fails(FakeContext context, List<Fault> faults) {
      log.add("fails " + faults.get(0).reason());
    }

    @Override
    public Optional<Fault> stop(FakeContext context) {
      return stop;
    }

    @Override
    public void loses(FakeContext context, Progress.Lost lost) {
      log.add("loses " + lost.message());
    }

    @Override
    public Progress completed(FakeContext context) {
      log.add("completed");
      return DONE;
    }

    @Override
    public boolean isUndoneWhenFinal() {
      return isUndoneWhenFinal;
    }

    @Override
    public Optional<Duration> maintain(FakeContext context) {
      return maintained;
    }

    @Override
    public boolean isRemovedAtOnce() {
      return isRemovedAtOnce;
    }

    @Override
    public Progress undone(FakeContext context) {
      log.add("undone");
      return DONE;
    }

    @Override
    public Optional<Duration> rest(FakeContext context) {
      return Optional.empty();
    }

    @Override
    public boolean release(FakeContext context) {
      return true;
    }
  }
}
