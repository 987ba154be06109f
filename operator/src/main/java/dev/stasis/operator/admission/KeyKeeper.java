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
 * Keeps the Secret with key, certificate and token: makes it, renews it in time, and has the API
 * server believe what it holds. Every replica does so; they find each other's work in the Secret.
 */
final class KeyKeeper {

  /** Replicas that begin at the same moment: one wins, the others read. */
  private static final int ROUNDS = 5;

  private final KubernetesClient client;
  private final WebhookConfig config;
  private final String namespace;
  private final Configurations configurations;
  private final ServedKeys served;
  private final HookPaths paths;
  private final Clock clock;
  private volatile @Nullable KeyRing ring;

  KeyKeeper(
      KubernetesClient client,
      WebhookConfig config,
      String namespace,
      ServedKeys served,
      HookPaths paths,
      Clock clock) {
    this.client = client;
    this.config = config;
    this.namespace = namespace;
    this.configurations = new Configurations(client, config, namespace);
    this.served = served;
    this.paths = paths;
    this.clock = clock;
  }

  /** Looks after it once. Nothing is written when all is as it should be. */
  synchronized void tend() {
    for (int round = 0; round < ROUNDS; round++) {
      Secret secret = handle().get();
      Optional<KeyRing> found = KeyRing.read(secret == null ? null : secret.getData());
      KeyRing after = KeyRing.after(found, names(), clock.instant());
      boolean same = found.isPresent() && found.get().equals(after);
      // Believed before it is served, here and by every other replica.
      configurations.trust(after);
      if (same || written(secret, after)) {
        ring = after;
        served.serve(after.current());
        paths.accept(after.tokens(clock.instant()));
        return;
      }
    }
    throw new IllegalStateException(
        "Secret " + config.secret() + ": somebody else writes it all the time");
  }

  /** The keys of the Secret; empty before the first look. */
  Optional<KeyRing> ring() {
    return Optional.ofNullable(ring);
  }

  Configurations configurations() {
    return configurations;
  }

  /** Whether it was; not when another replica was faster. */
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
