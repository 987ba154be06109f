package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonValue;

/** HTTP method of a hook. */
public enum HttpMethod {
  /** GET. */
  GET("GET"),

  /** POST. */
  POST("POST"),

  /** A value of a newer release: it is read, and never written. */
  UNRECOGNIZED("Unrecognized");

  private final String word;

  HttpMethod(String word) {
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
