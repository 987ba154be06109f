package dev.stasis.api.v1beta1.operation;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.Immutable;
import dev.stasis.api.v1beta1.common.Names;
import dev.stasis.api.v1beta1.common.ObjectReference;
import dev.stasis.api.v1beta1.common.TimeSpan;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/** Desired state of a GpuNodeOperation. The label stasis.dev/node has the name of the node. */
@ValidationRule(
    value = "!has(oldSelf.cancel) || !oldSelf.cancel || (has(self.cancel) && self.cancel)",
    message = "cancel: cannot be unset",
    fieldPath = ".cancel")
@ValidationRule(
    value =
        "!(self.type in ['DeleteArtifact', 'RetainArtifact', 'Send', 'Receive', 'Import', 'Upload',"
            + " 'Download', 'Verify']) == has(self.pod)",
    message =
        "pod: required for every type except DeleteArtifact, RetainArtifact, Send, Receive, "
            + "Import, Upload, Download and Verify",
    fieldPath = ".pod")
@ValidationRule(
    value = "(self.type in ['Checkpoint', 'Suspend']) == has(self.freeze)",
    message = "freeze: required for Checkpoint, Suspend, and forbidden for every other type",
    fieldPath = ".freeze")
@ValidationRule(
    value = "(self.type == 'Restore') == has(self.restore)",
    message = "restore: required for Restore, and forbidden for every other type",
    fieldPath = ".restore")
@ValidationRule(
    value = "(self.type in ['Send', 'Receive']) == has(self.transfer)",
    message = "transfer: required for Send, Receive, and forbidden for every other type",
    fieldPath = ".transfer")
@ValidationRule(
    value = "(self.type in ['Resume', 'Thaw', 'End']) == has(self.ofOperation)",
    message = "ofOperation: required for Resume, Thaw, End, and forbidden for every other type",
    fieldPath = ".ofOperation")
@ValidationRule(
    value =
        "!(self.type in ['Restore', 'Send', 'Receive', 'Import', 'Upload', 'Download', 'Verify', "
            + "'RetainArtifact', 'DeleteArtifact']) || "
            + "has(self.artifact)",
    message =
        "artifact: required for Restore, Send, Receive, Import, Upload, Download, Verify,"
            + " RetainArtifact and DeleteArtifact",
    fieldPath = ".artifact")
@ValidationRule(
    value = "(self.type == 'Import') == has(self.expected)",
    message = "expected: required for Import, and forbidden for every other type",
    fieldPath = ".expected")
@ValidationRule(
    value =
        "self.type != 'Checkpoint' || has(self.artifact) || (has(self.freeze) && "
            + "has(self.freeze.dryRun) && self.freeze.dryRun)",
    message = "artifact: required for Checkpoint unless freeze.dryRun is set",
    fieldPath = ".artifact")
@ValidationRule(
    value = "!(self.type in ['Suspend', 'Resume', 'Thaw', 'End']) || !has(self.artifact)",
    message = "artifact: forbidden for Suspend, Resume, Thaw and End",
    fieldPath = ".artifact")
@ValidationRule(
    value = "self.type != 'Send' || !has(self.transfer) || has(self.transfer.peer.address)",
    message = "transfer.peer.address: required for Send",
    fieldPath = ".transfer.peer.address")
@SuppressWarnings("NullAway.Init") // the schema requires them
@JsonInclude(JsonInclude.Include.NON_NULL)
public class GpuNodeOperationSpec {
  @Required
  @Immutable
  @JsonPropertyDescription("Type of the operation.")
  private OperationType type;

  @Required
  @Immutable
  @Pattern(Names.SUBDOMAIN)
  @Size(min = 1, max = 63)
  @JsonPropertyDescription("Node whose agent executes the operation.")
  private String nodeName;

  @Required
  @Immutable
  @JsonPropertyDescription("Object on whose behalf the operation is executed.")
  private ObjectReference requester;

  @Immutable
  @JsonPropertyDescription(
      "Pod to operate on. Required for every type except DeleteArtifact, RetainArtifact, Send, "
          + "Receive, Import, Upload, Download and Verify.")
  private @Nullable OperationPod pod;

