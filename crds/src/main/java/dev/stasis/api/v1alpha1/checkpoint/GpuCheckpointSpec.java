package dev.stasis.api.v1alpha1.checkpoint;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1alpha1.common.AfterCheckpoint;
import dev.stasis.api.v1alpha1.common.CheckpointTemplate;
import dev.stasis.api.v1alpha1.common.DeletionPolicy;
import dev.stasis.api.v1alpha1.common.FreezeOptions;
import dev.stasis.api.v1alpha1.common.Immutable;
import dev.stasis.api.v1alpha1.common.Names;
import dev.stasis.api.v1alpha1.common.TimeSpan;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Desired state of a GpuCheckpoint. */
@ValidationRule(
    value = "!has(oldSelf.cancel) || !oldSelf.cancel || (has(self.cancel) && self.cancel)",
    message = "cancel: cannot be unset",
    fieldPath = ".cancel")
@ValidationRule(
    value =
        "!has(self.suspend) || !self.suspend || (has(self.afterCheckpoint) && "
            + "self.afterCheckpoint == 'Suspend')",
    message = "suspend: true requires afterCheckpoint Suspend",
    fieldPath = ".suspend")
@ValidationRule(
    value =
        "!has(self.turnSlice) || (has(self.afterCheckpoint) && self.afterCheckpoint == 'Suspend')",
    message = "turnSlice: requires afterCheckpoint Suspend",
    fieldPath = ".turnSlice")
@ValidationRule(
    value =
        "!has(self.lockTimeout) || !has(self.deadline) || duration(self.lockTimeout) <= "
            + "duration(self.deadline)",
    message = "lockTimeout: must not exceed the deadline",
    fieldPath = ".lockTimeout")
@ValidationRule(
    value =
        "!has(self.__import__) || !has(self.afterCheckpoint) || self.afterCheckpoint == 'Resume'",
    message = "import: requires afterCheckpoint Resume, because nothing is frozen",
    fieldPath = ".import")
@ValidationRule(
    value = "!has(self.__import__) || !has(self.explainOnly) || !self.explainOnly",
    message = "import: cannot be combined with explainOnly, because nothing is frozen",
    fieldPath = ".import")
@ValidationRule(
    value = "!has(self.__import__) || !(has(self.podUid) || has(self.hooks))",
    message = "import: cannot be combined with podUid or hooks, because no pod is frozen",
    fieldPath = ".import")
