package dev.stasis.operator.schedule;

import dev.stasis.api.v1alpha1.GpuCheckpointSchedule;
import dev.stasis.api.v1alpha1.schedule.AutomaticRestore;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Optional;

/** Makes and removes objects for a schedule. Each can be done again without harm. */
interface Deeds {

  /** Takes a checkpoint. */
  void begin(GpuCheckpointSchedule schedule, Runs.Begin run);

  /** Gives up one that is at work: the workload goes on. */
  void cancel(Taken taken);

  /** Deletes one, and its artifact with it. */
  void delete(Taken taken);

  /** Brings a pod back under its name. */
  void restore(GpuCheckpointSchedule schedule, AutomaticRestore back);

  /**
   * Makes sure that the pod that its controller makes next is the target, and none counts as
   * failed.
   *
   * @return what is still to be waited for; empty: it may be removed
   */
  Optional<String> depart(Pod pod);

  /**
   * Removes a pod that failed; another one of its name stays.
   *
   * @param force whether nobody waits for its kubelet
   */
  void remove(Pod pod, boolean force);
}
