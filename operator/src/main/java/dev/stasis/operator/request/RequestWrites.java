package dev.stasis.operator.request;

import dev.stasis.api.v1beta1.GpuCheckpoint;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Optional;

/**
 * The writes by which schedules and preemption policies carry out decisions. Each is idempotent.
 */
public interface RequestWrites {

  /**
   * Creates an object unless it exists: its name is derived from the decision to create it.
   *
   * @return why the API server refuses it, for example because of a quota; empty if it exists now
   */
  Optional<String> create(HasMetadata request);

  /** Cancels a checkpoint: a workload that is frozen for it resumes. */
  void cancel(GpuCheckpoint checkpoint);

  /** Deletes an object. */
  void delete(HasMetadata request);

  /**
   * Deletes an object unless it was changed after it was read.
   *
   * @return whether it was deleted
   */
  boolean deleteUnchanged(HasMetadata request);

  /**
   * Deletes this pod, but no other pod of its name.
   *
   * @param force whether to delete it without waiting for its kubelet
   */
  void deletePod(Pod pod, boolean force);

  /**
   * Reserves a node for a pending pod.
   *
   * @return false if the pod was bound to a node, or is gone
   */
  boolean nominate(Pod pod, String node);
}
