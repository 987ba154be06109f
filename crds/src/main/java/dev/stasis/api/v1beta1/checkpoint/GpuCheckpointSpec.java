package dev.stasis.api.v1beta1.checkpoint;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.AfterCheckpoint;
import dev.stasis.api.v1beta1.common.CheckpointTemplate;
import dev.stasis.api.v1beta1.common.Immutable;
import dev.stasis.api.v1beta1.common.NameReference;
import dev.stasis.api.v1beta1.common.PodReference;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Desired state of a GpuCheckpoint. */
@ValidationRule(
    value = "has(self.podRef) != has(self.importFrom)",
    message = "podRef: expected exactly one of podRef and importFrom",
    fieldPath = ".podRef")
@ValidationRule(
    value =
        "!has(self.desiredState) || self.desiredState != 'Suspended' || "
            + "(has(self.afterCheckpoint) && self.afterCheckpoint == 'Suspend')",
    message = "desiredState: Suspended requires afterCheckpoint Suspend",
    fieldPath = ".desiredState")
@ValidationRule(
    value =
        "!has(self.options) || !has(self.options.timeSlice) || "
            + "(has(self.afterCheckpoint) && self.afterCheckpoint == 'Suspend')",
    message = "options.timeSlice: requires afterCheckpoint Suspend",
    fieldPath = ".options.timeSlice")
@ValidationRule(
    value =
        "!has(self.importFrom) || !has(self.afterCheckpoint) || self.afterCheckpoint == 'Resume'",
    message = "importFrom: requires afterCheckpoint Resume, because nothing is frozen",
    fieldPath = ".importFrom")
@ValidationRule(
    value =
        "!has(self.importFrom) || !has(self.options) || "
            + "!((has(self.options.dryRun) && self.options.dryRun) || has(self.options.hooks))",
    message =
        "importFrom: cannot be combined with options.dryRun or options.hooks, because nothing is "
            + "frozen",
    fieldPath = ".importFrom")
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuCheckpointSpec {
  @Immutable
  @JsonPropertyDescription(
      "Pod to checkpoint, in the same namespace. Exactly one of podRef and importFrom is set.")
  private @Nullable PodReference podRef;

  @Immutable
  @JsonPropertyDescription(
      "Imports an artifact that is already in the store, after every byte of it has "
          + "been verified; nothing is frozen. Cannot be combined with afterCheckpoint "
          + "Suspend or Evict, options.dryRun or options.hooks.")
  private @Nullable ImportSource importFrom;

  @Immutable
  @Default("Resume")
  @JsonPropertyDescription("State of the workload after the checkpoint. Default: Resume.")
  private AfterCheckpoint afterCheckpoint = AfterCheckpoint.RESUME;

  @Default("Auto")
  @JsonPropertyDescription(
      "State of a workload with afterCheckpoint Suspend. Can be changed at any time. Suspended "
          + "suspends it, Running resumes it, and Auto suspends it, or time-slices it if "
          + "options.timeSlice is set. Default: Auto.")
  private DesiredState desiredState = DesiredState.AUTO;

  @Immutable
  @JsonPropertyDescription(
      "GpuCheckpointStore to write to. Default: the store marked as default. With "
          + "afterCheckpoint Suspend nothing is written unless a store is named.")
  private @Nullable NameReference storageRef;

  @JsonPropertyDescription("Options that few users need.")
  private CheckpointOptions options = new CheckpointOptions();

  /**
   * Returns the spec of a checkpoint that a schedule or a policy creates.
   *
   * @param template options of the checkpoint; null for the defaults
   */
  public static GpuCheckpointSpec of(
      @Nullable CheckpointTemplate template, String podName, String podUid) {
    CheckpointTemplate from = template == null ? new CheckpointTemplate() : template;
    GpuCheckpointSpec spec = new GpuCheckpointSpec();
    spec.setPodRef(new PodReference(podName, podUid));
    spec.setStorageRef(from.getStorageRef());
    spec.getOptions().copy(from.getOptions());
    return spec;
  }

  /** Returns the name of the pod to checkpoint, or of the pod in the artifact to import. */
  public String podName() {
    return podRef != null
        ? podRef.name()
        : Objects.requireNonNull(importFrom, "the schema requires one of the two").podName();
  }

  /** Returns the UID that the pod must have; null for any. */
  public @Nullable String podUid() {
    return podRef == null ? null : podRef.uid();
  }

  /** Returns the name of the store; null for the default store. */
  public @Nullable String storeName() {
    return NameReference.nameIn(storageRef);
  }

  public @Nullable PodReference getPodRef() {
    return podRef;
  }

  public void setPodRef(@Nullable PodReference podRef) {
    this.podRef = podRef;
  }

  public @Nullable ImportSource getImportFrom() {
    return importFrom;
  }

  public void setImportFrom(@Nullable ImportSource importFrom) {
    this.importFrom = importFrom;
  }

  public AfterCheckpoint getAfterCheckpoint() {
    return afterCheckpoint;
  }

  public void setAfterCheckpoint(AfterCheckpoint afterCheckpoint) {
    this.afterCheckpoint = afterCheckpoint;
  }

  public DesiredState getDesiredState() {
    return desiredState;
  }

  public void setDesiredState(DesiredState desiredState) {
    this.desiredState = desiredState;
  }

  public @Nullable NameReference getStorageRef() {
    return storageRef;
  }

  public void setStorageRef(@Nullable NameReference storageRef) {
    this.storageRef = storageRef;
  }

  public CheckpointOptions getOptions() {
    return options;
  }

  public void setOptions(CheckpointOptions options) {
    this.options = options;
  }
}
