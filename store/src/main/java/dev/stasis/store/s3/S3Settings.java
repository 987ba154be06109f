package dev.stasis.store.s3;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Where a bucket is, and how it is reached.
 *
 * @param endpoint null: that of AWS in the region
 * @param region region of the bucket; servers other than AWS accept any
 * @param pathStyle whether the bucket is named in the path, as most servers other than AWS need it
 * @param prefix what all keys begin with; empty, or without '/' at both ends
 * @param caPem certificates in PEM that are trusted instead of the system's; null: the system's
 */
public record S3Settings(
    @Nullable URI endpoint,
    String region,
    boolean pathStyle,
    String bucket,
    String prefix,
    Credentials credentials,
    @Nullable String caPem,
    Encryption encryption) {

  public S3Settings {
    if (!prefix.matches("|[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*")) {
      throw new IllegalArgumentException(
          "prefix: expected segments of letters, digits, '.', '_' and '-', got \"" + prefix + "\"");
    }
  }

  /** Who the server sees. */
  public sealed interface Credentials {}

  /** A key as a Secret holds it; the session token is null for one that does not expire. */
  public record StaticKey(String accessKeyId, String secretKey, @Nullable String sessionToken)
      implements Credentials {
    /** The public part only. */
    @Override
    public String toString() {
      return "StaticKey[" + accessKeyId + "]";
    }
  }

  /** A token of the pod's service account, which the server's STS changes for a key. */
  public record WebIdentity(String roleArn, String tokenFile) implements Credentials {}

  /** What the environment offers: variables, web identity, or the instance's role. */
  public record FromEnvironment() implements Credentials {}

  /** Encryption by the server, beside the store's own. */
  public sealed interface Encryption {}

  /** What the bucket's own settings say. */
  public record BucketDefault() implements Encryption {}

  /** SSE-S3. */
  public record ServerKey() implements Encryption {}

  /** SSE-KMS; the key id is null for the account's default key. */
  public record KmsKey(@Nullable String keyId) implements Encryption {}
}
