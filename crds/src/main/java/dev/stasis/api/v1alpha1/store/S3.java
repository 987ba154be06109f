package dev.stasis.api.v1alpha1.store;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.stasis.api.v1alpha1.common.Names;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import org.jspecify.annotations.Nullable;

/** A bucket of an object store that speaks S3. */
@SuppressWarnings("NullAway.Init") // the schema requires them
@JsonInclude(JsonInclude.Include.NON_NULL)
public class S3 {
  @Required
  @Pattern(Names.BUCKET)
  @Size(min = 3, max = 63)
  @JsonPropertyDescription("Name of the bucket.")
  private String bucket;

  @Pattern("^([A-Za-z0-9_-][A-Za-z0-9._-]*/)*$")
  @Size(max = 256)
  @JsonPropertyDescription("Prefix of every key. Default: none.")
  private @Nullable String prefix;

  @Pattern("^https?://[^\\s]+$")
  @Size(min = 8, max = 512)
  @JsonPropertyDescription(
      "Address of the service, beginning with https:// or http://. Default: that of "
          + "the region.")
  private @Nullable String endpoint;

  @Size(min = 1, max = 64)
  @JsonPropertyDescription("Region of the bucket.")
  private @Nullable String region;

  @Default("false")
  @JsonPropertyDescription(
      "Whether the bucket stands in the path and not in the host name. Default: false.")
  private Boolean pathStyle = false;

  @JsonPropertyDescription(
      "Secret with the keys accessKeyId and secretAccessKey. Default: what the nodes "
          + "have by themselves.")
  private @Nullable SecretReference credentials;

  public String getBucket() {
    return bucket;
  }

  public void setBucket(String bucket) {
    this.bucket = bucket;
  }

  public @Nullable String getPrefix() {
    return prefix;
  }

  public void setPrefix(@Nullable String prefix) {
    this.prefix = prefix;
  }

  public @Nullable String getEndpoint() {
    return endpoint;
  }

  public void setEndpoint(@Nullable String endpoint) {
    this.endpoint = endpoint;
  }

  public @Nullable String getRegion() {
    return region;
  }

  public void setRegion(@Nullable String region) {
    this.region = region;
  }

  public Boolean getPathStyle() {
    return pathStyle;
  }

  public void setPathStyle(Boolean pathStyle) {
    this.pathStyle = pathStyle;
  }

  public @Nullable SecretReference getCredentials() {
    return credentials;
  }

  public void setCredentials(@Nullable SecretReference credentials) {
    this.credentials = credentials;
  }
}
