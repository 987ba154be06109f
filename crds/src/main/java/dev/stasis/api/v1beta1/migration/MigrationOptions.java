package dev.stasis.api.v1beta1.migration;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.ByteQuantity;
import dev.stasis.api.v1beta1.common.Immutable;
import dev.stasis.api.v1beta1.common.WorkOptions;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Min;
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
@ValidationRule(
    value = "!has(oldSelf.cancel) || !oldSelf.cancel || (has(self.cancel) && self.cancel)",
    message = "cancel: cannot be unset",
    fieldPath = ".cancel")
@JsonInclude(JsonInclude.Include.NON_NULL)
public class MigrationOptions extends WorkOptions {
  @Immutable
  @JsonPropertyDescription(
      "Bandwidth limit of the transfer in bytes per second, such as 512Mi, at least 1Mi. "
          + "Default: unlimited.")
  private @Nullable Quantity bandwidthLimit;

  @Min(0)
  @JsonPropertyDescription(
      "Seconds after which the finished object is deleted. The pod is not affected. "
          + "Default: never.")
  private @Nullable Integer ttlSecondsAfterFinished;

  @Default("false")
  @JsonPropertyDescription(
      "Cancels the migration, until status.commitment is set: the source keeps running."
          + " Cannot be unset. Default: false.")
  private Boolean cancel = false;

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

  public @Nullable Integer getTtlSecondsAfterFinished() {
    return ttlSecondsAfterFinished;
  }

  public void setTtlSecondsAfterFinished(@Nullable Integer ttlSecondsAfterFinished) {
    this.ttlSecondsAfterFinished = ttlSecondsAfterFinished;
  }

  public Boolean getCancel() {
    return cancel;
  }

  public void setCancel(Boolean cancel) {
    this.cancel = cancel;
  }
}
