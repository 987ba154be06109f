package dev.stasis.agent.daemon.operation;

import java.io.IOException;

/** The API server did not answer; the request can be retried. */
public final class ApiUnreachable extends IOException {
  private static final long serialVersionUID = 1L;

  public ApiUnreachable(String message, Throwable cause) {
    super(message, cause);
  }
}
