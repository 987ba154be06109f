package dev.stasis.api.v1alpha1.common;

import com.fasterxml.jackson.annotation.JsonValue;

/** What to do if the pod has other containers. Their state is not part of a checkpoint. */
public enum OtherContainers {
  /** Refuses a pod with more than one container, including sidecars. */
  REFUSE("Refuse"),

  /** Other containers start from their images in the restored pod; the status lists them. */
  START_ANEW("StartAnew");

  private final String word;

  OtherContainers(String word) {
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
