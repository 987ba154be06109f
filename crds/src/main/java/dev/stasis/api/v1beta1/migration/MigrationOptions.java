package dev.stasis.api.v1beta1.migration;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.ByteQuantity;
import dev.stasis.api.v1beta1.common.Immutable;
import dev.stasis.api.v1beta1.common.WorkOptions;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Quantity;
import org.jspecify.annotations.Nullable;

/** Options of a GpuMigration that few users need. */
@ValidationRule(
    value =
        "!has(self.lockTimeout) || !has(self.deadline) || duration(self.lockTimeout) <= "
            + "duration(self.deadline)",
    message = "lockTimeout: must not exceed the deadline",
    fieldPath = ".lockTimeout")
@ValidationRule(
    value =
        "!has(self.bandwidthLimit) || "
            + "!quantity(string(self.bandwidthLimit)).isLessThan(quantity('1Mi'))",
    message = "bandwidthLimit: must be at least 1Mi",
    fieldPath = ".bandwidthLimit")
@JsonInclude(JsonInclude.Include.NON_NULL)
public class MigrationOptions extends WorkOptions {
  @Immutable
  @JsonPropertyDescription(
      "Bandwidth limit of the transfer in bytes per second, such as 512Mi, at least 1Mi. "
          + "Default: unlimited.")
  private @Nullable Quantity bandwidthLimit;

  /** Returns the bandwidth limit in bytes per second; null for none. */
  public @Nullable Long bytesPerSecond() {
    return ByteQuantity.bytes(bandwidthLimit);
  }

  public @Nullable Quantity getBandwidthLimit() {
    return bandwidthLimit;
  }

  public void setBandwidthLimit(@Nullable Quantity bandwidthLimit) {
    this.bandwidthLimit = bandwidthLimit;
  }
}
