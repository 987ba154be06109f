package dev.stasis.agent.mover;

/** Told of a child that outlives us, so that a successor can find it. */
@FunctionalInterface
public interface ChildListener {

  /** The child runs. */
  void started(ProcessHandle child);
}
