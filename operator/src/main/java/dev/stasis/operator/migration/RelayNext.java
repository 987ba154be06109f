package dev.stasis.operator.migration;

import dev.stasis.api.v1alpha1.GpuCheckpoint;
import dev.stasis.api.v1alpha1.GpuRestore;
import dev.stasis.api.v1alpha1.common.Fault;
import dev.stasis.operator.status.Reason;
import java.util.List;

/** What is to be done next with SourceFirst. Each deed can be done again without harm. */
sealed interface RelayNext {

  /** Nothing, until something changes. */
  record Follow(Reason reason, String sentence) implements RelayNext {}

  /** The GpuCheckpoint is cancelled: the source goes on, unless it is gone by then. */
  record Stop(GpuCheckpoint checkpoint, Fault why) implements RelayNext {}

  /** The source goes on. */
  record RollBack(List<Fault> faults) implements RelayNext {
    public RollBack {
      faults = List.copyOf(faults);
    }
  }

  /** The source is gone, its artifact safe: it is written down that there is no way back. */
  record Commit() implements RelayNext {}

  /**
   * A GpuRestore is made.
   *
   * @param number which one: the first where its user wants it, the second anywhere
   * @param before why the one before came to nothing
   */
  record BringBack(GpuCheckpoint from, int number, List<Fault> before) implements RelayNext {
    public BringBack {
      before = List.copyOf(before);
    }
  }

  /** A GpuRestore is cancelled that finds no place where its user wants it. */
  record GiveUp(GpuRestore restore, String sentence) implements RelayNext {}

  /** The target is proven. */
  record Arrive(GpuRestore restore) implements RelayNext {}

  /** It is over, and the workload runs nowhere; the artifact stays. */
  record End(Reason reason, String sentence) implements RelayNext {}
}
