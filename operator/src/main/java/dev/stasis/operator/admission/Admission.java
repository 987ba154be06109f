package dev.stasis.operator.admission;

import dev.stasis.operator.cluster.Informers;
import dev.stasis.operator.config.StasisConfig;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.WebhookClientConfig;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Answers the API server's questions as long as the operator runs, in every replica. */
@Singleton
public class Admission {

  private static final Logger LOG = System.getLogger(Admission.class.getName());

  /** Small beside the life of a certificate; what changes in between tells a watch. */
  private static final long LOOK_SECONDS = 300;

  /** After a look that failed: the API server may be starting too. */
  private static final long AGAIN_SECONDS = 5;

  private final KubernetesClient client;
  private final Informers informers;
  private final WebhookConfig config;
  private final HookPaths paths;
  private final ServedKeys served = new ServedKeys();
  private final KeyKeeper keeper;
  private final String namespace;
  private final List<SharedIndexInformer<?>> watches = new ArrayList<>();
  private final ScheduledExecutorService clockwork =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "webhook-keys");
            thread.setDaemon(true);
            return thread;
          });
  private volatile @Nullable Endpoint endpoint;
  private volatile boolean answered;

  @Inject
  Admission(
      KubernetesClient client,
      Informers informers,
      WebhookConfig config,
      StasisConfig stasis,
      Clock clock,
      Instance<AdmissionHook> hooks) {
    this(client, informers, config, stasis, clock, hooks.stream().toList());
  }

  /** With those hooks. */
  public Admission(
      KubernetesClient client,
      Informers informers,
      WebhookConfig config,
      StasisConfig stasis,
      Clock clock,
      Collection<? extends AdmissionHook> hooks) {
    this.client = client;
    this.informers = informers;
    this.config = config;
    this.namespace = stasis.namespace();
    this.paths = new HookPaths(hooks);
    this.keeper = new KeyKeeper(client, config, namespace, served, paths, clock);
  }

  void start(@Observes StartupEvent event) {
    start();
  }

  /** Begins; it answers once it has a key and has seen the cluster. */
  public void start() {
    if (!config.enabled()) {
      return;
    }
    try {
      endpoint =
          Endpoint.open(
              config.port(), served, paths, new Reviews(client.getKubernetesSerialization()));
    } catch (IOException e) {
      throw new UncheckedIOException("port " + config.port() + " of the webhooks", e);
    }
    clockwork.execute(this::begin);
  }

  private void begin() {
    try {
      informers.start();
      tend();
      watch();
      var unusedLooks =
          clockwork.scheduleWithFixedDelay(
              this::look, LOOK_SECONDS, LOOK_SECONDS, TimeUnit.SECONDS);
    } catch (RuntimeException e) {
      LOG.log(Level.WARNING, "the webhooks do not answer yet: " + e.getMessage());
      var unusedAgain = clockwork.schedule(this::begin, AGAIN_SECONDS, TimeUnit.SECONDS);
    }
  }

  /** Another replica renews the key; a chart that is upgraded may bring webhooks anew. */
  private void watch() {
    if (!watches.isEmpty()) {
      return;
    }
    var registration = client.admissionRegistration().v1();
    Wake<Secret> secret = new Wake<>(this::wake);
    Wake<ValidatingWebhookConfiguration> validating = new Wake<>(this::wake);
    Wake<MutatingWebhookConfiguration> mutating = new Wake<>(this::wake);
    watches.add(
        client.secrets().inNamespace(namespace).withName(config.secret()).inform(secret, 0));
    watches.add(
        registration
            .validatingWebhookConfigurations()
            .withName(config.configuration())
            .inform(validating, 0));
    watches.add(
        registration
            .mutatingWebhookConfigurations()
            .withName(config.configuration())
            .inform(mutating, 0));
  }

  private void wake() {
    if (!clockwork.isShutdown()) {
      clockwork.execute(this::look);
    }
  }

  private void look() {
    try {
      tend();
    } catch (RuntimeException e) {
      LOG.log(Level.WARNING, "key of the webhooks: " + e.getMessage());
    }
  }

  private void tend() {
    keeper.tend();
    Endpoint open = endpoint;
    if (!answered && open != null && served.areThere()) {
      try {
        open.shakeHands(served);
        answered = true;
      } catch (IOException e) {
        throw new UncheckedIOException("the webhooks do not answer themselves: " + e, e);
      }
    }
  }

  /** How the API server reaches the hook of that path; empty before there is a certificate. */
  public Optional<WebhookClientConfig> reach(String path) {
    return keeper.ring().map(ring -> keeper.configurations().reach(path, ring));
  }

  /** Whether the API server is to ask at all. */
  public boolean isEnabled() {
    return config.enabled();
  }

  /** Whether it answers, or shall not. */
  public boolean isReady() {
    return !config.enabled() || answered;
  }

  /** The port on which it answers. */
  public int port() {
    Endpoint open = endpoint;
    if (open == null) {
      throw new IllegalStateException("the webhooks: wanted started, found stopped");
    }
    return open.port();
  }

  void stop(@Observes ShutdownEvent event) {
    stop();
  }

  /** Ends. */
  public void stop() {
    clockwork.shutdownNow();
    watches.forEach(SharedIndexInformer::stop);
    Endpoint open = endpoint;
    if (open != null) {
      open.close();
    }
  }
}
