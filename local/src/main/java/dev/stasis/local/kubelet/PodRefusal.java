package dev.stasis.local.kubelet;

/** A container cannot be made as its pod asks; the message says what was wanted and found. */
final class PodRefusal extends Exception {
  private static final long serialVersionUID = 1L;

  private final String reason;

  /**
   * @param reason the word that a kubelet has for it
   */
  PodRefusal(String reason, String message) {
    super(message);
    this.reason = reason;
  }

  /** Asked for something that the single-machine mode has not. */
  static PodRefusal notHere(String what) {
    return new PodRefusal(
        "CreateContainerConfigError", what + " is not offered by the single-machine mode");
  }

  String reason() {
    return reason;
  }
}
