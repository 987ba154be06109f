package dev.stasis.api.v1beta1.common;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/** Options of a freeze, shared by all kinds that freeze a workload. */
public abstract class FreezeOptions {
  @Immutable
  @Default("30s")
  @SchemaFrom(type = String.class)
  @Pattern(TimeSpan.PATTERN)
  @Size(min = 2, max = 16)
  @ValidationRule(
      value = "duration(self) >= duration('1s') && duration(self) <= duration('10m')",
      message = "lockTimeout: must be between 1s and 10m")
  @JsonPropertyDescription(
      "Time to wait for the GPU to finish its work, such as 90s, 10m or 1h. Default: 30s.")
  private TimeSpan lockTimeout = TimeSpan.of("30s");

  @Immutable
  @Default("Close")
  @JsonPropertyDescription(
      "What happens to open TCP connections in the restored workload. Default: Close.")
  private TcpConnections tcpConnections = TcpConnections.CLOSE;

  @Immutable
  @JsonPropertyDescription("Commands or requests to run before and after the freeze.")
  private @Nullable Hooks hooks;

  @Immutable
  @Default("Fail")
  @JsonPropertyDescription(
      "What to do if a liveness probe would fail during the freeze. Default: Fail.")
  private ProbePolicy probePolicy = ProbePolicy.FAIL;

  @Immutable
  @Default("Resize")
  @JsonPropertyDescription(
      "What to do if the device memory does not fit into the pod's memory limit. "
          + "Default: Resize.")
  private MemoryLimitPolicy memoryLimitPolicy = MemoryLimitPolicy.RESIZE;

  @Immutable
  @Default("Fail")
  @JsonPropertyDescription(
      "What to do if the pod has other containers. Their state is not part of the "
          + "checkpoint. Default: Fail.")
  private SidecarPolicy sidecarPolicy = SidecarPolicy.FAIL;

  @Immutable
  @JsonPropertyDescription(
      "None states that no two processes of the workload share GPU memory, although "
          + "shared memory, a pipe or a connection between them would allow it. If they do "
          + "share GPU memory, the workload is lost at the end of the freeze. Default: the agent"
          + " decides, based on the processes that it finds.")
  private @Nullable Sharing sharing;

  public TimeSpan getLockTimeout() {
    return lockTimeout;
  }

  public void setLockTimeout(TimeSpan lockTimeout) {
    this.lockTimeout = lockTimeout;
  }

  public TcpConnections getTcpConnections() {
    return tcpConnections;
  }

  public void setTcpConnections(TcpConnections tcpConnections) {
    this.tcpConnections = tcpConnections;
  }

  public @Nullable Hooks getHooks() {
    return hooks;
  }

  public void setHooks(@Nullable Hooks hooks) {
    this.hooks = hooks;
  }

  public ProbePolicy getProbePolicy() {
    return probePolicy;
  }

  public void setProbePolicy(ProbePolicy probePolicy) {
    this.probePolicy = probePolicy;
  }

  public MemoryLimitPolicy getMemoryLimitPolicy() {
    return memoryLimitPolicy;
  }

  public void setMemoryLimitPolicy(MemoryLimitPolicy memoryLimitPolicy) {
    this.memoryLimitPolicy = memoryLimitPolicy;
  }

  public SidecarPolicy getSidecarPolicy() {
    return sidecarPolicy;
  }

  public void setSidecarPolicy(SidecarPolicy sidecarPolicy) {
    this.sidecarPolicy = sidecarPolicy;
  }

  public @Nullable Sharing getSharing() {
    return sharing;
  }

  public void setSharing(@Nullable Sharing sharing) {
    this.sharing = sharing;
  }

  /** Copies all options of the freeze. */
  public final void copyFreeze(FreezeOptions from) {
    setLockTimeout(from.getLockTimeout());
    setTcpConnections(from.getTcpConnections());
    setHooks(from.getHooks());
    setProbePolicy(from.getProbePolicy());
    setMemoryLimitPolicy(from.getMemoryLimitPolicy());
    setSidecarPolicy(from.getSidecarPolicy());
    setSharing(from.getSharing());
  }
}
