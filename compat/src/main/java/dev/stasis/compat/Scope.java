package dev.stasis.compat;

/** What a property belongs to, which determines when it is known. */
public enum Scope {
  /** The GPUs of a container, in the container's order. */
  GPUS,
  /** The node: its processor, kernel and criu. */
  NODE,
  /** The pod: its image and mounts. Known only after the target pod is created. */
  POD
}
