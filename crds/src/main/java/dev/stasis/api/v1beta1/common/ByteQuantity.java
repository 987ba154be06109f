package dev.stasis.api.v1beta1.common;

import io.fabric8.kubernetes.api.model.Quantity;
import org.jspecify.annotations.Nullable;

/** Sizes as Kubernetes quantities. */
public final class ByteQuantity {
  private ByteQuantity() {}

  /** Returns a quantity in bytes, rounded down; null for null. */
  public static @Nullable Long bytes(@Nullable Quantity quantity) {
    return quantity == null ? null : Quantity.getAmountInBytes(quantity).longValue();
  }
}
