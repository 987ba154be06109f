package dev.stasis.kubectl.report;

import dev.stasis.kubectl.cluster.Kind;
import dev.stasis.kubectl.cluster.Resource;
import java.util.List;
import java.util.Set;

/** Where a GpuCheckpoint, GpuRestore or GpuMigration is on its way. */
public final class Course {

  private static final Set<String> BAD = Set.of("Failed", "Cancelled", "RolledBack");
  private static final Set<String> GOOD =
      Set.of("Ready", "Suspended", "Explained", "Succeeded", "ColdStarted");

  private final Resource object;

  /** Of one of them. */
  public Course(Resource object) {
    this.object = object;
  }

  /** Its phase; Pending until the operator has seen it. */
  public String phase() {
    String phase = object.text("status.phase");
    return phase.isEmpty() ? "Pending" : phase;
  }

  /** Whether it goes no further, for now: it is done, or it will not be done. */
  public boolean isOver() {
    return isDone() || isBad();
  }

  /** Whether it is what was asked for. */
  public boolean isDone() {
    if (isSuspend()) {
      return object.text("spec.suspend").equals("false")
          ? object.condition("Suspended").text("status").equals("False")
              && !phase().equals("Resuming")
          : phase().equals("Suspended");
    }
    if (object.text("spec.afterCheckpoint").equals("Evict") && phase().equals("Ready")) {
      // Ready comes before the pod is gone.
      return object.condition("SourceRunning").text("status").equals("False");
    }
    return GOOD.contains(phase());
  }

  /** Whether it will never be what was asked for. */
  public boolean isBad() {
    return BAD.contains(phase());
  }

  private boolean isSuspend() {
    return object.kind().equals(Kind.CHECKPOINT.word())
        && object.text("spec.afterCheckpoint").equals("Suspend")
        && !object.isTrue("spec.explainOnly");
  }

  /** What stands against it, a sentence each; the message when nothing else does. */
  public List<String> reasons() {
    List<String> faults =
        object.list("status.faults").stream().map(Course::sentence).distinct().toList();
    if (!faults.isEmpty()) {
      return faults;
    }
    String message = object.text("status.message");
    return message.isEmpty() ? List.of() : List.of(message);
  }

  /** A fault in one sentence, with the driver's own error. */
  static String sentence(Resource fault) {
    String driver = fault.text("driverError");
    String message = fault.text("message");
    return fault.text("reason")
        + ": "
        + message
        + (driver.isEmpty() || message.contains(driver) ? "" : " (" + driver + ")");
  }
}
