package dev.stasis.operator.operation;

import dev.stasis.api.v1beta1.GpuNodeOperation;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.common.TimeSpan;
import dev.stasis.api.v1beta1.operation.GpuNodeOperationSpec;

/**
 * Creates and cancels the agents' operations. Every call is idempotent; the {@link
 * dev.stasis.operator.cluster.Cluster} shows the results.
 */
public interface Operations {

  /**
   * The deadline of an operation that resumes or ends a workload, or deletes an artifact. It is
   * also the shortest deadline of an operation that moves a workload after its source was lost.
   * Such an operation must be completed even after the deadline of its request. The longest
   * measured resume took 100 s, for 140 GB on a busy H200.
   */
  TimeSpan WAY_BACK = TimeSpan.of("30m");

  /**
   * An operation that is not created yet.
   *
   * @param requester the object on whose behalf it is executed; its kind determines the prefix of
   *     the name
   * @param number its number among those of the type, from 1
   * @param spec spec with type and node; the requester is added
   */
  GpuNodeOperation draft(ObjectReference requester, int number, GpuNodeOperationSpec spec);

  /** Creates it; has no effect if it exists. */
  void create(GpuNodeOperation operation);

  /** Requests its cancellation: the agent undoes everything. */
  void cancel(GpuNodeOperation operation);

  /** Deletes a finished operation. An unfinished one stays, and the deletion cancels it. */
  void release(GpuNodeOperation operation);

  /**
   * Deletes an operation unless an agent has claimed it; a concurrent claim wins.
   *
   * @return whether it is gone
   */
  boolean withdraw(GpuNodeOperation operation);

  /** Deletes an operation; requests its cancellation if an agent has claimed it. */
  default void withdrawOrCancel(GpuNodeOperation operation) {
    if (!withdraw(operation)) {
      cancel(operation);
    }
  }

  /**
   * Deletes an operation that its agent will not finish: its node is gone, or it has been silent
   * too long.
   */
  void abandon(GpuNodeOperation operation);
}
