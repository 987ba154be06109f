package dev.stasis.operator.event;

import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.HasMetadata;

/**
 * One thing that happened to one object.
 *
 * @param about the object, as {@code kubectl describe} shows it
 * @param warning whether somebody should look
 * @param reason which, of the same closed list as in conditions
 * @param message one sentence
 * @param occasion tells two of the same reason apart that both happened: the number of a
 *     suspension, the name of an operation; told once each
 */
public record Story(
    HasMetadata about, boolean warning, Reason reason, String message, String occasion) {

  /** All is well. */
  public static Story normal(HasMetadata about, Reason reason, String message, String occasion) {
    return new Story(about, false, reason, message, occasion);
  }

  /** Somebody should look. */
  public static Story warning(HasMetadata about, Reason reason, String message, String occasion) {
    return new Story(about, true, reason, message, occasion);
  }
}
