package dev.stasis.api.v1alpha1.operation;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1alpha1.common.Tcp;
import dev.stasis.api.v1alpha1.common.TimeSpan;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;

/** How to restore. */
@SuppressWarnings("NullAway.Init") // the schema requires them
@JsonInclude(JsonInclude.Include.NON_NULL)
public class RestoreOrder {
  @Required
  @Size(min = 1, max = 65536)
  @JsonPropertyDescription(
      "What the place must have, one property a line; compared with what the holder "
          + "really got.")
  private String fingerprint;

  @Default("Close")
  @JsonPropertyDescription("What becomes of TCP connections that were open. Default: Close.")
  private Tcp tcp = Tcp.CLOSE;

  @Default("2m")
  @SchemaFrom(type = String.class)
  @Pattern(TimeSpan.PATTERN)
  @Size(min = 2, max = 16)
  @JsonPropertyDescription(
      "Longest wait for the proof once the processes run, as 90s or 10m. Default: 2m.")
  private TimeSpan proofTimeout = TimeSpan.of("2m");

  public String getFingerprint() {
    return fingerprint;
  }

  public void setFingerprint(String fingerprint) {
    this.fingerprint = fingerprint;
  }

  public Tcp getTcp() {
    return tcp;
  }

  public void setTcp(Tcp tcp) {
    this.tcp = tcp;
  }

  public TimeSpan getProofTimeout() {
    return proofTimeout;
  }

  public void setProofTimeout(TimeSpan proofTimeout) {
    this.proofTimeout = proofTimeout;
  }
}
