package dev.stasis.api.v1alpha1.common;

import com.fasterxml.jackson.annotation.JsonValue;

/** The method of a hook's request. */
public enum HttpMethod {
  /** Asks. */
  GET("GET"),

  /** Tells. */
  POST("POST");

  private final String word;

  HttpMethod(String word) {
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
