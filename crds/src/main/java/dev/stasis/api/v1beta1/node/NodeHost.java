package dev.stasis.api.v1beta1.node;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Properties of a node. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public class NodeHost {
  @JsonPropertyDescription(
      "Boot ID of the node. A workload that was frozen before a reboot is lost.")
  private @Nullable String bootId;

  @JsonPropertyDescription("Processor architecture, such as amd64.")
  private @Nullable String architecture;

  @JsonPropertyDescription("Processor features, as in /proc/cpuinfo.")
  private @Nullable List<String> cpuFeatures;

  @JsonPropertyDescription("Kernel release.")
  private @Nullable String kernel;

  @JsonPropertyDescription("Whether the kernel supports time namespaces.")
  private @Nullable Boolean timeNamespaces;

  @JsonPropertyDescription("Version of the cgroup hierarchy: 1 or 2.")
  private @Nullable Integer cgroupVersion;

  @JsonPropertyDescription("Container runtime and version.")
  private @Nullable String containerRuntime;

  @JsonPropertyDescription("Version of CRIU.")
  private @Nullable String criu;

  @JsonPropertyDescription("Version of the GPU driver.")
  private @Nullable String driver;

  @JsonPropertyDescription("CUDA version of the driver.")
  private @Nullable String cuda;

  @JsonPropertyDescription("Memory of the node in bytes.")
  private @Nullable Long memoryBytes;

  @JsonPropertyDescription("Properties that determine compatibility, one per line.")
  private @Nullable String fingerprint;

  public @Nullable String getBootId() {
    return bootId;
  }

  public void setBootId(@Nullable String bootId) {
    this.bootId = bootId;
  }

  public @Nullable String getArchitecture() {
    return architecture;
  }

  public void setArchitecture(@Nullable String architecture) {
    this.architecture = architecture;
  }

  public @Nullable List<String> getCpuFeatures() {
    return cpuFeatures;
  }

  public void setCpuFeatures(@Nullable List<String> cpuFeatures) {
    this.cpuFeatures = cpuFeatures;
  }

  public @Nullable String getKernel() {
    return kernel;
  }

  public void setKernel(@Nullable String kernel) {
    this.kernel = kernel;
  }

  public @Nullable Boolean getTimeNamespaces() {
    return timeNamespaces;
  }

  public void setTimeNamespaces(@Nullable Boolean timeNamespaces) {
    this.timeNamespaces = timeNamespaces;
  }

  public @Nullable Integer getCgroupVersion() {
    return cgroupVersion;
  }

  public void setCgroupVersion(@Nullable Integer cgroupVersion) {
    this.cgroupVersion = cgroupVersion;
  }

  public @Nullable String getContainerRuntime() {
    return containerRuntime;
  }

  public void setContainerRuntime(@Nullable String containerRuntime) {
    this.containerRuntime = containerRuntime;
  }

  public @Nullable String getCriu() {
    return criu;
  }

  public void setCriu(@Nullable String criu) {
    this.criu = criu;
  }

  public @Nullable String getDriver() {
    return driver;
  }

  public void setDriver(@Nullable String driver) {
    this.driver = driver;
  }

  public @Nullable String getCuda() {
    return cuda;
  }

  public void setCuda(@Nullable String cuda) {
    this.cuda = cuda;
  }

  public @Nullable Long getMemoryBytes() {
    return memoryBytes;
  }

  public void setMemoryBytes(@Nullable Long memoryBytes) {
    this.memoryBytes = memoryBytes;
  }

  public @Nullable String getFingerprint() {
    return fingerprint;
  }

  public void setFingerprint(@Nullable String fingerprint) {
    this.fingerprint = fingerprint;
  }
}