@SuppressWarnings("NullAway.Init") // the schema requires them
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuCheckpointSpec extends FreezeOptions {
  @Required
  @Immutable
  @Pattern(Names.SUBDOMAIN)
  @Size(min = 1, max = 253)
  @JsonPropertyDescription(
      "Name of the pod to checkpoint, in the same namespace. With import: name of the "
          + "pod in the artifact.")
  private String podName;

  @Immutable
  @Size(min = 1, max = 64)
  @JsonPropertyDescription(
      "UID of the pod. A different pod with the same name is refused. Default: not checked.")
  private @Nullable String podUid;

  @Immutable
  @Pattern(Names.LABEL)
  @Size(min = 1, max = 63)
  @JsonPropertyDescription("Container to checkpoint. Default: the only container with GPUs.")
  private @Nullable String containerName;

  @Immutable
  @Default("Resume")
  @JsonPropertyDescription("State of the workload after the checkpoint. Default: Resume.")
  private AfterCheckpoint afterCheckpoint = AfterCheckpoint.RESUME;

  @JsonPropertyDescription(
      "Desired state of a workload with afterCheckpoint Suspend: true suspends it, "
          + "false resumes it. Can be changed at any time. Default: true with afterCheckpoint"
          + " Suspend.")
  private @Nullable Boolean suspend;

  @SchemaFrom(type = String.class)
  @Pattern(TimeSpan.PATTERN)
  @Size(min = 2, max = 16)
  @ValidationRule(
      value = "duration(self) >= duration('1s') && duration(self) <= duration('168h')",
      message = "turnSlice: must be between 1s and 168h")
  @JsonPropertyDescription(
      "Time-slices the workload with the others on its GPUs that have a turnSlice. "
          + "Requires afterCheckpoint Suspend. One workload runs at a time, at least for its "
          + "slice, such as 30s or 10m; then the one that has waited longest runs. With "
          + "suspend: true the workload stays suspended, with suspend: false it keeps "
          + "running, and with suspend unset it is time-sliced. Default: no time slicing.")
  private @Nullable TimeSpan turnSlice;

  @Immutable
  @Default("false")
  @JsonPropertyDescription(
      "Dry run: nothing is frozen. The status reports whether the checkpoint is "
          + "possible, every reason against it, the expected size and freeze time, and the "
          + "nodes that could restore it. Default: false.")
  private Boolean explainOnly = false;

  @Immutable
  @Default("false")
  @JsonPropertyDescription(
      "Refuses a workload that could not be restored in another pod, before anything is"
          + " frozen. Implied by afterCheckpoint Evict and by a schedule. Default: false.")
  private Boolean requireRestorable = false;

  @Immutable
  @Pattern(Names.SUBDOMAIN)
  @Size(min = 1, max = 63)
  @JsonPropertyDescription(
      "Name of the GpuCheckpointStore to write to. Default: the store marked as "
          + "default. With afterCheckpoint Suspend nothing is written unless a store is "
          + "named.")
  private @Nullable String store;

  @Immutable
  @JsonProperty("import")
  @JsonPropertyDescription(
      "Imports an artifact that is already in the store, after every byte of it has "
          + "been verified; nothing is frozen. Cannot be combined with afterCheckpoint "
          + "Suspend or Evict, explainOnly, podUid or hooks.")
  private @Nullable ImportSource importSource;

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

  @SchemaFrom(type = String.class)
  @Pattern(TimeSpan.PATTERN)
  @Size(min = 2, max = 16)
  @JsonPropertyDescription(
      "Time after which a Ready GpuCheckpoint is deleted, such as 10m or 168h. Default:"
          + " never.")
  private @Nullable TimeSpan ttlAfterReady;

  @Default("Delete")
  @JsonPropertyDescription(
      "What happens to the artifact when this object is deleted. The only copy of an "
          + "evicted workload is always retained. Default: Delete.")
  private DeletionPolicy deletionPolicy = DeletionPolicy.DELETE;

  @Default("false")
  @JsonPropertyDescription(
      "Cancels the request: it is rolled back and the workload keeps running. Cannot be"
          + " unset. Default: false.")
  private Boolean cancel = false;

  @Size(min = 20, max = 40)
  @JsonPropertyDescription(
      "Verifies the artifact now, if it was last verified before this time. Default: as often as "
          + "the operator is configured to.")
  private @Nullable Instant verifyAfter;

  /**
   * Returns the spec of a checkpoint that a schedule or a policy creates.
   *
   * @param template options of the checkpoint; null for the defaults
   */
  public static GpuCheckpointSpec of(
      @Nullable CheckpointTemplate template, String podName, String podUid) {
    CheckpointTemplate wish = template == null ? new CheckpointTemplate() : template;
    GpuCheckpointSpec spec = new GpuCheckpointSpec();
    spec.setPodName(podName);
    spec.setPodUid(podUid);
    spec.setContainerName(wish.getContainerName());
    spec.setStore(wish.getStore());
    spec.setDeadline(wish.getDeadline());
    spec.setLockTimeout(wish.getLockTimeout());
    spec.setTcp(wish.getTcp());
    spec.setHooks(wish.getHooks());
    spec.setLivenessPolicy(wish.getLivenessPolicy());
    spec.setMemoryRoom(wish.getMemoryRoom());
    spec.setOtherContainers(wish.getOtherContainers());
    spec.setSharing(wish.getSharing());
    return spec;
  }

  public String getPodName() {
    return podName;
  }

  public void setPodName(String podName) {
    this.podName = podName;
  }

  public @Nullable String getPodUid() {
    return podUid;
  }

  public void setPodUid(@Nullable String podUid) {
    this.podUid = podUid;
  }

  public @Nullable String getContainerName() {
    return containerName;
  }

  public void setContainerName(@Nullable String containerName) {
    this.containerName = containerName;
  }

  public AfterCheckpoint getAfterCheckpoint() {
    return afterCheckpoint;
  }

  public void setAfterCheckpoint(AfterCheckpoint afterCheckpoint) {
    this.afterCheckpoint = afterCheckpoint;
  }

  public @Nullable Boolean getSuspend() {
    return suspend;
  }

  public void setSuspend(@Nullable Boolean suspend) {
    this.suspend = suspend;
  }

  public @Nullable TimeSpan getTurnSlice() {
    return turnSlice;
  }

  public void setTurnSlice(@Nullable TimeSpan turnSlice) {
    this.turnSlice = turnSlice;
  }

  public Boolean getExplainOnly() {
    return explainOnly;
  }

  public void setExplainOnly(Boolean explainOnly) {
    this.explainOnly = explainOnly;
  }

  public Boolean getRequireRestorable() {
    return requireRestorable;
  }

  public void setRequireRestorable(Boolean requireRestorable) {
    this.requireRestorable = requireRestorable;
  }

  public @Nullable String getStore() {
    return store;
  }

  public void setStore(@Nullable String store) {
    this.store = store;
  }

  public @Nullable ImportSource getImportSource() {
    return importSource;
  }

  public void setImportSource(@Nullable ImportSource importSource) {
    this.importSource = importSource;
  }

  public TimeSpan getDeadline() {
    return deadline;
  }

  public void setDeadline(TimeSpan deadline) {
    this.deadline = deadline;
  }

  public @Nullable TimeSpan getTtlAfterReady() {
    return ttlAfterReady;
  }

  public void setTtlAfterReady(@Nullable TimeSpan ttlAfterReady) {
    this.ttlAfterReady = ttlAfterReady;
  }

  public DeletionPolicy getDeletionPolicy() {
    return deletionPolicy;
  }

  public void setDeletionPolicy(DeletionPolicy deletionPolicy) {
    this.deletionPolicy = deletionPolicy;
  }

  public Boolean getCancel() {
    return cancel;
  }

  public void setCancel(Boolean cancel) {
    this.cancel = cancel;
  }

  public @Nullable Instant getVerifyAfter() {
    return verifyAfter;
  }

  public void setVerifyAfter(@Nullable Instant verifyAfter) {
    this.verifyAfter = verifyAfter;
  }
}
