package dev.stasis.agent.daemon.operation;

import dev.stasis.agent.engine.StepListener;
import dev.stasis.api.v1alpha1.common.Truth;
import dev.stasis.api.v1alpha1.operation.OperationPhase;
import dev.stasis.api.v1alpha1.operation.WorkloadState;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

/** Hears the engine and passes on what people and the operator want to know. Never blocks. */
final class EngineEar implements StepListener {

  /** Steps that come when the workload runs again. */
  private static final Set<String> RUNNING_AGAIN = Set.of("hash", "publish");

  /** A rate over less time than that jumps. */
  private static final long RATE_NANOS = 1_000_000_000L;

  private final Assignment assignment;
  private final Desk desk;
  private final boolean resumes;
  private final Runnable runsAgain;
  private final LongSupplier nanoTime;
  private final AtomicBoolean ran = new AtomicBoolean();
  private String step = "";
  private long rateSince;
  private long rateDone;

  /**
   * An ear.
   *
   * @param resumes whether the workload goes on before its artifact is published
   * @param runsAgain called once when it goes on
   */
  EngineEar(
      Assignment assignment,
      Desk desk,
      boolean resumes,
      Runnable runsAgain,
      LongSupplier nanoTime) {
    this.assignment = assignment;
    this.desk = desk;
    this.resumes = resumes;
    this.runsAgain = runsAgain;
    this.nanoTime = nanoTime;
  }

  @Override
  public synchronized void progress(String now, long done, long total) {
    long nanos = nanoTime.getAsLong();
    if (!now.equals(step)) {
      step = now;
      rateSince = nanos;
      rateDone = done;
      began(now);
    }
    if (done > rateDone && nanos - rateSince >= RATE_NANOS) {
      long rate = (done - rateDone) * 1_000_000_000L / (nanos - rateSince);
      assignment
          .report()
          .change(
              status -> {
                status.setBytesPerSecond(rate);
                status.setRate(HumanText.size(rate) + "/s");
              });
      rateSince = nanos;
      rateDone = done;
    }
    desk.mention(
        assignment,
        status -> {
          status.setStep(now);
          status.setDoneBytes(total > 0 ? done : null);
          status.setTotalBytes(total > 0 ? total : null);
          status.setProgress(total > 0 ? HumanText.share(done, total) : null);
          if (total <= 0) {
            status.setBytesPerSecond(null);
            status.setRate(null);
          }
        });
  }

  private void began(String now) {
    LogFields.step(now);
    assignment.steps().began(now, assignment.now());
    if (now.equals("lock") && assignment.spec().getFreeze() != null) {
      desk.freezes(
          assignment,
          status -> {
            status.setWorkload(WorkloadState.FROZEN);
            status.setFrozenTime(assignment.now());
            status.setSourceRunning(Truth.FALSE);
          });
    }
    if (resumes && RUNNING_AGAIN.contains(now) && ran.compareAndSet(false, true)) {
      // The engine publishes only after it has seen the workload run.
      desk.say(
          assignment,
          status -> {
            status.setWorkload(WorkloadState.RUNNING);
            status.setSourceRunning(Truth.TRUE);
          });
      runsAgain.run();
    }
  }

  @Override
  public void undoing(String why) {
    assignment.report().change(status -> status.setMessage("undone: " + why));
    desk.enter(assignment, OperationPhase.UNDOING);
  }
}
