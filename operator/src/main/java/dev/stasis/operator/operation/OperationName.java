package dev.stasis.operator.operation;

import dev.stasis.api.v1beta1.operation.OperationType;
import dev.stasis.operator.cluster.Cluster;
import java.util.Locale;
import java.util.Optional;

/**
 * The name of an operation. It is derived from known values, so that a restarted operator finds the
 * same operation and does not create a second one.
 *
 * @param number its number among those of the type, from 1
 */
public record OperationName(RequesterKind kind, String uid, OperationType type, int number) {

  public OperationName {
    if (number < 1) {
      throw new IllegalArgumentException("number: expected 1 or more, got " + number);
    }
  }

  /** Format of metadata.name: {@code ckpt-UID-checkpoint-1}. */
  public String text() {
    return String.join(
        "-",
        kind.prefix(),
        uid.toLowerCase(Locale.ROOT),
        type.value().toLowerCase(Locale.ROOT),
        String.valueOf(number));
  }

  /** Returns the operation of this name; empty before it is created. */
  public Optional<OperationView> in(Cluster cluster) {
    return cluster.operations(uid).stream()
        .filter(operation -> operation.getMetadata().getName().equals(text()))
        .findFirst()
        .map(OperationView::of);
  }

  @Override
  public String toString() {
    return text();
  }
}