  @Immutable
  @Default("30m")
  @SchemaFrom(type = String.class)
  @Pattern(TimeSpan.PATTERN)
  @Size(min = 2, max = 16)
  @ValidationRule(
      value = "duration(self) >= duration('1s') && duration(self) <= duration('168h')",
      message = "deadline: must be between 1s and 168h")
  @JsonPropertyDescription(
      "Time limit from the claim until the end, such as 90s, 10m or 168h. After that "
          + "the operation is rolled back. Default: 30m.")
  private TimeSpan deadline = TimeSpan.of("30m");

  @Immutable
  @JsonPropertyDescription("Options of the freeze, for Checkpoint and Suspend.")
  private @Nullable FreezeOrder freeze;

  @Immutable
  @JsonPropertyDescription("Options of the restore, for Restore.")
  private @Nullable RestoreOrder restore;

  @Immutable
  @JsonPropertyDescription("Artifact to write, read, stream, verify or delete.")
  private @Nullable ArtifactReference artifact;

  @Immutable
  @JsonPropertyDescription("Options of the transfer, for Send and Receive.")
  private @Nullable TransferOrder transfer;

  @Immutable
  @JsonPropertyDescription("Expected content of the artifact, for Import.")
  private @Nullable ExpectedWorkload expected;

  @Immutable
  @Pattern(Names.SUBDOMAIN)
  @Size(min = 1, max = 253)
  @JsonPropertyDescription(
      "Name of the operation that left the workload frozen or suspended, for Resume, "
          + "Thaw and End.")
  private @Nullable String ofOperation;

  @Default("false")
  @JsonPropertyDescription(
      "Cancels the operation before its next step and rolls it back. Cannot be unset. "
          + "Default: false.")
  private Boolean cancel = false;

  /** Returns the spec of an operation on a node. */
  public static GpuNodeOperationSpec of(OperationType type, String nodeName) {
    GpuNodeOperationSpec spec = new GpuNodeOperationSpec();
    spec.setType(type);
    spec.setNodeName(nodeName);
    return spec;
  }

  public OperationType getType() {
    return type;
  }

  public void setType(OperationType type) {
    this.type = type;
  }

  public String getNodeName() {
    return nodeName;
  }

  public void setNodeName(String nodeName) {
    this.nodeName = nodeName;
  }

  public ObjectReference getRequester() {
    return requester;
  }

  public void setRequester(ObjectReference requester) {
    this.requester = requester;
  }

  public @Nullable OperationPod getPod() {
    return pod;
  }

  public void setPod(@Nullable OperationPod pod) {
    this.pod = pod;
  }

  public TimeSpan getDeadline() {
    return deadline;
  }

  public void setDeadline(TimeSpan deadline) {
    this.deadline = deadline;
  }

  public @Nullable FreezeOrder getFreeze() {
    return freeze;
  }

  public void setFreeze(@Nullable FreezeOrder freeze) {
    this.freeze = freeze;
  }

  public @Nullable RestoreOrder getRestore() {
    return restore;
  }

  public void setRestore(@Nullable RestoreOrder restore) {
    this.restore = restore;
  }

  public @Nullable ArtifactReference getArtifact() {
    return artifact;
  }

  public void setArtifact(@Nullable ArtifactReference artifact) {
    this.artifact = artifact;
  }

  public @Nullable TransferOrder getTransfer() {
    return transfer;
  }

  public void setTransfer(@Nullable TransferOrder transfer) {
    this.transfer = transfer;
  }

  public @Nullable ExpectedWorkload getExpected() {
    return expected;
  }

  public void setExpected(@Nullable ExpectedWorkload expected) {
    this.expected = expected;
  }

  public @Nullable String getOfOperation() {
    return ofOperation;
  }

  public void setOfOperation(@Nullable String ofOperation) {
    this.ofOperation = ofOperation;
  }

  public Boolean getCancel() {
    return cancel;
  }

  public void setCancel(Boolean cancel) {
    this.cancel = cancel;
  }
}
