package dev.stasis.agent.criu;

/**
 * A mount of the source and what stands for it in the target; both as paths in the container.
 *
 * @param source where it was
 * @param target where the target has its own
 */
public record MountPair(String source, String target) {

  /** Whether the target has nothing at the old path, so that a folder must be made there first. */
  public boolean isMoved() {
    return !source.equals(target);
  }
}
