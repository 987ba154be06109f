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
import org.jspecify.annotations.Nullable;

/** What to freeze, and what becomes of it. */
@ValidationRule(
    value = "!has(oldSelf.cancel) || !oldSelf.cancel || (has(self.cancel) && self.cancel)",
    message = "cancel: cannot be taken back",
    fieldPath = ".cancel")
@ValidationRule(
    value =
        "!has(self.suspend) || !self.suspend || (has(self.afterCheckpoint) && "
            + "self.afterCheckpoint == 'Suspend')",
    message = "suspend: true wants afterCheckpoint Suspend",
    fieldPath = ".suspend")
@ValidationRule(
    value =
        "!has(self.turnSlice) || (has(self.afterCheckpoint) && self.afterCheckpoint == 'Suspend')",
    message = "turnSlice: wants afterCheckpoint Suspend",
    fieldPath = ".turnSlice")
@ValidationRule(
    value =
        "!has(self.lockTimeout) || !has(self.deadline) || duration(self.lockTimeout) <= "
            + "duration(self.deadline)",
    message = "lockTimeout: wanted at most the deadline",
    fieldPath = ".lockTimeout")
@ValidationRule(
    value =
        "!has(self.__import__) || !has(self.afterCheckpoint) || self.afterCheckpoint == 'Resume'",
    message = "import: wants afterCheckpoint Resume, since nothing is frozen",
    fieldPath = ".import")
@ValidationRule(
    value = "!has(self.__import__) || !has(self.explainOnly) || !self.explainOnly",
    message = "import: wants no explainOnly, since nothing is frozen",
    fieldPath = ".import")
@ValidationRule(
    value = "!has(self.__import__) || !(has(self.podUid) || has(self.hooks))",
    message = "import: wants neither podUid nor hooks, since no pod is frozen",
    fieldPath = ".import")
@SuppressWarnings("NullAway.Init") // the schema requires them
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuCheckpointSpec extends FreezeOptions {
  @Required
  @Immutable
  @Pattern(Names.SUBDOMAIN)
  @Size(min = 1, max = 253)
  @JsonPropertyDescription(
      "Name of the pod to freeze, in the same namespace; with import, of the pod that is in the "
          + "artifact.")
  private String podName;

  @Immutable
  @Size(min = 1, max = 64)
  @JsonPropertyDescription("Uid of the pod: refuses another pod of that name.")
  private @Nullable String podUid;

  @Immutable
  @Pattern(Names.LABEL)
  @Size(min = 1, max = 63)
  @JsonPropertyDescription("Container to freeze. Default: the only one with GPUs.")
  private @Nullable String containerName;

  @Immutable
  @Default("Resume")
  @JsonPropertyDescription("What becomes of the workload afterwards. Default: Resume.")
  private AfterCheckpoint afterCheckpoint = AfterCheckpoint.RESUME;

  @JsonPropertyDescription(
      "For afterCheckpoint Suspend: whether the workload is suspended now. Can be "
          + "changed both ways, any number of times. Default: true with afterCheckpoint "
          + "Suspend.")
  private @Nullable Boolean suspend;

  @SchemaFrom(type = String.class)
  @Pattern(TimeSpan.PATTERN)
  @Size(min = 2, max = 16)
  @ValidationRule(
      value = "duration(self) >= duration('1s') && duration(self) <= duration('168h')",
      message = "turnSlice: wanted between 1s and 168h")
  @JsonPropertyDescription(
      "For afterCheckpoint Suspend: the workload takes turns with the others on its GPUs that "
          + "have a slice too. One runs, at least for its slice, as 30s or 10m; then the one "
          + "that has waited for the longest goes on. suspend: true keeps it out, false lets it "
          + "run on; none, which is the default, is for turns. Default: it takes no turns.")
  private @Nullable TimeSpan turnSlice;

  @Immutable
  @Default("false")
  @JsonPropertyDescription(
      "Freezes nothing: the status says whether it could be done, every reason against "
          + "it, the expected size and time, and the nodes that fit. Default: false.")
  private Boolean explainOnly = false;

  @Immutable
  @Default("false")
  @JsonPropertyDescription(
      "Refuses a workload that could not be restored in another pod, before anything is frozen. "
          + "Always so with afterCheckpoint Evict, and for the checkpoints of a schedule. "
          + "Default: false.")
  private Boolean requireRestorable = false;

  @Immutable
  @Pattern(Names.SUBDOMAIN)
  @Size(min = 1, max = 63)
  @JsonPropertyDescription(
      "GpuCheckpointStore to use. Default: the one marked as default; none with "
          + "afterCheckpoint Suspend, where nothing is written unless a store is named.")
  private @Nullable String store;

  @Immutable
  @JsonProperty("import")
  @JsonPropertyDescription(
      "Freezes nothing: takes an artifact that lies in the store already, once every byte of it "
          + "is checked. Not with a suspension, an eviction, explainOnly, podUid or hooks.")
  private @Nullable ImportSource importSource;

  @Immutable
  @Default("30m")
  @SchemaFrom(type = String.class)
  @Pattern(TimeSpan.PATTERN)
  @Size(min = 2, max = 16)
  @ValidationRule(
      value = "duration(self) >= duration('10s') && duration(self) <= duration('168h')",
      message = "deadline: wanted between 10s and 168h")
  @JsonPropertyDescription(
      "Longest time for all of it, as 90s, 10m or 168h; then everything is undone and "
          + "the workload goes on. Default: 30m.")
  private TimeSpan deadline = TimeSpan.of("30m");

  @SchemaFrom(type = String.class)
  @Pattern(TimeSpan.PATTERN)
  @Size(min = 2, max = 16)
  @JsonPropertyDescription(
      "Time after which a Ready GpuCheckpoint is deleted, as 10m or 168h. Default: " + "never.")
  private @Nullable TimeSpan ttlAfterReady;

  @Default("Delete")
  @JsonPropertyDescription(
      "What becomes of the artifact when this object is deleted. The only copy of an "
          + "evicted workload stays in any case. Default: Delete.")
  private DeletionPolicy deletionPolicy = DeletionPolicy.DELETE;

  @Default("false")
  @JsonPropertyDescription(
      "Cancels: the freeze is undone and the workload goes on. It cannot be taken "
          + "back. Default: false.")
  private Boolean cancel = false;

  /**
   * That of a checkpoint of one pod as a schedule or a policy wants it.
   *
   * @param template null: as it is by default
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
}
