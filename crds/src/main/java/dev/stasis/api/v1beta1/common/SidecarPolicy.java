package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonValue;

/** What to do if the pod has other containers. Their state is not part of a checkpoint. */
public enum SidecarPolicy {
  /** Refuses a pod with more than one container, including sidecars. */
  FAIL("Fail"),

  /** Other containers start from their images in the restored pod; the status lists them. */
  RESTART("Restart"),

  /** A value of a newer release: it is read, and never written. */
  UNRECOGNIZED("Unrecognized");

  private final String word;

  SidecarPolicy(String word) {
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
