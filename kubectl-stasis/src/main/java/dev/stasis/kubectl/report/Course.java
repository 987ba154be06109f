package dev.stasis.kubectl.report;

import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Resource;
import java.util.List;
import java.util.Set;

/** The progress of a GpuCheckpoint, GpuRestore or GpuMigration. */
public final class Course {

  private static final Set<String> UNDONE = Set.of("Cancelled", "RolledBack");
  private static final Set<String> BAD = Set.of("Failed", "Cancelled", "RolledBack");
  private static final Set<String> GOOD =
      Set.of("Ready", "Suspended", "Explained", "Succeeded", "ColdStarted");

  private final Resource object;

  /** Returns the progress of an object. */
  public Course(Resource object) {
    this.object = object;
  }

  /** Returns its phase; Pending until the operator has processed it. */
  public String phase() {
    String phase = object.text("status.phase");
    return phase.isEmpty() ? "Pending" : phase;
  }

  /** Returns whether it is finished for now: it succeeded, or will not succeed. */
  public boolean isOver() {
    return isDone() || isBad();
  }

  /** Returns whether it reached the requested state. */
  public boolean isDone() {
    if (isSuspend()) {
      return object.text("spec.desiredState").equals("Running")
          ? isResumed() && !phase().equals("Resuming") && !isLost()
          : phase().equals("Suspended");
    }
    if (object.text("spec.afterCheckpoint").equals("Evict") && phase().equals("Ready")) {
      // Ready comes before the pod is gone.
      return object.condition("SourceRunning").text("status").equals("False");
    }
    return GOOD.contains(phase());
  }

  /** Returns whether it can never reach the requested state. */
  public boolean isBad() {
    return BAD.contains(phase())
        || (isSuspend() && object.text("spec.desiredState").equals("Running") && isLost());
  }

  /** Returns whether it was cancelled or rolled back, and its workload runs as before. */
  public boolean isUndone() {
    return UNDONE.contains(phase());
  }

  private boolean isResumed() {
    return object.condition("Suspended").text("status").equals("False");
  }

  /** Returns whether a workload that was suspended has ended. */
  private boolean isLost() {
    return isResumed() && object.condition("SourceRunning").text("status").equals("False");
  }

  private boolean isSuspend() {
    return object.kind().equals(Kind.CHECKPOINT.value())
        && object.text("spec.afterCheckpoint").equals("Suspend")
        && !object.isTrue("spec.options.dryRun");
  }

  /** Returns what prevents it, one sentence each; the message if there is nothing else. */
  public List<String> reasons() {
    List<String> faults =
        object.list("status.faults").stream().map(Course::sentence).distinct().toList();
    if (!faults.isEmpty()) {
      return faults;
    }
    String message = object.text("status.message");
    return message.isEmpty() ? List.of() : List.of(message);
  }

  /** Formats a fault as one sentence, with the driver's error. */
  static String sentence(Resource fault) {
    String driver = fault.text("driverError");
    String message = fault.text("message");
    return fault.text("reason")
        + ": "
        + message
        + (driver.isEmpty() || message.contains(driver) ? "" : " (" + driver + ")");
  }
}
