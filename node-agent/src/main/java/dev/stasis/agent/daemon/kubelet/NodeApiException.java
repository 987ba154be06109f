package dev.stasis.agent.daemon.kubelet;

import java.io.IOException;

/** The runtime or the kubelet could not be queried; the request can be retried. */
public final class NodeApiException extends IOException {
  private static final long serialVersionUID = 1L;

  public NodeApiException(String message) {
    super(message);
  }

  public NodeApiException(String message, Throwable cause) {
    super(message, cause);
  }
}
