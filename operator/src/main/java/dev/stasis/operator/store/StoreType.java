package dev.stasis.operator.store;

import dev.stasis.api.v1alpha1.GpuCheckpointStore;

/** What kind of place a store is. */
public enum StoreType {
  /** A folder on the disk of each node. */
  NODE_LOCAL("NodeLocal"),
  /** A folder that every node has mounted. */
  SHARED_PATH("SharedPath"),
  /** A bucket. */
  S3("S3");

  private final String word;

  StoreType(String word) {
    this.word = word;
  }

  /** The word as it stands in the status. */
  public String word() {
    return word;
  }

  /** Of a store; the schema sees to it that it is exactly one. */
  public static StoreType of(GpuCheckpointStore store) {
    if (store.getSpec().getNodeLocal() != null) {
      return NODE_LOCAL;
    }
    return store.getSpec().getSharedPath() != null ? SHARED_PATH : S3;
  }
}
