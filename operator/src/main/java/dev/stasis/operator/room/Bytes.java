package dev.stasis.operator.room;

import dev.stasis.api.text.HumanBytes;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads and writes quantities of memory. */
final class Bytes {

  private static final long MIB = 1L << 20;

  private Bytes() {}

  static Optional<Long> of(@Nullable Map<String, Quantity> resources, String name) {
    return Optional.ofNullable(resources).map(all -> all.get(name)).map(Bytes::of);
  }

  static long of(Quantity quantity) {
    BigDecimal bytes = Quantity.getAmountInBytes(quantity);
    return bytes.setScale(0, RoundingMode.CEILING).longValueExact();
  }

  /** Rounded up to MiB. */
  static Quantity up(long bytes) {
    return new Quantity((bytes + MIB - 1) / MIB + "Mi");
  }

  static String text(long bytes) {
    return new HumanBytes(bytes).text();
  }
}
