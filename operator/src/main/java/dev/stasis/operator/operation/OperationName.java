package dev.stasis.operator.operation;

import dev.stasis.api.v1alpha1.operation.OperationType;
import java.util.Locale;

/**
 * What an operation is called. It follows from what is known: whoever starts anew finds the same
 * operation and does not make a second one.
 *
 * @param kind kind of the requester
 * @param uid uid of the requester
 * @param type what is done
 * @param number which one of that type, from 1
 */
public record OperationName(RequesterKind kind, String uid, OperationType type, int number) {

  public OperationName {
    if (number < 1) {
      throw new IllegalArgumentException("number: wanted 1 or more, found " + number);
    }
  }

  /** As in metadata.name: {@code ckpt-UID-checkpoint-1}. */
  public String text() {
    return String.join(
        "-",
        kind.prefix(),
        uid.toLowerCase(Locale.ROOT),
        type.word().toLowerCase(Locale.ROOT),
        String.valueOf(number));
  }

  @Override
  public String toString() {
    return text();
  }
}
