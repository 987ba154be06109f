package dev.stasis.api.v1alpha1.common;

import com.fasterxml.jackson.annotation.JsonValue;

/** What to do about other containers of the pod, whose state is not part of a checkpoint. */
public enum OtherContainers {
  /** A pod with more than one container, sidecars included, is refused. */
  REFUSE("Refuse"),

  /** They start anew in the restored pod; the status names them. */
  START_ANEW("StartAnew");

  private final String word;

  OtherContainers(String word) {
    this.word = word;
  }

  /** The word as it stands in the API. */
  @JsonValue
  public String word() {
    return word;
  }

  @Override
  public String toString() {
    return word;
  }
}
