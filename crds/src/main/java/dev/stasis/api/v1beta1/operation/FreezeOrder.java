package dev.stasis.api.v1beta1.operation;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import dev.stasis.api.v1beta1.common.DataPath;
import dev.stasis.api.v1beta1.common.FreezeOptions;
import dev.stasis.api.v1beta1.common.PackedObject;
import dev.stasis.api.v1beta1.common.TimeSpan;
import io.fabric8.crd.generator.annotation.PreserveUnknownFields;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Options of a freeze. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public class FreezeOrder extends FreezeOptions {
  @Default("Resume")
  @JsonPropertyDescription("State of the workload after the freeze. Default: Resume.")
  private Afterwards afterwards = Afterwards.RESUME;

  @Default("false")
  @JsonPropertyDescription(
      "Nothing is changed; the status reports what would be done. Default: false.")
  private Boolean dryRun = false;

  @SchemaFrom(type = String.class)
  @Pattern(TimeSpan.PATTERN)
  @Size(min = 2, max = 16)
  @JsonPropertyDescription(
      "Longest freeze time that the liveness probes allow, such as 90s or 10m. After "
          + "that the operation is rolled back. Default: the deadline.")
  private @Nullable TimeSpan maxFrozen;

  @Default("false")
  @JsonPropertyDescription(
      "Once the workload is held, only an operation Thaw or End releases it, not the "
          + "deadline or a cancellation, because another copy may be running. Default: false.")
  private Boolean heldUntilDecided = false;

  @Default("false")
  @JsonPropertyDescription(
      "Refuses a workload that could not be restored in another pod. Implied when the "
          + "workload is held. Default: false.")
  private Boolean requireRestorable = false;

  @JsonPropertyDescription("Data path for device memory. Default: the fastest one that is safe.")
  private @Nullable DataPath dataPath;

  @PreserveUnknownFields
  @JsonPropertyDescription("Pod template to record in the artifact.")
  @JsonDeserialize(using = PackedObject.Reader.class)
  private @Nullable Map<String, Object> podTemplate;

  @Size(min = 1, max = 64)
  @JsonPropertyDescription("UID of the pod's namespace, to record in the artifact.")
  private @Nullable String namespaceUid;

  public Afterwards getAfterwards() {
    return afterwards;
  }

  public @Nullable String getNamespaceUid() {
    return namespaceUid;
  }

  public void setNamespaceUid(@Nullable String namespaceUid) {
    this.namespaceUid = namespaceUid;
  }

  public void setAfterwards(Afterwards afterwards) {
    this.afterwards = afterwards;
  }

  public Boolean getDryRun() {
    return dryRun;
  }

  public void setDryRun(Boolean dryRun) {
    this.dryRun = dryRun;
  }

  public @Nullable TimeSpan getMaxFrozen() {
    return maxFrozen;
  }

  public void setMaxFrozen(@Nullable TimeSpan maxFrozen) {
    this.maxFrozen = maxFrozen;
  }

  public Boolean getHeldUntilDecided() {
    return heldUntilDecided;
  }

  public void setHeldUntilDecided(Boolean heldUntilDecided) {
    this.heldUntilDecided = heldUntilDecided;
  }

  public Boolean getRequireRestorable() {
    return requireRestorable;
  }

  public void setRequireRestorable(Boolean requireRestorable) {
    this.requireRestorable = requireRestorable;
  }

  public @Nullable DataPath getDataPath() {
    return dataPath;
  }

  public void setDataPath(@Nullable DataPath dataPath) {
    this.dataPath = dataPath;
  }

  public @Nullable Map<String, Object> getPodTemplate() {
    return podTemplate;
  }

  public void setPodTemplate(@Nullable Map<String, Object> podTemplate) {
    this.podTemplate = podTemplate;
  }
}
