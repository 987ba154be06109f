package dev.stasis.local.kubelet;

/**
 * A container cannot be created as its pod requests; the message has the expected and the actual
 * value.
 */
final class PodRefusal extends Exception {
  private static final long serialVersionUID = 1L;

  private final String reason;

  /**
   * @param reason the kubelet's reason
   */
  PodRefusal(String reason, String message) {
    super(message);
    this.reason = reason;
  }

  /** The pod uses a feature that the single-machine mode does not have. */
  static PodRefusal notHere(String what) {
    return new PodRefusal(
        "CreateContainerConfigError", what + " is not supported by the single-machine mode");
  }

  String reason() {
    return reason;
  }
}
