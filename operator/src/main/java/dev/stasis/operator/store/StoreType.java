package dev.stasis.operator.store;

import dev.stasis.api.v1beta1.GpuCheckpointStore;

/** The type of a store. */
public enum StoreType {
  /** A folder on the disk of each node. */
  NODE_LOCAL("NodeLocal"),
  /** A folder that every node has mounted. */
  SHARED_PATH("SharedPath"),
  /** The volume of a claim. */
  PERSISTENT_VOLUME_CLAIM("PersistentVolumeClaim"),
  /** A bucket. */
  S3("S3");

  private final String word;

  StoreType(String word) {
    this.word = word;
  }

  /** Returns the value in the status. */
  public String value() {
    return word;
  }

  /** Returns the type of a store; the schema requires exactly one. */
  public static StoreType of(GpuCheckpointStore store) {
    if (store.getSpec().getLocation().s3() != null) {
      return S3;
    }
    if (store.getSpec().getLocation().persistentVolumeClaim() != null) {
      return PERSISTENT_VOLUME_CLAIM;
    }
    return store.getSpec().getLocation().nodeLocal() != null ? NODE_LOCAL : SHARED_PATH;
  }
}
