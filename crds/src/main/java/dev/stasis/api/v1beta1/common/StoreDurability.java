package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonValue;

/** Where an artifact has to be before its only other copy, the workload, may go. */
public enum StoreDurability {
  /** On the disk of its node. Lost with the node until the upload is complete. */
  LOCAL("Local"),

  /** In the remote store. */
  REMOTE("Remote"),

  /** A value of a newer release: it is read, and never written. */
  UNRECOGNIZED("Unrecognized");

  private final String word;

  StoreDurability(String word) {
    this.word = word;
  }

  /** Returns the value used in the API. */
  @JsonValue
  public String value() {
    return word;
  }

  @Override
  public String toString() {
    return word;
  }
}
