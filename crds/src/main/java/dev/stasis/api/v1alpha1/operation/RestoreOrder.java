package dev.stasis.api.v1alpha1.operation;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1alpha1.common.Tcp;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import org.jspecify.annotations.Nullable;

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

  @JsonPropertyDescription(
      "Only compare the GPUs that the holder really got with the fingerprint: nothing is "
          + "restored.")
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
