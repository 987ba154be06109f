package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonValue;

/** What happens to open TCP connections in a restored workload. */
public enum TcpConnections {
  /** Connections are restored. The restored pod must have the same IP address. */
  RESTORE("Restore"),

  /** Connections are closed; listening sockets are restored. */
  CLOSE("Close"),

  /** A value of a newer release: it is read, and never written. */
  UNRECOGNIZED("Unrecognized");

  private final String word;

  TcpConnections(String word) {
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
