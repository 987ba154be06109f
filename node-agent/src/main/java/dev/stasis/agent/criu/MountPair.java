package dev.stasis.agent.criu;

/**
 * A mount of the source and its counterpart in the target; both as paths in the container.
 *
 * @param source its path in the source
 * @param target the counterpart's path in the target
 */
public record MountPair(String source, String target) {

  /**
   * Returns whether the target has nothing at the old path, so that a folder must be created there
   * first.
   */
  public boolean isMoved() {
    return !source.equals(target);
  }
}
