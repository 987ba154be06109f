package dev.stasis.api.v1beta1.restore;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.ColdStartPolicy;
import dev.stasis.api.v1beta1.common.Immutable;
import dev.stasis.api.v1beta1.common.NameReference;
import dev.stasis.api.v1beta1.common.Target;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** Desired state of a GpuRestore. */
@SuppressWarnings("NullAway.Init") // the schema requires them
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuRestoreSpec {
  @Required
  @Immutable
  @JsonPropertyDescription(
      "GpuCheckpoint to restore, in the same namespace. If it is not Ready yet, the restore "
          + "waits.")
  private NameReference checkpointRef;

  @Immutable
  @JsonPropertyDescription(
      "Placement and name of the restored pod. Default: any compatible node, and the "
          + "name of the checkpointed pod if it is free.")
  private @Nullable Target target;

  @Immutable
  @Default("Fail")
  @JsonPropertyDescription(
      "What to do if the workload cannot be restored: fail, or start it from its image. "
          + "Default: Fail.")
  private ColdStartPolicy coldStartPolicy = ColdStartPolicy.FAIL;

  @JsonPropertyDescription("Options that few users need.")
  private RestoreOptions options = new RestoreOptions();

  /** Returns the name of the GpuCheckpoint to restore. */
  public String checkpointName() {
    return checkpointRef.name();
  }

  public NameReference getCheckpointRef() {
    return checkpointRef;
  }

  public void setCheckpointRef(NameReference checkpointRef) {
    this.checkpointRef = checkpointRef;
  }

  public ColdStartPolicy getColdStartPolicy() {
    return coldStartPolicy;
  }

  public void setColdStartPolicy(ColdStartPolicy coldStartPolicy) {
    this.coldStartPolicy = coldStartPolicy;
  }

  public RestoreOptions getOptions() {
    return options;
  }

  public void setOptions(RestoreOptions options) {
    this.options = options;
  }

  public @Nullable Target getTarget() {
    return target;
  }

  public void setTarget(@Nullable Target target) {
    this.target = target;
  }
}
