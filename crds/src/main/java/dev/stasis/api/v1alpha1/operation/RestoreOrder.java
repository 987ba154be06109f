package dev.stasis.api.v1alpha1.operation;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1alpha1.common.Tcp;
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
  @JsonPropertyDescription("What happens to TCP connections that were open. Default: Close.")
  private Tcp tcp = Tcp.CLOSE;

  @JsonPropertyDescription(
      "Dry run: compares the GPUs that the holder got with the fingerprint, and "
          + "restores nothing.")
  private @Nullable Boolean explainOnly;

  public String getFingerprint() {
    return fingerprint;
  }

  public void setFingerprint(String fingerprint) {
    this.fingerprint = fingerprint;
  }

  public @Nullable Boolean getExplainOnly() {
    return explainOnly;
  }

  public void setExplainOnly(@Nullable Boolean explainOnly) {
    this.explainOnly = explainOnly;
  }

  public Tcp getTcp() {
    return tcp;
  }

  public void setTcp(Tcp tcp) {
    this.tcp = tcp;
  }
}
