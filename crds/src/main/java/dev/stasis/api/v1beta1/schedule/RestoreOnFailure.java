package dev.stasis.api.v1beta1.schedule;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.ColdStartPolicy;
import dev.stasis.api.v1beta1.common.TimeSpan;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/** Restores a failed pod from its newest good checkpoint. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public class RestoreOnFailure {
  @Default("3")
  @Min(1)
  @Max(100)
  @JsonPropertyDescription("Maximum number of restores of one pod within the window. Default: 3.")
  private Integer maxRestores = 3;

  @Default("1h")
  @SchemaFrom(type = String.class)
  @Pattern(TimeSpan.PATTERN)
  @Size(min = 2, max = 16)
  @ValidationRule(
      value = "duration(self) >= duration('1m') && duration(self) <= duration('720h')",
      message = "window: must be between 1m and 720h")
  @JsonPropertyDescription("Time window for maxRestores, such as 10m or 1h. Default: 1h.")
  private TimeSpan window = TimeSpan.of("1h");

  @SchemaFrom(type = String.class)
  @Pattern(TimeSpan.PATTERN)
  @Size(min = 2, max = 16)
  @ValidationRule(
      value = "duration(self) >= duration('1m') && duration(self) <= duration('720h')",
      message = "fenceAfter: must be between 1m and 720h")
  @JsonPropertyDescription(
      "Time after which a pod on an unreachable node is considered lost, such as 10m. A"
          + " copy that still runs there is removed when the node returns. Default: never; a "
          + "pod is lost only when its node is known to be gone.")
  private @Nullable TimeSpan fenceAfter;

  @Default("Fail")
  @JsonPropertyDescription(
      "What to do if the workload cannot be restored: fail, or start it from its image. "
          + "Default: Fail.")
  private ColdStartPolicy coldStartPolicy = ColdStartPolicy.FAIL;

  public Integer getMaxRestores() {
    return maxRestores;
  }

  public void setMaxRestores(Integer maxRestores) {
    this.maxRestores = maxRestores;
  }

  public TimeSpan getWindow() {
    return window;
  }

  public void setWindow(TimeSpan window) {
    this.window = window;
  }

  public @Nullable TimeSpan getFenceAfter() {
    return fenceAfter;
  }

  public void setFenceAfter(@Nullable TimeSpan fenceAfter) {
    this.fenceAfter = fenceAfter;
  }

  public ColdStartPolicy getColdStartPolicy() {
    return coldStartPolicy;
  }

  public void setColdStartPolicy(ColdStartPolicy coldStartPolicy) {
    this.coldStartPolicy = coldStartPolicy;
  }
}
