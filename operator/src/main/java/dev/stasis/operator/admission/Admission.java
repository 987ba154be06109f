package dev.stasis.operator.admission;

import dev.stasis.operator.cluster.ChangeHandler;
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

/** Serves the API server's webhook requests while the operator runs, in every replica. */
@Singleton
public class Admission {

  private static final Logger LOG = System.getLogger(Admission.class.getName());

  /** Short compared with the lifetime of a certificate; a watch reports changes in between. */
  private static final long LOOK_SECONDS = 300;

  /** The kubelet replaces mounted files about a minute after their Secret, without an event. */
  private static final long FILES_SECONDS = 30;

  /** After a failed attempt: the API server may be starting too. */
  private static final long AGAIN_SECONDS = 5;

  private final KubernetesClient client;
  private final Informers informers;
  private final WebhookConfig config;
  private final HookPaths paths;
  private final ServingKeyManager served = new ServingKeyManager();
  private final Configurations configurations;
  private final KeySource keys;
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

  /** Serves those hooks. */
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
    this.configurations = new Configurations(client, config, namespace);
    this.keys =
        config
            .certificates()
            .<KeySource>map(
                folder ->
                    new MountedKey(
                        folder,
                        configurations,
                        new PathToken(client, config.configuration()),
                        served,
                        paths,
                        clock))
            .orElseGet(
                () ->
                    new ServingKeySecret(
                        client, config, namespace, configurations, served, paths, clock));
  }

  void start(@Observes StartupEvent event) {
    start();
  }

  /** Starts; requests are answered once there is a key and the caches are filled. */
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
      long seconds = config.certificates().isPresent() ? FILES_SECONDS : LOOK_SECONDS;
      var unusedLooks =
          clockwork.scheduleWithFixedDelay(this::look, seconds, seconds, TimeUnit.SECONDS);
    } catch (RuntimeException e) {
      LOG.log(Level.WARNING, "Webhooks do not answer yet: " + e.getMessage());
      var unusedAgain = clockwork.schedule(this::begin, AGAIN_SECONDS, TimeUnit.SECONDS);
    }
  }

  /** Another replica may renew the key; a chart upgrade may replace the webhook configurations. */
  private void watch() {
    if (!watches.isEmpty()) {
      return;
    }
    var registration = client.admissionRegistration().v1();
    ChangeHandler<Secret> secret = new ChangeHandler<>(this::wake);
    ChangeHandler<ValidatingWebhookConfiguration> validating = new ChangeHandler<>(this::wake);
    ChangeHandler<MutatingWebhookConfiguration> mutating = new ChangeHandler<>(this::wake);
    if (config.certificates().isEmpty()) {
      watches.add(
          client.secrets().inNamespace(namespace).withName(config.secret()).inform(secret, 0));
    }
    watches.add(
        registration
            .validatingWebhookConfigurations()
            .withName(config.configuration())
            .inform(validating, 0));
    for (String name : List.of(config.configuration(), config.preparation())) {
      watches.add(registration.mutatingWebhookConfigurations().withName(name).inform(mutating, 0));
    }
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
    keys.tend();
    Endpoint open = endpoint;
    if (!answered && open != null && served.areThere()) {
      try {
        open.shakeHands(served);
        answered = true;
      } catch (IOException e) {
        throw new UncheckedIOException("the webhooks do not answer a test request: " + e, e);
      }
    }
  }

  /** How the API server reaches the hook of that path; empty before there is a certificate. */
  public Optional<WebhookClientConfig> reach(String path) {
    return keys.trust().map(trust -> configurations.reach(path, trust));
  }

  /** Whether webhooks are enabled. */
  public boolean isEnabled() {
    return config.enabled();
  }

  /** Whether the endpoint answers, or is disabled. */
  public boolean isReady() {
    return !config.enabled() || answered;
  }

  /** The port of the endpoint. */
  public int port() {
    Endpoint open = endpoint;
    if (open == null) {
      throw new IllegalStateException("webhooks: stopped");
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
