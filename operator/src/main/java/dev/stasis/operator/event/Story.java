package dev.stasis.operator.event;

import dev.stasis.operator.status.Reason;
import io.fabric8.kubernetes.api.model.HasMetadata;

/**
 * An event about an object.
 *
 * @param about the object that {@code kubectl describe} shows it with
 * @param warning whether it is of type Warning
 * @param reason one of the reasons that conditions use
 * @param message one sentence
 * @param occasion distinguishes events with the same reason, such as the number of a suspension or
 *     the name of an operation; each is created once
 */
public record Story(
    HasMetadata about, boolean warning, Reason reason, String message, String occasion) {}
