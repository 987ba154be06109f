package dev.stasis.artifact;

/** When what an artifact is made of has to survive the end of the machine. */
public enum Durability {
  /** Everything is on the disk before the artifact has its name: it may be the only copy. */
  BEFORE_IT_IS_NAMED,

  /**
   * By and by: {@link ArtifactStore#sync}. Until then a machine that stops may leave an artifact
   * that is not whole. Nobody takes that for one, since every byte is checked before it is used.
   */
  LATER
}
