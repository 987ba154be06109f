package dev.stasis.api.v1alpha1.common;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/** How a workload is frozen; shared by every kind that freezes one. */
public abstract class FreezeOptions {
  @Immutable
  @Default("30s")
  @SchemaFrom(type = String.class)
  @Pattern(TimeSpan.PATTERN)
  @Size(min = 2, max = 16)
  @ValidationRule(
      value = "duration(self) >= duration('1s') && duration(self) <= duration('10m')",
      message = "lockTimeout: wanted between 1s and 10m")
  @JsonPropertyDescription(
      "Longest time to wait until the GPU has no work in flight, as 90s, 10m or 1h. "
          + "Default: 30s.")
  private TimeSpan lockTimeout = TimeSpan.of("30s");

  @Immutable
  @Default("Close")
  @JsonPropertyDescription(
      "What becomes of open TCP connections in the restored workload. Default: Close.")
  private Tcp tcp = Tcp.CLOSE;

  @Immutable
  @JsonPropertyDescription("What is done before and after the freeze.")
  private @Nullable Hooks hooks;

  @Immutable
  @Default("Refuse")
  @JsonPropertyDescription(
      "What to do when a liveness probe would fail before the freeze is over. Default: "
          + "Refuse.")
  private LivenessPolicy livenessPolicy = LivenessPolicy.REFUSE;

  @Immutable
  @Default("Resize")
  @JsonPropertyDescription(
      "What to do when the memory limit has no room for the device memory. Default: " + "Resize.")
  private MemoryRoom memoryRoom = MemoryRoom.RESIZE;

  @Immutable
  @Default("Refuse")
  @JsonPropertyDescription(
      "What to do about the pod's other containers, whose state is not part of the "
          + "checkpoint. Default: Refuse.")
  private OtherContainers otherContainers = OtherContainers.REFUSE;

  public TimeSpan getLockTimeout() {
    return lockTimeout;
  }

  public void setLockTimeout(TimeSpan lockTimeout) {
    this.lockTimeout = lockTimeout;
  }

  public Tcp getTcp() {
    return tcp;
  }

  public void setTcp(Tcp tcp) {
    this.tcp = tcp;
  }

  public @Nullable Hooks getHooks() {
    return hooks;
  }

  public void setHooks(@Nullable Hooks hooks) {
    this.hooks = hooks;
  }

  public LivenessPolicy getLivenessPolicy() {
    return livenessPolicy;
  }

  public void setLivenessPolicy(LivenessPolicy livenessPolicy) {
    this.livenessPolicy = livenessPolicy;
  }

  public MemoryRoom getMemoryRoom() {
    return memoryRoom;
  }

  public void setMemoryRoom(MemoryRoom memoryRoom) {
    this.memoryRoom = memoryRoom;
  }

  public OtherContainers getOtherContainers() {
    return otherContainers;
  }

  public void setOtherContainers(OtherContainers otherContainers) {
    this.otherContainers = otherContainers;
  }
}
