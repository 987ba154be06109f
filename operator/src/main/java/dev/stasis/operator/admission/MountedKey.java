package dev.stasis.operator.admission;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A key that another component issues and renews, such as cert-manager, in files of a mounted
 * Secret. That component also writes the certificates to trust into the webhook configurations; the
 * operator writes only the paths.
 */
final class MountedKey implements KeySource {

  private final Path folder;
  private final Configurations configurations;
  private final PathToken token;
  private final ServingKeyManager served;
  private final HookPaths paths;
  private final Clock clock;
  private volatile @Nullable WebhookTrust trust;

  MountedKey(
      Path folder,
      Configurations configurations,
      PathToken token,
      ServingKeyManager served,
      HookPaths paths,
      Clock clock) {
    this.folder = folder;
    this.configurations = configurations;
    this.token = token;
    this.served = served;
    this.paths = paths;
    this.clock = clock;
  }

  @Override
  public synchronized void tend() {
    Path authority = folder.resolve("ca.crt");
    WebhookTrust after =
        new WebhookTrust(token.current(), Files.exists(authority) ? content(authority) : "", true);
    paths.accept(token.accepted());
    configurations.trust(after);
    served.serve(read(folder, clock.instant()));
    trust = after;
  }

  @Override
  public Optional<WebhookTrust> trust() {
    return Optional.ofNullable(trust);
  }

  /**
   * Reads key and certificate.
   *
   * @throws RuntimeException if they cannot be served
   */
  static ServingKey read(Path folder, Instant now) {
    ServingKey key =
        ServingKey.parse(
            content(folder.resolve("tls.key")), content(folder.resolve("tls.crt")), "");
    if (!key.isPair()) {
      // Also if the kubelet replaced the files in between: they are read again.
      throw new IllegalStateException(
          "key in %s: expected that of the certificate beside it, got another one"
              .formatted(folder));
    }
    if (!now.isBefore(key.end())) {
      throw new IllegalStateException(
          "certificate in %s: expected one that is valid now, got one that expired at %s"
              .formatted(folder, key.end()));
    }
    return key;
  }

  private static String content(Path file) {
    try {
      return Files.readString(file, StandardCharsets.US_ASCII);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file + ": " + e.getMessage(), e);
    }
  }
}
