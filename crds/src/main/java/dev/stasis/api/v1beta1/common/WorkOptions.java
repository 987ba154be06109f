package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Options of a request that freezes a workload: of a checkpoint, and of a migration. */
@ValidationRule(
    value =
        "!has(self.lockTimeout) || !has(self.deadline) || duration(self.lockTimeout) <= "
            + "duration(self.deadline)",
    message = "lockTimeout: must not exceed the deadline",
    fieldPath = ".lockTimeout")
@JsonInclude(JsonInclude.Include.NON_NULL)
public class WorkOptions extends FreezeOptions {
  /** The limit in the rule of the deadline. */
  private static final Duration SHORTEST = Duration.ofSeconds(10);

  @Immutable
  @Pattern(Names.LABEL)
  @Size(min = 1, max = 63)
  @JsonPropertyDescription("Name of the container to freeze. Default: the only one with GPUs.")
  private @Nullable String containerName;

  @Immutable
  @Default("30m")
  @SchemaFrom(type = String.class)
  @Pattern(TimeSpan.PATTERN)
  @Size(min = 2, max = 16)
  @ValidationRule(
      value = "duration(self) >= duration('10s') && duration(self) <= duration('168h')",
      message = "deadline: must be between 10s and 168h")
  @JsonPropertyDescription(
      "Time limit of the whole request, such as 90s, 10m or 168h. After that it is "
          + "rolled back and the workload keeps running. Default: 30m.")
  private TimeSpan deadline = TimeSpan.of("30m");

  public @Nullable String getContainerName() {
    return containerName;
  }

  public void setContainerName(@Nullable String containerName) {
    this.containerName = containerName;
  }

  /** Limits the request to the time that is left, and its lock with it. */
  public void limit(Duration left) {
    deadline = TimeSpan.of(left.compareTo(SHORTEST) < 0 ? SHORTEST : left);
    if (deadline.duration().compareTo(getLockTimeout().duration()) < 0) {
      setLockTimeout(deadline);
    }
  }

  public TimeSpan getDeadline() {
    return deadline;
  }

  public void setDeadline(TimeSpan deadline) {
    this.deadline = deadline;
  }

  /** Takes over all options that a template has. */
  public void copy(WorkOptions template) {
    setContainerName(template.getContainerName());
    setDeadline(template.getDeadline());
    copyFreeze(template);
  }
}
