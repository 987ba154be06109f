package dev.stasis.api.v1beta1.schedule;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.ByteQuantity;
import dev.stasis.api.v1beta1.common.TimeSpan;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Quantity;
import org.jspecify.annotations.Nullable;

/**
 * Retention of the checkpoints of each pod. The newest good checkpoint and those in use are always
 * kept.
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Retention(
    @Min(1)
        @Max(1000)
        @JsonPropertyDescription("Number of newest checkpoints to keep. Default: all.")
        @Nullable Integer keepLast,
    @SchemaFrom(type = String.class)
        @Pattern(TimeSpan.PATTERN)
        @Size(min = 2, max = 16)
        @ValidationRule(
            value = "duration(self) >= duration('1m')",
            message = "maxAge: must be at least 1m")
        @JsonPropertyDescription(
            "Age after which a checkpoint is deleted, such as 10m or 168h. Default: none.")
        @Nullable TimeSpan maxAge,
    @JsonPropertyDescription(
            "Total size, such as 500Gi, above which the oldest checkpoints are deleted. Default: "
                + "none.")
        @Nullable Quantity maxTotalSize) {

  /** Returns the total size in bytes; null for none. */
  public @Nullable Long maxTotalBytes() {
    return ByteQuantity.bytes(maxTotalSize);
  }
}
