package dev.stasis.compat;

/** What a property belongs to, and so who can know it. */
public enum Scope {
  /** The GPUs that a container holds, in the order in which it sees them. */
  GPUS,
  /** The node: its processor, kernel and criu. */
  NODE,
  /** The pod: its image and mounts. Known only once the target pod exists. */
  POD
}
