package dev.stasis.api.v1beta1.operation;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1beta1.common.TcpConnections;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import org.jspecify.annotations.Nullable;

/** Options of a restore. */
@SuppressWarnings("NullAway.Init") // the schema requires them
@JsonInclude(JsonInclude.Include.NON_NULL)
public class RestoreOrder {
  @Required
  @Size(min = 1, max = 65536)
  @JsonPropertyDescription(
      "Requirements that the target must meet, one property per line. They are compared"
          + " with what the holder got.")
  private String fingerprint;

  @Default("Close")
  @JsonPropertyDescription("What happens to open TCP connections. Default: Close.")
  private TcpConnections tcpConnections = TcpConnections.CLOSE;

  @JsonPropertyDescription(
      "Compares the GPUs that the holder got with the fingerprint, and " + "restores nothing.")
  private @Nullable Boolean dryRun;

  public String getFingerprint() {
    return fingerprint;
  }

  public void setFingerprint(String fingerprint) {
    this.fingerprint = fingerprint;
  }

  public @Nullable Boolean getDryRun() {
    return dryRun;
  }

  public void setDryRun(@Nullable Boolean dryRun) {
    this.dryRun = dryRun;
  }

  public TcpConnections getTcpConnections() {
    return tcpConnections;
  }

  public void setTcpConnections(TcpConnections tcpConnections) {
    this.tcpConnections = tcpConnections;
  }
}
