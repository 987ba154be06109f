package dev.stasis.agent.mover;

/** Receives each child that outlives the agent, so that a successor can find it. */
@FunctionalInterface
public interface ChildListener {

  /** Called when the child runs. */
  void started(ProcessHandle child);
}
