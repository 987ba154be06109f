package dev.stasis.operator.admission;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.net.HttpURLConnection;
import java.net.URI;
import java.time.Clock;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Maintains the Secret with key, certificate and token: creates and renews it, and writes the
 * certificate into the webhook configurations. Every replica does so.
 */
final class ServingKeySecret implements KeySource {

  /** Of replicas that start at the same time one creates it; the others read it. */
  private static final int ROUNDS = 5;

  private final KubernetesClient client;
  private final WebhookConfig config;
  private final String namespace;
  private final Configurations configurations;
  private final ServingKeyManager served;
  private final HookPaths paths;
  private final Clock clock;
  private volatile @Nullable KeyRing ring;

  ServingKeySecret(
      KubernetesClient client,
      WebhookConfig config,
      String namespace,
      Configurations configurations,
      ServingKeyManager served,
      HookPaths paths,
      Clock clock) {
    this.client = client;
    this.config = config;
    this.namespace = namespace;
    this.configurations = configurations;
    this.served = served;
    this.paths = paths;
    this.clock = clock;
  }

  /** Creates or renews the Secret if necessary. */
  @Override
  public synchronized void tend() {
    for (int round = 0; round < ROUNDS; round++) {
      Secret secret = handle().get();
      Optional<KeyRing> found = KeyRing.read(secret == null ? null : secret.getData());
      KeyRing after = KeyRing.after(found, names(), clock.instant());
      boolean same = found.isPresent() && found.get().equals(after);
      // The API server must trust it before any replica serves it.
      configurations.trust(after.trust());
      if (same || written(secret, after)) {
        ring = after;
        served.serve(after.current());
        paths.accept(after.tokens(clock.instant()));
        return;
      }
    }
    throw new IllegalStateException(
        "Conflict persisted after %d attempts to update Secret %s"
            .formatted(ROUNDS, config.secret()));
  }

  @Override
  public Optional<WebhookTrust> trust() {
    return Optional.ofNullable(ring).map(KeyRing::trust);
  }

  /** Returns whether it was written; false if another replica was faster. */
  private boolean written(@Nullable Secret before, KeyRing ring) {
    try {
      if (before == null) {
        handle(secret(ring)).create();
      } else {
        Secret after = new SecretBuilder(before).withData(ring.data()).build();
        client.resource(after).lockResourceVersion().update();
      }
      return true;
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_CONFLICT) {
        return false;
      }
      throw e;
    }
  }

  private Secret secret(KeyRing ring) {
    return new SecretBuilder()
        .withNewMetadata()
        .withNamespace(namespace)
        .withName(config.secret())
        .addToLabels("app.kubernetes.io/name", "stasis")
        .endMetadata()
        .withType("kubernetes.io/tls")
        .withData(ring.data())
        .build();
  }

  private Resource<Secret> handle() {
    return client.secrets().inNamespace(namespace).withName(config.secret());
  }

  private Resource<Secret> handle(Secret secret) {
    return client.secrets().inNamespace(namespace).resource(secret);
  }

  private Set<String> names() {
    String service = config.service() + "." + namespace + ".svc";
    Set<String> names = new TreeSet<>(Set.of(service, service + ".cluster.local"));
    config.url().map(url -> URI.create(url).getHost()).ifPresent(names::add);
    return names;
  }
}
