package dev.stasis.artifact;

/** When the data of an artifact must survive a crash of the machine. */
public enum Durability {
  /** Everything is synced before the artifact has its name, because it may be the only copy. */
  BEFORE_IT_IS_NAMED,

  /**
   * Later, by {@link ArtifactStore#sync}. Until then a crash of the machine may leave an incomplete
   * artifact. It is never used, because every byte is checked first.
   */
  LATER
}
