package dev.stasis.api.v1beta1.migration;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.Immutable;
import dev.stasis.api.v1beta1.common.NameReference;
import dev.stasis.api.v1beta1.common.PodReference;
import dev.stasis.api.v1beta1.common.Target;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Required;
import org.jspecify.annotations.Nullable;

/** Desired state of a GpuMigration. */
@SuppressWarnings("NullAway.Init") // the schema requires them
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuMigrationSpec {
  @Required
  @Immutable
  @JsonPropertyDescription("Pod to move, in the same namespace.")
  private PodReference podRef;

  @Immutable
  @JsonPropertyDescription(
      "Where to move the pod. Default: any compatible node except its current one.")
  private @Nullable Target target;

  @Immutable
  @Default("Live")
  @JsonPropertyDescription(
      "Live creates the target pod before the source pod is deleted. Recreate checkpoints and "
          + "deletes the source pod first, for pods that cannot exist twice. Default: Live.")
  private MigrationStrategy strategy = MigrationStrategy.LIVE;

  @Immutable
  @JsonPropertyDescription(
      "GpuCheckpointStore that both nodes can reach, used for the transfer. Default with "
          + "strategy Live: none, the agents stream to each other. Default with strategy "
          + "Recreate: the store marked as default, or another one that both nodes can reach.")
  private @Nullable NameReference storageRef;

  @JsonPropertyDescription("Options that few users need.")
  private MigrationOptions options = new MigrationOptions();

  /** Returns the name of the pod to move. */
  public String podName() {
    return podRef.name();
  }

  /** Returns the UID that the pod must have; null for any. */
  public @Nullable String podUid() {
    return podRef.uid();
  }

  /** Returns the name of the store; null for the default. */
  public @Nullable String storeName() {
    return NameReference.nameIn(storageRef);
  }

  public PodReference getPodRef() {
    return podRef;
  }

  public void setPodRef(PodReference podRef) {
    this.podRef = podRef;
  }

  public MigrationStrategy getStrategy() {
    return strategy;
  }

  public void setStrategy(MigrationStrategy strategy) {
    this.strategy = strategy;
  }

  public @Nullable NameReference getStorageRef() {
    return storageRef;
  }

  public void setStorageRef(@Nullable NameReference storageRef) {
    this.storageRef = storageRef;
  }

  public MigrationOptions getOptions() {
    return options;
  }

  public void setOptions(MigrationOptions options) {
    this.options = options;
  }

  public @Nullable Target getTarget() {
    return target;
  }

  public void setTarget(@Nullable Target target) {
    this.target = target;
  }
}
