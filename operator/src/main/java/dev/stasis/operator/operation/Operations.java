package dev.stasis.operator.operation;

import dev.stasis.api.v1alpha1.GpuNodeOperation;
import dev.stasis.api.v1alpha1.common.ObjectReference;
import dev.stasis.api.v1alpha1.operation.GpuNodeOperationSpec;

/**
 * Orders to agents. Everything can be done again without harm; what comes of it is seen in the
 * {@link dev.stasis.operator.cluster.Cluster}.
 */
public interface Operations {

  /**
   * An order, not given yet.
   *
   * @param requester the object on whose behalf it is; its kind says how the name begins
   * @param number which one of that type, from 1
   * @param spec with type and node; the requester is put in
   */
  GpuNodeOperation draft(ObjectReference requester, int number, GpuNodeOperationSpec spec);

  /** Gives it; nothing happens when it was given before. */
  void create(GpuNodeOperation operation);

  /** Asks the agent to undo everything. */
  void cancel(GpuNodeOperation operation);

  /** Forgets one that is final. One that is not stays, and is cancelled by the deletion. */
  void release(GpuNodeOperation operation);

  /**
   * Takes back one that no agent has claimed, if that is still so; an agent that claims it at the
   * same moment wins.
   *
   * @return whether it is gone
   */
  boolean withdraw(GpuNodeOperation operation);

  /** Forgets one whose agent will not end it: its node is gone, or it has been silent too long. */
  void abandon(GpuNodeOperation operation);
}
